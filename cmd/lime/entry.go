package main

// entry is where the process begins (the linker's option -E). Go's runtime, which reserves address
// space before anything else, ends in a stack trace if less than 0.7 GB are allowed; entry tells
// what to do instead, below 1 GB. Nor can it be asked later what package start keeps.
func entry()

var tight = "lime: the address space is limited (ulimit -v) to less than the 1 GB that lime needs; " +
	"to limit the program alone: lime record -- sh -c 'ulimit -v KILOBYTES; exec PROGRAM'\n"

var _, _ = entry, &tight // the assembler's
