// Package native profiles a program while it runs natively and in parallel: it samples the call
// paths of all threads through perf events, sees what they do to synchronise through hooks on the
// functions of the thread libraries, and keeps each thread's time on a CPU from the kernel's
// records of context switches. Where one of these is not to be had, it goes on with the others and
// says so in the profile.
//
// It wires perf, hook, unwind, section, binfile, x86 and profile together, and must not import
// analysis, report or resolve.
package native
