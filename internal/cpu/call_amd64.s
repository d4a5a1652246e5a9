#include "textflag.h"

// func CallCode(code uintptr, state unsafe.Pointer)
TEXT ·CallCode(SB), NOSPLIT, $8-16
	MOVQ code+0(FP), AX
	MOVQ state+8(FP), R15
	CALL AX
	RET
