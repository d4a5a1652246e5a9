// Package image knows the files that are mapped into a program, as collectors ask for them: which
// function an address lies in (by symbols, by Go's table where there are none), what the stubs of
// the procedure linkage table lead to, how frames are unwound there, which variable holds an
// address, and whether code is the program's own. Addresses in a File are link-time ones, those in
// a Set run-time ones.
//
// How a file came to be mapped is the collector's affair. It stands on binfile and symbol, so that
// there is one reader of ELF files; it imports unwind and origin besides, and no collector.
package image
