#include "textflag.h"

// The handler of signals: DI is the signal, SI describes it (siginfo_t: si_code at 8, si_pid at 16). A code of the kernel's own is above 0 (sigaction(2)).
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0-0
	CMPL DI, $64
	JHI  done
	CMPL 8(SI), $0
	JGT  done
	MOVL 16(SI), AX
	BTSQ $32, AX
	LEAQ ·last(SB), CX
	MOVL DI, R8
	MOVQ AX, (CX)(R8*8)
done:
	MOVQ ·next(SB), AX
	JMP  AX

// func entry() uintptr
TEXT ·entry(SB), NOSPLIT, $0-8
	LEAQ ·handler(SB), AX
	MOVQ AX, ret+0(FP)
	RET
