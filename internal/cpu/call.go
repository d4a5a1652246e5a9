package cpu

import "unsafe"

// CallCode calls generated code that is no guest's: it gets a state in R15, may use all registers but
// RSP and RBP, and returns. While it runs, the garbage collector cannot stop this thread.
//
//go:noescape
func CallCode(code uintptr, state unsafe.Pointer)
