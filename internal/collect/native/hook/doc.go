// Package hook puts a record of every call of chosen functions of a running program into a ring
// buffer that it shares with lime, without rebuild, preload library or root: while the program is
// stopped at its entry under ptrace, lime maps the ring and a page of code into it and redirects
// the program's own references to the functions (the slots of its global offset tables) to that
// code; then it lets go of the program. A call costs two records, some tens of nanoseconds each.
//
// A process that runs already is stopped, changed and let go in steps after each of which lime may
// be killed without harm to it: inject.go, docs/record.md.
//
// A static program has no such slots: its functions are found by its symbols, and get a jump at
// their beginning. Of locks only the slow path is of interest: there, calls inside of the library's
// functions are turned, and a free lock costs nothing.
//
// It imports binfile, symbol, x86, its emitter and golang.org/x/sys/unix only, and knows no
// profile.
package hook
