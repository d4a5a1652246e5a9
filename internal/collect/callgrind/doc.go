// Package callgrind reads the output of valgrind's callgrind and makes a
// profile of it, so that the analysis works on data from a collector that is
// not ours. It wants a file per thread, with instructions and jumps:
//
//	valgrind --tool=callgrind --separate-threads=yes --dump-instr=yes \
//	    --collect-jumps=yes PROGRAM
//
// The format is described in the Valgrind manual, "Callgrind Format
// Specification". Callgrind counts instructions and jumps; blocks, falls and
// returns are worked out from them (blocks.go). It may import profile and unit.
package callgrind
