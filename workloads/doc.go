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
//	slack     lines by which the cause may be off
//	balanced  true: nothing may be reported
//
// Comments in the source mark the answer: CAUSE the lines that are right, END
// the lines at which the section may end.
package workloads
