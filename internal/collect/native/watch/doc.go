// Package watch samples the memory work of a native run that is for nothing, as Witch does (ASPLOS
// 2018), without counters that give addresses: a thread that it traces is stopped by its own clock,
// led to the next access, and the bytes that this touches are watched by a debug register until
// somebody touches them again. It knows threads, registers and addresses; what an address means,
// and how a stack is walked, it asks a Host. It imports perf, waste, waste/..., x86 and
// golang.org/x/sys/unix only.
//
//	tracer.go   follows all threads of a process by ptrace, and takes their stops
//	sample.go   from a tick of the clock to a watched access
//	ahead.go    the way on which the next accesses lie
//	follow.go   a thread's next instructions, on paper
//	compute.go  what each of them leaves
//	memory.go   the program's memory and code
//	access.go   which bytes an instruction touches
//	repeat.go   those of repeated string instructions
//	calls.go    which watched bytes a system call touches
//	judge.go    what the next access to watched bytes means
//	point.go    the four watchpoints, and which of them makes room
//	line.go     lines that go to and fro between threads: false sharing
//	sums.go     what the decisions say of all accesses
//
// # What is claimed
//
// All threads watch the bytes, not only the one that was sampled, and from before its access on: so
// that a load by another thread keeps a store alive, and none is missed. Where the order of two
// accesses of different threads is not known (the other one trapped while the sampled one was being
// led over its access), nothing is claimed. The sampled thread stops at its system calls while
// something is watched for it, and what these read or write counts (calls.go). Those of other
// threads are not seen. The kernel's own reading, for instance of stacks that somebody samples, is
// left out: watchpoints are for the program's code alone.
//
// False sharing is claimed of a line that was seen to go from one thread to another and back, and to
// the other again, at least one of the two storing: the one at the sampled bytes, the other at a word
// beside them, and, all the while, neither at what the other one used. One of the line's words is
// watched in the other threads at a time, so that the share is a lower bound; if the word is that of
// the access, another thread's access to the same bytes is true sharing, and no waste.
//
// # What a figure is a share of
//
// A sample comes by time, an access in a slow place therefore more often than one in a fast place;
// within a loop a random number of instructions is passed first, so that there all accesses are
// alike. Each sample stands for the bytes of its access. Not every watch is decided: a later sample
// may take its register (reservoir sampling: of all samples since a register was free each is as
// likely to be watched), and what is decided at a call path and instruction speaks for the samples
// there that were lost since the last decision, too (proportional attribution). Places that never
// were decided are left out, and their share is told.
package watch
