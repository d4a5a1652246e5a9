// Package symbol tells what stands at a program counter: the function, the inlined calls and the
// source positions, from DWARF 2 to 5 (whole, split into .dwo files, or shared by dwz), from Go's
// line table, from symbols, or from unwind tables. It reads debug information lazily, one compile
// unit at a time. It imports binfile and unit; it must not know profiles or running programs.
// Damaged or hostile debug information gives less information, never a panic, a hang or a huge
// allocation.
package symbol
