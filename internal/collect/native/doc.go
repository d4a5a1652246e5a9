// Package native profiles a program while it runs natively and in parallel: it samples the call
// paths of all threads through perf events, sees what they do to synchronise through hooks on the
// functions of the thread libraries, and keeps each thread's time on a CPU from the kernel's
// records of context switches. Where one of these is not to be had, it goes on with the others and
// says so in the profile.
//
// It wires perf, hook, unwind, section, binfile, x86 and profile together, and must not import
// analysis, report or resolve.
//
// # Two levels
//
// A run is a recording: it launches or attaches, reads the rings again and again, and says at the
// end what is known. It has a process for the program, and one for each child that goes on as a
// program of its own and is hooked. What they have in common is shared: options, notes, the time
// stamps' clock, and events, which the kernel tells of all of them.
//
// # Parts
//
// A process is made of parts, wired in wire.go from the bottom to the top; a part knows only parts
// below it, and a test holds that. What they all speak of is a thread (thread.go) and a piece of its
// work. From the bottom:
//
//   - program, roster, clocks: what is known of the code, the threads there are, and how far the
//     records have come.
//   - places: where hooked functions are called. It looks, and changes nothing.
//   - output: instances, as rows of the profile.
//   - operations: what threads do, cut where an operation ends a piece, on its way to the
//     recogniser.
//   - absences: times off the core, charged to where a thread left it. episodes: how much threads had
//     worked when the first of them came to the end of a section. tasks: what they do while they wait.
//   - By what the calls of hooked functions mean: locks, conditions (and futexes of the program's
//     own), barriers, regions, mpiCalls, candidates (code of the program's own that may be a barrier),
//     goroutines, lives.
//   - sampling: samples of the clock and of events. stretch: what of the run is measured.
//   - dispatcher: records of the kernel and of the hooks, in the order of time, on their way to those
//     who know what they mean.
//   - process: the rings on the one side, the parts on the other.
package native
