package uop

import (
	"strings"

	"lime/internal/machine"
	"lime/internal/x86"
)

// classes gives the class of mnemonics that begin so, the v of vector forms taken off; the first
// row that fits counts.
var classes = []struct {
	prefixes string
	class    machine.Class
}{
	{"nop endbr64 endbr32", machine.ClassNop},
	{"imul mul. mulx", machine.ClassMul},
	{"idiv div.", machine.ClassDiv},
	{"divps divpd divss divsd divph divsh sqrt rsqrt14 rcp14", machine.ClassFDiv},
	{"mulps mulpd mulss mulsd mulph mulsh fmadd fmsub fnmadd fnmsub dpps dppd rcp rsqrt pmul pmadd", machine.ClassFMul},
	{"addps addpd addss addsd addph addsh subps subpd subss subsd subph subsh addsub hadd hsub min max cmpp cmps cvt ucomi comi round",
		machine.ClassFAdd},
}

// classOf finds the class of an instruction.
func classOf(in *x86.Inst) machine.Class {
	switch {
	case in.Branch == x86.BranchSyscall:
		return machine.ClassSyscall
	case in.Branch != x86.BranchNone:
		return machine.ClassBranch
	case in.Lock:
		return machine.ClassAtomic
	case in.Rep != 0:
		return machine.ClassString
	}
	switch in.Special {
	case x86.SpecialNone:
	case x86.SpecialRep:
		return machine.ClassString
	default:
		return machine.ClassSerial
	}
	if in.HasMem && in.Mem.Write && !in.Mem.Read {
		return machine.ClassStore
	}
	if c, ok := byName(in); ok {
		return c
	}
	switch {
	case in.X87 && !in.SSE:
		return machine.ClassX87
	case in.SSE && !(in.HasMem && in.Mem.Read):
		return machine.ClassVec
	}
	return machine.ClassALU
}

func byName(in *x86.Inst) (machine.Class, bool) {
	name := in.Name
	vector := in.SSE || in.AVX || in.AVX512
	if vector {
		name = strings.TrimPrefix(name, "v")
	}
	for _, row := range classes {
		scalar := row.class == machine.ClassMul || row.class == machine.ClassDiv || row.class == machine.ClassNop
		if scalar == vector {
			continue
		}
		for _, p := range strings.Fields(row.prefixes) {
			if exact, ok := strings.CutSuffix(p, "."); ok && name == exact || !ok && strings.HasPrefix(name, p) {
				return row.class, true
			}
		}
	}
	return 0, false
}
