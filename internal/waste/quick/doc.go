// Package quick tells a waste.Detector of logged accesses by code that is made for every block of
// the program. The code walks the log of a run from block to block, compares what each access finds
// in the shadow with what its place found there last, and counts; what is anything else is left to
// the detector, access by access, and the code goes on behind it. It keeps the stack of open calls,
// too. Its figures are the detector's.
//
// Why not in the program's own translated code? There every comparison would need registers and
// flags that the program uses, and could not leave for Go in the middle of a block but by saving all
// of them. Here all registers are free, leaving costs a return, and what a fault has cut short is
// known beforehand.
//
// It knows instructions, not the engine: how a log looks, Add is told.
package quick
