package spin

import "lime/internal/x86"

// Instructions of bytes: what they leave of the rest of a register is no use of it.

// lowest is the registers of which an instruction uses the lowest byte only; ok is false for those of
// other kinds. Code that is not optimised has truth values in them.
func lowest(in *x86.Inst) (reads, writes x86.RegSet, ok bool) {
	var reg, rm x86.RegSet
	row, acc := opOf(in), x86.RegSet(0).With(x86.RAX)
	if in.SSE || in.AVX || in.OpSize16 || high(in, in.RegField(), 1) || !in.HasMem && high(in, in.RMField(), 1) {
		return 0, 0, false
	}
	reg = reg.With(in.RegField())
	if !in.HasMem {
		rm = rm.With(in.RMField())
	}
	switch {
	case row == 0x88:
		return reg, rm, true
	case row == 0x8a:
		return rm, reg, true
	case row == 0x84 || row == 0x38 || row == 0x3a: // test, cmp
		return reg | rm, 0, true
	case row == 0x20 || row == 0x08 || row == 0x30: // and, or, xor
		return reg | rm, rm, true
	case row == 0x22 || row == 0x0a || row == 0x32:
		return reg | rm, reg, true
	case row == 0x80, row == 0xf6 && in.Digit() == 0: // with an immediate
		return rm, rm, true
	case row == 0x24 || row == 0x0c || row == 0x34:
		return acc, acc, true
	case row == 0x3c || row == 0xa8:
		return acc, 0, true
	case row == 0x1b6 || row == 0x1be: // movzx, movsx: the rest is written, too
		return rm, reg, true
	case row >= 0x190 && row < 0x1a0: // setcc
		return 0, rm, true
	}
	return 0, 0, false
}

// addressed is the registers of which an instruction makes an address.
func addressed(in *x86.Inst) (s x86.RegSet) {
	if in.HasMem {
		for _, r := range []x86.Reg{in.Mem.Base, in.Mem.Index} {
			if r < 16 {
				s = s.With(r)
			}
		}
	}
	return s
}
