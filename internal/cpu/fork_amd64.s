#include "go_asm.h"
#include "textflag.h"

#define RFLAGSOFF 136
#define SCRATCH 192
#define XMASK (SCRATCH+8*const_SlotXMask)
#define XSAVEOFF 448

// func forkInto(a *forkArgs) int64
// The parent returns; the child never does. Until its own stack pointer is loaded, the
// child touches no stack: with CLONE_VM it shares this one with the parent.
TEXT ·forkInto(SB), NOSPLIT, $0-16
	MOVQ a+0(FP), R12
	MOVQ forkArgs_flags(R12), DI
	MOVQ $0, SI
	MOVQ forkArgs_ptid(R12), DX
	MOVQ forkArgs_ctid(R12), R10
	MOVQ forkArgs_tls(R12), R8
	MOVQ $56, AX // clone
	SYSCALL
	TESTQ AX, AX
	JEQ child
	MOVQ AX, ret+8(FP)
	RET

child:
	MOVQ forkArgs_ctx(R12), R15
	MOVQ forkArgs_script(R12), R13
	MOVQ forkArgs_n(R12), R14
	TESTQ R14, R14
	JEQ done
next:
	MOVQ 0(R13), AX
	MOVQ 8(R13), DI
	MOVQ 16(R13), SI
	MOVQ 24(R13), DX
	MOVQ 32(R13), R10
	MOVQ 40(R13), R8
	MOVQ 48(R13), R9
	SYSCALL
	ADDQ $56, R13
	DECQ R14
	JNE next
done:
	MOVL XMASK(R15), AX
	MOVL (XMASK+4)(R15), DX
	XRSTOR64 XSAVEOFF(R15)
	// The flags come from the context itself; signals are still blocked.
	LEAQ RFLAGSOFF(R15), SP
	POPFQ
	MOVQ 32(R15), SP
	// rt_sigprocmask(SIG_SETMASK, mask, nil, 8): system calls keep the flags.
	MOVQ $14, AX
	MOVQ $2, DI
	MOVQ forkArgs_mask(R12), SI
	MOVQ $0, DX
	MOVQ $8, R10
	SYSCALL
	MOVQ forkArgs_start(R12), CX
	MOVQ 0(R15), AX
	MOVQ 16(R15), DX
	MOVQ 24(R15), BX
	MOVQ 40(R15), BP
	MOVQ 48(R15), SI
	MOVQ 56(R15), DI
	MOVQ 64(R15), R8
	MOVQ 72(R15), R9
	MOVQ 80(R15), R10
	MOVQ 96(R15), R12
	MOVQ 104(R15), R13
	MOVQ 112(R15), R14
	MOVQ 120(R15), R15
	JMP CX
