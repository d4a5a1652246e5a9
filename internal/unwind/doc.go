// Package unwind walks the stack of a thread from its registers, through call
// frame information (.eh_frame, .debug_frame: DWARF 5, section 6.4, and the
// Linux Standard Base, "Exception Frames") and, where there is none, through
// frame pointers. It is given bytes and a way to read memory; it knows no
// processes, files or profiles, and imports the standard library only.
package unwind
