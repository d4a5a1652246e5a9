#include "go_asm.h"
#include "textflag.h"

// Offsets in Context (layout.go holds the same; a test compares them).
#define RIPOFF 128
#define RFLAGSOFF 136
#define SCRATCH 192
#define HOSTSP (SCRATCH+8*const_SlotHostSP)
#define HOSTBP (SCRATCH+8*const_SlotHostBP)
#define EXIT (SCRATCH+8*const_SlotExit)
#define TARGET (SCRATCH+8*const_SlotTarget)
#define XMASK (SCRATCH+8*const_SlotXMask)
#define FAST (SCRATCH+8*const_SlotFast)
#define MXCSR (SCRATCH+8*const_SlotHostMXCSR)
#define SIG (SCRATCH+8*const_SlotSig)
#define SELF (SCRATCH+8*const_SlotSelf)
#define ALIAS (SCRATCH+8*const_SlotAlias)
#define BASE (SCRATCH+8*const_SlotBase)
#define XSAVEOFF 448

// func enter(ctx *Context)
// Loads the guest's state and jumps to the host address in SlotTarget. Returns
// when generated code jumps to exitStub, which pops no frame.
TEXT ·enter(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ ctx+0(FP), R15
	MOVQ SP, HOSTSP(R15)
	MOVQ BP, HOSTBP(R15)
	STMXCSR MXCSR(R15)
	CMPQ BASE(R15), $0
	JEQ ask
	WRGSBASEQ R15
	JMP load
ask:
	// Does GS point at the context still? What is stored there twice is read twice by way of GS.
	MOVQ $0, ALIAS(R15)
	CALL ·readAlias(SB)
	CMPQ AX, $0
	JNE set
	MOVQ $1, ALIAS(R15)
	CALL ·readAlias(SB)
	CMPQ AX, $1
	JEQ load
set:
	MOVQ $0x1001, DI // ARCH_SET_GS
	MOVQ R15, SI
	MOVQ $158, AX // arch_prctl
	SYSCALL
load:
	CMPQ FAST(R15), $0
	JEQ full
	MOVB (XSAVEOFF+512)(R15), AX
	TESTB $2, AX
	JEQ full
	LDMXCSR (XSAVEOFF+24)(R15)
	// Upper halves that are marked as used, even if they are nil, slow legacy SSE code down.
	VZEROUPPER
	VMOVUPS (XSAVEOFF+160)(R15), X0
	VMOVUPS (XSAVEOFF+176)(R15), X1
	VMOVUPS (XSAVEOFF+192)(R15), X2
	VMOVUPS (XSAVEOFF+208)(R15), X3
	VMOVUPS (XSAVEOFF+224)(R15), X4
	VMOVUPS (XSAVEOFF+240)(R15), X5
	VMOVUPS (XSAVEOFF+256)(R15), X6
	VMOVUPS (XSAVEOFF+272)(R15), X7
	VMOVUPS (XSAVEOFF+288)(R15), X8
	VMOVUPS (XSAVEOFF+304)(R15), X9
	VMOVUPS (XSAVEOFF+320)(R15), X10
	VMOVUPS (XSAVEOFF+336)(R15), X11
	VMOVUPS (XSAVEOFF+352)(R15), X12
	VMOVUPS (XSAVEOFF+368)(R15), X13
	VMOVUPS (XSAVEOFF+384)(R15), X14
	VMOVUPS (XSAVEOFF+400)(R15), X15
	TESTB $4, AX
	JEQ general
	VINSERTF128 $1, (XSAVEOFF+576)(R15), Y0, Y0
	VINSERTF128 $1, (XSAVEOFF+592)(R15), Y1, Y1
	VINSERTF128 $1, (XSAVEOFF+608)(R15), Y2, Y2
	VINSERTF128 $1, (XSAVEOFF+624)(R15), Y3, Y3
	VINSERTF128 $1, (XSAVEOFF+640)(R15), Y4, Y4
	VINSERTF128 $1, (XSAVEOFF+656)(R15), Y5, Y5
	VINSERTF128 $1, (XSAVEOFF+672)(R15), Y6, Y6
	VINSERTF128 $1, (XSAVEOFF+688)(R15), Y7, Y7
	VINSERTF128 $1, (XSAVEOFF+704)(R15), Y8, Y8
	VINSERTF128 $1, (XSAVEOFF+720)(R15), Y9, Y9
	VINSERTF128 $1, (XSAVEOFF+736)(R15), Y10, Y10
	VINSERTF128 $1, (XSAVEOFF+752)(R15), Y11, Y11
	VINSERTF128 $1, (XSAVEOFF+768)(R15), Y12, Y12
	VINSERTF128 $1, (XSAVEOFF+784)(R15), Y13, Y13
	VINSERTF128 $1, (XSAVEOFF+800)(R15), Y14, Y14
	VINSERTF128 $1, (XSAVEOFF+816)(R15), Y15, Y15
	JMP general
full:
	MOVL XMASK(R15), AX
	MOVL (XMASK+4)(R15), DX
	XRSTOR64 XSAVEOFF(R15)
general:
	PUSHQ RFLAGSOFF(R15)
	POPFQ
	MOVQ 0(R15), AX
	MOVQ 8(R15), CX
	MOVQ 16(R15), DX
	MOVQ 24(R15), BX
	MOVQ 40(R15), BP
	MOVQ 48(R15), SI
	MOVQ 56(R15), DI
	MOVQ 64(R15), R8
	MOVQ 72(R15), R9
	MOVQ 80(R15), R10
	MOVQ 88(R15), R11
	MOVQ 96(R15), R12
	MOVQ 104(R15), R13
	MOVQ 112(R15), R14
	MOVQ 32(R15), SP
	MOVQ 120(R15), R15
	// jmp qword gs:[TARGET]
	BYTE $0x65; BYTE $0xff; BYTE $0x24; BYTE $0x25; LONG $TARGET

// exitStub is where generated code jumps to leave: everything in registers is
// the guest's, GS points at the context.
TEXT ·exitStub(SB), NOSPLIT|NOFRAME, $0
	// mov gs:[GPR+8*15], r15; mov r15, gs:[SELF]
	BYTE $0x65; BYTE $0x4c; BYTE $0x89; BYTE $0x3c; BYTE $0x25; LONG $120
	BYTE $0x65; BYTE $0x4c; BYTE $0x8b; BYTE $0x3c; BYTE $0x25; LONG $SELF
	MOVQ SP, 32(R15)
	MOVQ AX, 0(R15)
	MOVQ CX, 8(R15)
	MOVQ DX, 16(R15)
	MOVQ BX, 24(R15)
	MOVQ BP, 40(R15)
	MOVQ SI, 48(R15)
	MOVQ DI, 56(R15)
	MOVQ R8, 64(R15)
	MOVQ R9, 72(R15)
	MOVQ R10, 80(R15)
	MOVQ R11, 88(R15)
	MOVQ R12, 96(R15)
	MOVQ R13, 104(R15)
	MOVQ R14, 112(R15)
	MOVQ HOSTSP(R15), SP
	PUSHFQ
	POPQ RFLAGSOFF(R15)
	// AC, DF, TF and the like must not stay set in Go code.
	PUSHQ $0x202
	POPFQ
	CMPQ FAST(R15), $0
	JEQ full
	STMXCSR (XSAVEOFF+24)(R15)
	ORB $2, (XSAVEOFF+512)(R15)
	ANDB $~4, (XSAVEOFF+512)(R15)
	VMOVUPS X0, (XSAVEOFF+160)(R15)
	VMOVUPS X1, (XSAVEOFF+176)(R15)
	VMOVUPS X2, (XSAVEOFF+192)(R15)
	VMOVUPS X3, (XSAVEOFF+208)(R15)
	VMOVUPS X4, (XSAVEOFF+224)(R15)
	VMOVUPS X5, (XSAVEOFF+240)(R15)
	VMOVUPS X6, (XSAVEOFF+256)(R15)
	VMOVUPS X7, (XSAVEOFF+272)(R15)
	VMOVUPS X8, (XSAVEOFF+288)(R15)
	VMOVUPS X9, (XSAVEOFF+304)(R15)
	VMOVUPS X10, (XSAVEOFF+320)(R15)
	VMOVUPS X11, (XSAVEOFF+336)(R15)
	VMOVUPS X12, (XSAVEOFF+352)(R15)
	VMOVUPS X13, (XSAVEOFF+368)(R15)
	VMOVUPS X14, (XSAVEOFF+384)(R15)
	VMOVUPS X15, (XSAVEOFF+400)(R15)
	MOVL $1, CX
	XGETBV // the components that are not in their initial state
	TESTL $4, AX
	JEQ done
	ORB $4, (XSAVEOFF+512)(R15)
	VEXTRACTF128 $1, Y0, (XSAVEOFF+576)(R15)
	VEXTRACTF128 $1, Y1, (XSAVEOFF+592)(R15)
	VEXTRACTF128 $1, Y2, (XSAVEOFF+608)(R15)
	VEXTRACTF128 $1, Y3, (XSAVEOFF+624)(R15)
	VEXTRACTF128 $1, Y4, (XSAVEOFF+640)(R15)
	VEXTRACTF128 $1, Y5, (XSAVEOFF+656)(R15)
	VEXTRACTF128 $1, Y6, (XSAVEOFF+672)(R15)
	VEXTRACTF128 $1, Y7, (XSAVEOFF+688)(R15)
	VEXTRACTF128 $1, Y8, (XSAVEOFF+704)(R15)
	VEXTRACTF128 $1, Y9, (XSAVEOFF+720)(R15)
	VEXTRACTF128 $1, Y10, (XSAVEOFF+736)(R15)
	VEXTRACTF128 $1, Y11, (XSAVEOFF+752)(R15)
	VEXTRACTF128 $1, Y12, (XSAVEOFF+768)(R15)
	VEXTRACTF128 $1, Y13, (XSAVEOFF+784)(R15)
	VEXTRACTF128 $1, Y14, (XSAVEOFF+800)(R15)
	VEXTRACTF128 $1, Y15, (XSAVEOFF+816)(R15)
	VZEROUPPER
	JMP done
full:
	MOVL XMASK(R15), AX
	MOVL (XMASK+4)(R15), DX
	XSAVE64 XSAVEOFF(R15)
	TESTL $4, XMASK(R15)
	JEQ done
	VZEROUPPER
done:
	LDMXCSR MXCSR(R15)
	MOVQ HOSTBP(R15), BP
	RET

// readAlias answers what is at ALIAS by way of GS. Where that faults, sigHandler lets it answer -1.
TEXT ·readAlias(SB), NOSPLIT|NOFRAME, $0
	// mov rax, gs:[ALIAS]
	BYTE $0x65; BYTE $0x48; BYTE $0x8b; BYTE $0x04; BYTE $0x25; LONG $ALIAS
	RET

// noAlias goes on in its place.
TEXT ·noAlias(SB), NOSPLIT|NOFRAME, $0
	MOVQ $-1, AX
	RET

// func exitPC() uintptr
TEXT ·exitPC(SB), NOSPLIT, $0-8
	LEAQ ·exitStub(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func handlerPC() uintptr
TEXT ·handlerPC(SB), NOSPLIT, $0-8
	LEAQ ·sigHandler(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// sigHandler(sig, info, ucontext), called by the kernel. A fault in the code cache is noted in the
// context, and the thread goes on at the exit stub; every other signal is Go's.
// Signals that somebody sent (si_code <= 0) are Go's too.
TEXT ·sigHandler(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVQ 168(DX), AX // RIP
	MOVQ AX, R8
	SUBQ $const_CacheLow, AX
	CMPQ AX, $(const_CacheHigh-const_CacheLow)
	JAE alias
	MOVLQSX 8(SI), CX // si_code
	CMPQ CX, $0
	JLE chain
	// mov rax, gs:[SELF]
	BYTE $0x65; BYTE $0x48; BYTE $0x8b; BYTE $0x04; BYTE $0x25; LONG $SELF
	MOVQ DI, SIG(AX)
	MOVQ CX, (SIG+8)(AX)
	MOVQ 16(SI), CX // si_addr
	MOVQ CX, (SIG+16)(AX)
	MOVQ 200(DX), CX // trapno
	MOVQ CX, (SIG+24)(AX)
	MOVQ 192(DX), CX // error code
	MOVQ CX, (SIG+32)(AX)
	MOVQ R8, (SIG+40)(AX)
	MOVL $const_ExitFault, 176(AX)
	ANDQ $~0x100, 176(DX) // TF
	MOVQ EXIT(AX), CX
	MOVQ CX, 168(DX)
	RET
alias:
	LEAQ ·readAlias(SB), AX
	CMPQ R8, AX
	JNE chain
	CMPL 8(SI), $0 // si_code
	JLE chain
	LEAQ ·noAlias(SB), AX
	MOVQ AX, 168(DX)
	RET
chain:
	LEAQ ·goHandlers(SB), AX
	MOVQ (AX)(DI*8), AX
	JMP AX

// func cpuid(leaf, sub uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// func xgetbv() uint64
TEXT ·xgetbv(SB), NOSPLIT, $0-8
	XORL CX, CX
	XGETBV
	SHLQ $32, DX
	ORQ DX, AX
	MOVQ AX, ret+0(FP)
	RET
