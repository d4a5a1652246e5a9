// Package engine translates guest x86-64 code block by block into a code cache
// and runs it there. It returns exits and never handles a system call itself.
// It must not import guest, profile, or anything right of machine in ARCHITECTURE.md.
//
// The contract with guest and collect/sim:
//
//	New(Config) (*Engine, error)                    one per guest process
//	(*Engine).NewContext() (*cpu.Context, error)    one per guest thread; (*Engine).FreeContext(ctx)
//	(*Engine).Run(ctx, budget int64) cpu.Exit       runs about budget instructions of ctx on the calling
//	                                                OS thread (locked); ends at a block head once the budget
//	                                                is used up; the count of instructions retired is exact
//	(*Engine).Retired(ctx) uint64                   instructions retired by ctx so far
//	(*Engine).SetProbe(pc) / ClearProbe(pc)         ExitProbe before pc executes; Run on a context whose RIP
//	                                                has just exited by probe steps over it
//	(*Engine).Invalidate(lo, hi)                    guest unmapped, remapped or wrote code there
//	(*Engine).Counters(ctx) []uint64                one counter per EdgeID, valid between runs; the caller may zero
//	(*Engine).Blocks() []Block, Edges() []Edge      append-only, indexed by BlockID and EdgeID
//	Odd(engine, ctx)                                ctx comes to its RIP by no instruction, as back from a signal
//	                                                handler to elsewhere
//	(*Engine).Drain(ctx, func(EdgeID, uint64))      every non-zero counter of ctx, in order, and zeroes it
//
// With Config.Lock contexts run beside each other, each on a host thread (parallel.go); Halt calls
// them out of guest code.
//
// Edges counted: taken and fall-through of a conditional branch, direct jump,
// direct call, fall into the next block (block cut short), one edge per
// (site, target) of an indirect jump or call, and for every call block the edge
// to its continuation (Kind EdgeReturn), counted when a ret arrives there.
// A ret block therefore has no outgoing edges: calls and returns are matched. Visits of a block
// that ends in ret, syscall or an exit are counted by an edge of kind EdgeEnd to no block.
// (every visit of a block is counted by exactly one outgoing edge of it that is not an EdgeReturn;
// a syscall block has EdgeFall to the next block. A block that a fault leaves in its midst ends
// there from then on, and falls into the instruction that faults.)
//
// Guest code addresses equal host addresses. Guest images and the code cache
// lie below 2 GB.
package engine
