#include "go_asm.h"
#include "textflag.h"

// Offsets in Context (layout.go holds the same; a test compares them).
#define SELF (192+8*const_SlotSelf)
#define TRACEPTR 432
#define FILTER 440
#define MISS 4544
#define WORD(n) (MISS+8*n)
#define SAVED(n) (MISS+8*(const_MissSaved+n))

// Offsets in a filter (package machine, filter.go).
#define MASK 0
#define CONTENDED 8
#define LINES 16
#define READ0 64
#define WRITE0 72
#define READ1 80
#define WRITE1 88
#define SLOTS 0x80000
#define NOLINE $0x8000000000000000

// mov gs:[SAVED(0)], r15
#define SAVER15 BYTE $0x65; BYTE $0x4c; BYTE $0x89; BYTE $0x3c; BYTE $0x25; LONG $SAVED(0)
// mov r15, gs:[SELF]
#define CONTEXT BYTE $0x65; BYTE $0x4c; BYTE $0x8b; BYTE $0x3c; BYTE $0x25; LONG $SELF
// jmp qword gs:[Miss+MissBack]
#define GOBACK BYTE $0x65; BYTE $0xff; BYTE $0x24; BYTE $0x25; LONG $WORD(const_MissBack)

// missStub records an access that generated code did not find in the filter, and brings its lines there.
// It is Recorder.access of package machine, for accesses that are to be recorded. Flags are lost.
TEXT ·missStub(SB), NOSPLIT|NOFRAME, $0
	SAVER15
	CONTEXT
	MOVQ AX, SAVED(1)(R15)
	MOVQ BX, SAVED(2)(R15)
	MOVQ CX, SAVED(3)(R15)
	MOVQ DX, SAVED(4)(R15)
	MOVQ SI, SAVED(5)(R15)
	MOVQ DI, SAVED(6)(R15)
	MOVQ R8, SAVED(7)(R15)
	MOVQ R9, SAVED(8)(R15)
	MOVQ R10, SAVED(9)(R15)
	MOVQ R11, SAVED(10)(R15)
	MOVQ WORD(const_MissAddr)(R15), AX
	MOVL WORD(const_MissInfo)(R15), BX
	MOVQ FILTER(R15), CX
	MOVQ TRACEPTR(R15), DX
	MOVQ AX, (DX)
	MOVL BX, SI
	ANDL $(const_MissWrite-1), SI
	MOVW SI, 6(DX)
	ADDQ $8, DX
	MOVL BX, SI
	SHRL $const_MissSize, SI
	LEAQ -1(AX)(SI*1), SI
	ANDQ $~63, SI // the last line
	ANDQ $~63, AX // the first
	MOVQ NOLINE, R11
line:
	MOVQ AX, DI
	ANDQ MASK(CX), DI
	SHRQ $1, DI
	ADDQ CX, DI
	MOVQ READ0(DI), R8
	MOVQ R8, R9
	ORQ $1, R9
	MOVQ R9, (DX)
	ADDQ $8, DX
	CMPQ LINES(CX), $1
	JLT next
	CMPQ R8, AX
	JEQ same
	MOVQ WRITE0(DI), R9
	CMPQ READ1(DI), AX
	JNE fresh
	MOVQ WRITE1(DI), R10
	MOVQ AX, READ0(DI)
	MOVQ R10, WRITE0(DI)
	MOVQ R8, READ1(DI)
	MOVQ R9, WRITE1(DI)
	JMP same
fresh:
	CMPQ LINES(CX), $2
	JNE one
	MOVQ R8, READ1(DI)
	MOVQ R9, WRITE1(DI)
one:
	MOVQ AX, READ0(DI)
	MOVQ R11, WRITE0(DI)
same:
	TESTL $const_MissWrite, BX
	JEQ next
	MOVQ AX, R9
	SHRQ $6, R9
	ANDL $(SLOTS-1), R9
	MOVQ CONTENDED(CX), R10
	CMPB (R10)(R9*1), $0
	JNE next
	MOVQ AX, WRITE0(DI)
next:
	CMPQ AX, SI
	JEQ done
	MOVQ SI, AX
	JMP line
