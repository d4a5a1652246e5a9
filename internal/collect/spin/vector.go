package spin

import (
	"slices"
	"strings"

	"lime/internal/collect/busywait"
	"lime/internal/x86"
)

// Vector registers (doc.go, Vector registers).

// mostSpilled is how many bytes a vector register has, of those that such loops save (AVX).
const mostSpilled = 32

// isVector reports whether an instruction works on vector registers that may be followed.
func isVector(in *x86.Inst) bool { return (in.SSE || in.AVX) && !in.AVX512 }

// movesVector recognises the moves of vector registers among themselves and between them and
// memory, by which a compiler saves them around a call, or has constants in them again behind it: it
// clears them, or spreads over one what it moved there (Intel SDM vol. 2).
func movesVector(in *x86.Inst) bool {
	if !isVector(in) {
		return false
	}
	switch strings.TrimPrefix(in.Name, "v") {
	case "movss", "movsd", "movaps", "movapd", "movups", "movupd", "movdqa", "movdqu",
		"movddup", "movlhps", "movhlps", "unpcklps", "unpcklpd", "punpckldq", "punpcklqdq", "pshufd", "shufps", "shufpd",
		"broadcastss", "broadcastsd", "pbroadcastd", "pbroadcastq":
		return true
	case "xorps", "xorpd", "pxor":
		return busywait.ClearsVector(in)
	case "movd", "movq":
		return in.HasMem || in.Opcode == 0x6e // or from a general-purpose register; not to one
	}
	return false
}

// computesVector recognises the arithmetic of floating-point numbers, comparisons, conversions and
// moves to general-purpose registers (Intel SDM vol. 2).
func computesVector(in *x86.Inst) bool {
	if !isVector(in) || movesVector(in) {
		return false
	}
	name := strings.TrimPrefix(in.Name, "v")
	switch name {
	case "movd", "movq", "pxor", "pand", "por", "punpckhqdq":
		return true
	}
	if strings.HasPrefix(name, "cvt") {
		return true
	}
	base := name[:max(len(name)-2, 0)]
	switch name[len(base):] {
	case "ss", "sd", "ps", "pd":
	default:
		return false
	}
	switch strings.TrimRight(base, "123") {
	case "add", "sub", "mul", "div", "min", "max", "sqrt", "comi", "ucomi", "and", "andn", "or", "xor", "round", "unpckh",
		"hadd", "fmadd", "fmsub", "fnmadd", "fnmsub":
		return true
	}
	return false
}

// spill follows a vector register between memory and itself. What it leaves on the stack is not
// known there.
func (w *walker) spill(x *exec, next uint64) bool {
	for i := range w.access {
		a := &w.access[i]
		addr, ok := w.address(&a.Mem, next)
		p := place{addr, uint8(a.Bytes)}
		switch {
		case a.Write:
			if !ok || a.Bytes > mostSpilled || !w.ownStack(p) {
				return false
			}
			x.stores = p
			w.stored = append(w.stored, held{at: p})
		case !ok || a.Bytes > 8:
			x.blind = true
		default:
			v, known := w.load(p)
			x.loads, x.loaded, x.secret = p, v, !known
		}
	}
	return true
}

// chains is how many computations in vector registers, one of the other's outcome, led to what is in
// each of them.
type chains [32]uint8

// mostChain is how long one may be: a time-out takes some five to ten, and a thread that goes on is at
// work, by as many more in each round. It bounds how long that is followed in vain.
const mostChain = 32

// next follows an instruction; false if the chain is too long.
func (c *chains) next(in *x86.Inst) bool {
	if in.VecWrites == 0 {
		return true
	}
	n := uint8(0)
	if !busywait.ClearsVector(in) {
		for r, k := range c {
			if in.VecReads>>r&1 != 0 {
				n = max(n, k)
			}
		}
	}
	if computesVector(in) {
		n++
	}
	for r := range c {
		if in.VecWrites>>r&1 != 0 {
			c[r] = n
		}
	}
	return n <= mostChain
}

// carriesVectors reports whether some vector register may hold what hangs on all rounds before, in a
// loop that computes with them at all: then rounds need not be alike because the registers are that
// are known. Nor need they if it is not known what was loaded. Of one round, it is gone twice.
func carriesVectors(rounds [][]exec) bool {
	computes := func(x exec) bool { return computesVector(x.in) }
	if !slices.ContainsFunc(rounds, func(execs []exec) bool { return slices.ContainsFunc(execs, computes) }) {
		return false
	}
	old := uint32(0) // of what the loop writes, what hangs on what was there before its first round
	for _, execs := range rounds {
		for i := range execs {
			old |= execs[i].in.VecWrites
		}
	}
	for _, execs := range append(rounds, rounds[len(rounds)-1]) {
		for i := range execs {
			x := &execs[i]
			if x.blind {
				return true
			}
			reads := x.in.VecReads & old
			if old &^= x.in.VecWrites; reads != 0 && !busywait.ClearsVector(x.in) {
				old |= x.in.VecWrites
			}
		}
	}
	return old != 0
}

// byRounds are the instructions of each round.
func (c *counting) byRounds() (rounds [][]exec) {
	for k, at := range c.starts[:len(c.starts)-1] {
		s := c.f.steps
		rounds = append(rounds, c.f.execs[s[at].first:s[c.starts[k+1]-1].last])
	}
	return rounds
}

// vectors are sets of vector registers, by what they hold: as counting has them of the others.
type vectors struct{ tainted, clocked, loaded uint32 }

// leaves notes what an instruction leaves in vector registers.
func (v *vectors) leaves(in *x86.Inst, from inputs) {
	v.tainted &^= in.VecWrites
	v.clocked &^= in.VecWrites
	v.loaded &^= in.VecWrites
	if from.tainted {
		v.tainted |= in.VecWrites
	}
	if from.clocked {
		v.clocked |= in.VecWrites
	}
	if from.loaded {
		v.loaded |= in.VecWrites
	}
}
