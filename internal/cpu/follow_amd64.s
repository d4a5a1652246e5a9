#include "go_asm.h"
#include "textflag.h"

// Where registers of the interrupted code lie in the frame of a signal (struct ucontext).
#define UC_DI 104
#define UC_SI 112
#define UC_DX 136
#define UC_AX 144

// The handler of SIGSYS in child processes: execve(path, argv, envp) becomes execve(lime, prefix +
// path + argv, envp). If the program is not there, or may not be run, the caller gets the errno as
// from the kernel. No Go runs here: the thread pointer and the stack are the guest's.
TEXT execHandler<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ DX, R12
	MOVQ ·follow(SB), R13
	MOVQ UC_DI(R12), DI
	MOVQ $1, SI  // X_OK
	MOVQ $21, AX // access
	SYSCALL
	TESTQ AX, AX
	JNE  fail
	MOVQ UC_SI(R12), R14
	XORQ R15, R15
	TESTQ R14, R14
	JEQ  counted
count:
	CMPQ (R14)(R15*8), $0
	JEQ  counted
	INCQ R15
	JMP  count
counted:
	LEAQ (8*(const_followWords+2))(R15*8), SI // the path, and the 0 at the end
	MOVQ $0, DI
	MOVQ SI, followed_size(R13)
	MOVQ $3, DX  // readable and writable
	MOVQ $0x22, R10 // private, anonymous
	MOVQ $-1, R8
	MOVQ $0, R9
	MOVQ $9, AX // mmap
	SYSCALL
	CMPQ AX, $-4096
	JHI  fail
	MOVQ AX, followed_room(R13)
	MOVQ followed_prefix+0(R13), CX
	MOVQ CX, 0(AX)
	MOVQ (followed_prefix+8)(R13), CX
	MOVQ CX, 8(AX)
	MOVQ (followed_prefix+16)(R13), CX
	MOVQ CX, 16(AX)
	MOVQ UC_DI(R12), CX
	MOVQ CX, 24(AX)
	LEAQ 32(AX), DI
	MOVQ R14, SI
	MOVQ R15, CX
	CLD
	REP; MOVSQ
	MOVQ $0, (DI)
	MOVQ AX, SI
	MOVQ followed_exe(R13), DI
	MOVQ UC_DX(R12), DX
	MOVQ $59, AX // execve
	SYSCALL
	MOVQ AX, R14
	MOVQ followed_room(R13), DI
	MOVQ followed_size(R13), SI
	MOVQ $11, AX // munmap
	SYSCALL
	MOVQ $0, followed_room(R13)
	MOVQ R14, AX
fail:
	MOVQ AX, UC_AX(R12)
	ADDQ $8, SP
	MOVQ $15, AX // rt_sigreturn
	SYSCALL
	INT  $3

// func followPC() uintptr
TEXT ·followPC(SB), NOSPLIT, $0-8
	LEAQ execHandler<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