done:
	MOVQ DX, TRACEPTR(R15)
	MOVQ SAVED(1)(R15), AX
	MOVQ SAVED(2)(R15), BX
	MOVQ SAVED(3)(R15), CX
	MOVQ SAVED(4)(R15), DX
	MOVQ SAVED(5)(R15), SI
	MOVQ SAVED(6)(R15), DI
	MOVQ SAVED(7)(R15), R8
	MOVQ SAVED(8)(R15), R9
	MOVQ SAVED(9)(R15), R10
	MOVQ SAVED(10)(R15), R11
	MOVQ SAVED(0)(R15), R15
	GOBACK

// repeatStub records the accesses of a repeated instruction, behind it. It is Recorder.repeated of package machine, for one access or
// two. Flags stay.
TEXT ·repeatStub(SB), NOSPLIT|NOFRAME, $0
	SAVER15
	CONTEXT
	MOVQ AX, SAVED(1)(R15)
	LAHF
	SETOS AX
	MOVQ AX, WORD(const_MissFlags)(R15)
	MOVQ BX, SAVED(2)(R15)
	MOVQ DX, SAVED(4)(R15)
	MOVQ SI, SAVED(5)(R15)
	MOVQ DI, SAVED(6)(R15)
	MOVQ R8, SAVED(7)(R15)
	MOVQ R9, SAVED(8)(R15)
	MOVQ R10, SAVED(9)(R15)
	MOVQ R11, SAVED(10)(R15)
	MOVQ WORD(const_RepeatCount)(R15), R8
	SUBQ CX, R8
	MOVQ TRACEPTR(R15), DX
	MOVQ FILTER(R15), R10
	MOVQ NOLINE, R11
	MOVQ WORD(const_MissAddr)(R15), AX
	MOVL WORD(const_MissInfo)(R15), BX
access:
	MOVQ AX, (DX)
	MOVL BX, SI
	ANDL $(const_MissWrite-1), SI
	MOVW SI, 6(DX)
	LEAQ 1(R8)(R8*1), SI
	MOVQ SI, 8(DX)
	ADDQ $16, DX
	SHRL $const_MissSize, BX
	IMULQ R8, BX
	MOVQ AX, SI
	ANDQ $63, SI
	LEAQ 63(SI)(BX*1), SI
	SHRQ $6, SI // lines
	MOVQ MASK(R10), R9
	SHRQ $6, R9
	INCQ R9 // sets
	CMPQ SI, R9
	CMOVQHI R9, SI
	JMP test
empty:
	MOVQ AX, DI
	ANDQ MASK(R10), DI
	SHRQ $1, DI
	ADDQ R10, DI
	MOVQ R11, READ0(DI)
	MOVQ R11, WRITE0(DI)
	MOVQ R11, READ1(DI)
	MOVQ R11, WRITE1(DI)
	ADDQ $64, AX
	DECQ SI
test:
	TESTQ SI, SI
	JNE empty
	MOVQ WORD(const_RepeatAddr)(R15), AX
	MOVL WORD(const_RepeatInfo)(R15), BX
	MOVL $0, WORD(const_RepeatInfo)(R15)
	TESTL BX, BX
	JNE access
	MOVQ DX, TRACEPTR(R15)
	MOVQ SAVED(2)(R15), BX
	MOVQ SAVED(4)(R15), DX
	MOVQ SAVED(5)(R15), SI
	MOVQ SAVED(6)(R15), DI
	MOVQ SAVED(7)(R15), R8
	MOVQ SAVED(8)(R15), R9
	MOVQ SAVED(9)(R15), R10
	MOVQ SAVED(10)(R15), R11
	MOVQ WORD(const_MissFlags)(R15), AX
	ADDB $0x7f, AX
	SAHF
	MOVQ SAVED(1)(R15), AX
	MOVQ SAVED(0)(R15), R15
	GOBACK

// func missPC() uintptr
TEXT ·missPC(SB), NOSPLIT, $0-8
	LEAQ ·missStub(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func repeatPC() uintptr
TEXT ·repeatPC(SB), NOSPLIT, $0-8
	LEAQ ·repeatStub(SB), AX
	MOVQ AX, ret+0(FP)
	RET
