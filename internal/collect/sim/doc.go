// Package sim is the collector behind "lime simulate": it runs a program under
// the engine on N simulated cores and writes what its threads did into a
// profile. It wires engine, guest, section and (later) machine together, and
// knows no analysis, no report and no resolver.
//
// # Two processes
//
// Run (the parent) starts lime again as a child (ChildMain), which holds the program: a
// program that destroys its own process costs that run only. The child
// writes the profile instance by instance; the parent forwards nothing (both are in one
// process group, and the terminal tells both), survives, and says how it ended.
//
// # Time
//
// Every core has a clock. The core with the lowest one runs next, for a slice of a
// few thousand instructions; ties break by core number. Operations on
// synchronisation objects are done in the order of the clocks: a thread that comes to one while
// another core is behind waits for it, so that who takes a lock first does not depend on where
// slices end. A Meter says how long a slice took: by instructions, or by a machine model.
//
// # Sections
//
// Probes on the functions of a table (functions.go) and the system calls say
// what the threads did; package section makes instances of it. At each such
// operation the counters of the thread are drained into a segment.
//
// # Parts
//
// A run is made of parts, wired in wire.go from the bottom to the top; a part knows only parts
// below it, and a test holds that. What they all speak of is a thread (thread.go), with its open
// calls, and a segment (segment.go). From the bottom:
//
//   - memory, probes, clocks, roster: the program's memory, where threads leave the engine, the
//     cores' clocks, the threads there are.
//   - places, tailCalls, dataFinder: where a thread stands and what data an address is. They look,
//     and change nothing.
//   - operations, rounds, segments, sampling: what threads do, cut where an operation ends it, less
//     the rounds of loops in which they waited, on its way to the recogniser.
//   - lineages: where work was given away that a runtime hands to whichever thread comes first.
//   - openCalls: calls of functions of the table. By what these mean: locks, barriers (and
//     candidates: functions that may be some), regions, tasks, mpiCalls, lives, goroutines.
//   - precedence: which instructions are done in the order of the clocks.
//   - waits: who sleeps in the system, and who wakes whom.
//   - loops, passes, parking, trials, waking: who spins is followed round the loop, taken out of the
//     others' way when it is proved to wait, tried when what it watches changes, and let go.
//   - ending, dispatcher, exits, loader: how the run ends; who hears of a probe; what threads do
//     that have left the engine; what is mapped.
//   - run: which core goes next, and how far. beside: the same for threads in parallel.
//   - output: instances, as rows of the profile.
//
// To run a thread for a moment while it is followed, loops and trials have an interface (stepper):
// the one arrow that leads up.
package sim
