#include "textflag.h"

// Where the process begins, before Go's runtime. SP points to the number of arguments, and everything is kept for the runtime.
TEXT ·entry(SB), NOSPLIT|NOFRAME, $0-0
	MOVL $97, AX             // getrlimit(RLIMIT_AS, SP-64)
	MOVL $9, DI
	LEAQ -64(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE  begin
	CMPQ -64(SP), $0x40000000
	JCC  begin
	MOVL $1, AX              // write(2, tight)
	MOVL $2, DI
	MOVQ ·tight(SB), SI
	MOVQ ·tight+8(SB), DX
	SYSCALL
	MOVL $231, AX            // exit_group(125)
	MOVL $125, DI
	SYSCALL
begin:
	XORL R12, R12
	MOVL $1, BX
next:
	MOVL $13, AX             // rt_sigaction(BX, 0, SP-128)
	MOVL BX, DI
	XORL SI, SI
	LEAQ -128(SP), DX
	MOVL $8, R10
	SYSCALL
	TESTQ AX, AX
	JNE  other
	CMPQ -128(SP), $1        // SIG_IGN
	JNE  other
	LEAL -1(BX), CX
	BTSQ CX, R12
other:
	INCL BX
	CMPL BX, $64
	JLS  next
	MOVQ R12, lime∕internal∕start·ignored(SB)
	MOVL $14, AX             // rt_sigprocmask(SIG_BLOCK, 0, SP-128)
	XORL DI, DI
	XORL SI, SI
	LEAQ -128(SP), DX
	MOVL $8, R10
	SYSCALL
	TESTQ AX, AX
	JNE  go
	MOVQ -128(SP), R12
	MOVQ R12, lime∕internal∕start·blocked(SB)
	MOVL $97, AX             // getrlimit(RLIMIT_NOFILE, SP-128)
	MOVL $7, DI
	LEAQ -128(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE  go
	MOVQ -128(SP), R12
	MOVQ R12, lime∕internal∕start·files(SB)
	XORL R12, R12
	XORL BX, BX
open:
	MOVL $72, AX             // fcntl(BX, F_GETFD)
	MOVL BX, DI
	MOVL $1, SI
	SYSCALL
	TESTQ AX, AX
	JGE  there
	BTSQ BX, R12
there:
	INCL BX
	CMPL BX, $2
	JLS  open
	MOVQ R12, lime∕internal∕start·closed(SB)
	MOVQ $1, lime∕internal∕start·entered(SB)
go:
	JMP  _rt0_amd64_linux(SB)
