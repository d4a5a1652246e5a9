package quick

import (
	"unsafe"

	"lime/internal/x86/enc"
)

// Numbers that are near: waste.Same of words that are floating-point numbers, in the same
// operations, so that it comes to the same. In XMM4 to XMM7 stand nil, all bits but the sign,
// infinity and the tolerance.

const (
	xmmZero     = 4
	xmmPositive = 5
	xmmInfinite = 6
	xmmNearness = 7
)

// loadNumbers loads them.
func loadNumbers(a enc.Table) {
	var s state
	sse(a, 0, opXor, xmmZero, xmmZero)
	a.LoadDouble(xmmPositive, field(unsafe.Offsetof(s.positive)))
	a.LoadDouble(xmmInfinite, field(unsafe.Offsetof(s.infinite)))
	a.LoadDouble(xmmNearness, field(unsafe.Offsetof(s.tolerance)))
}

// Opcodes of SSE instructions (behind 0F), and prefixes.
const (
	opMove    = 0x28
	opCompare = 0x2e
	opAnd     = 0x54
	opXor     = 0x57
	opMul     = 0x59
	opSub     = 0x5c
	opMax     = 0x5f
	double    = 0xf2 // of arithmetic
	packed    = 0x66 // of comparisons
)

// sse emits an instruction on two XMM registers, the first eight.
func sse(a enc.Table, prefix, opcode, dst, src byte) {
	if prefix != 0 {
		a.Bytes(prefix)
	}
	a.Bytes(0x0f, opcode, 0xc0|dst<<3|src)
}

// near emits the comparison of two different numbers in the log: back if they are near, else to
// where the op's store changes something.
func (x *access) near(before, after int32, back uint64) {
	a := x.Table
	a.LoadDouble(0, enc.At(regLog, before))
	a.LoadDouble(1, enc.At(regLog, after))
	sse(a, 0, opMove, 2, 0)
	sse(a, double, opSub, 2, 1)
	for r := range byte(3) {
		sse(a, 0, opAnd, r, xmmPositive)
	}
	sse(a, packed, opCompare, 2, xmmZero) // no number, or 0 and -0
	a.Jcc(enc.CondE, x.changed)
	sse(a, double, opMax, 0, 1)
	sse(a, packed, opCompare, 0, xmmInfinite)
	a.Jcc(enc.CondAE, x.changed)
	sse(a, double, opMul, 0, xmmNearness)
	sse(a, packed, opCompare, 0, 2)
	a.Jcc(enc.CondAE, back)
	a.Jmp(x.changed)
}
