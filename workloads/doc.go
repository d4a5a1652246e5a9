// Package workloads holds small parallel programs, each with one planted cause of
// imbalance (or none), and the test that measures how often lime names it.
//
// A program's directory holds one source file and expect.toml:
//
//	about     what it is, in a few words
//	build     the command that builds it, run in the directory; OUT is the program to write
//	args      arguments after the number of threads
//	family    of the cause: "control-flow" or "hardware"
//	machine   the machine to simulate, "count" if there is none
//	event     of the cause, if only one will do
//	also      marks of further causes that must be among the first three
//	with      marks of lines whose work comes with the cause: the account is to charge them and the cause together
//	slack     lines by which the cause may be off
//	balanced  true: nothing may be reported
//
// Comments in the source mark the answer: CAUSE the lines that are right, END
// the lines at which the section may end.
//
// The directories of kernels/ hold longer programs, in the style of published benchmarks' hot sections, with expect.json:
//
//	build        as above
//	threads      the numbers of threads to simulate, the program's first argument
//	balanced     true: no important cause
//	section      lines at which the losing section may end (mark END)
//	cause        lines: those of the one decision at which the threads part (mark CAUSE); why: in words
//	waits        locks: where threads wait for a lock (mark LOCK); built_barrier: within a barrier that the
//	             program built, or at its calls (mark BARRIER). Waits elsewhere are false
//	determinate  what each thread does depends on nothing but the input
//
// What is wrong with the reports on them is listed in testdata/kernels-known.txt.
package workloads
