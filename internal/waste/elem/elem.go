// Package elem tells from instructions whether a store is of floating-point numbers. It imports x86
// and waste only.
package elem

import (
	"strings"

	"lime/internal/waste"
	"lime/internal/x86"
)

// Stored says what the last of some instructions, which run one behind the other, stores in n
// bytes. Compilers move whole vectors of anything by the shortest instruction there is, so that of
// these only what computed the register tells.
func Stored(insts []x86.Inst, n int) waste.Elem {
	i := len(insts) - 1
	in := &insts[i]
	name := strings.TrimPrefix(in.Name, "v")
	switch {
	case in.X87 && (name == "fst" || name == "fstp"):
		return map[int]waste.Elem{4: waste.Float32, 8: waste.Float64, 10: waste.Float80}[n]
	case name == "movss" || name == "movntss":
		return waste.Float32
	case name == "movsd" || name == "movntsd":
		return waste.Float64
	}
	for _, move := range [...]string{"movups", "movaps", "movupd", "movapd", "movntps", "movntpd"} {
		if name == move {
			return computed(insts[:i], in.VecReads)
		}
	}
	return waste.Bytes
}

// arithmetic are the beginnings of the names of what computes floating-point numbers.
var arithmetic = [...]string{"add", "sub", "mul", "div", "sqrt", "min", "max", "fmadd", "fmsub", "fnmadd", "fnmsub",
	"cvtdq2", "cvtsi2", "cvtps2pd", "cvtpd2ps", "cvtss2", "cvtsd2ss", "round", "hadd", "hsub"}

// computed says what the last instruction that wrote a vector register computed.
func computed(insts []x86.Inst, reg uint32) waste.Elem {
	for i := len(insts) - 1; i >= 0; i-- {
		if insts[i].VecWrites&reg == 0 {
			continue
		}
		name := strings.TrimPrefix(insts[i].Name, "v")
		for _, begin := range arithmetic {
			if !strings.HasPrefix(name, begin) {
				continue
			}
			switch {
			case strings.HasSuffix(name, "ps"), strings.HasSuffix(name, "ss"):
				return waste.Float32
			case strings.HasSuffix(name, "pd"), strings.HasSuffix(name, "sd"):
				return waste.Float64
			}
		}
		return waste.Bytes
	}
	return waste.Bytes
}
