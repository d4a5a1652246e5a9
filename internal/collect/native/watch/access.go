package watch

// Which bytes an instruction touches.

import (
	"golang.org/x/sys/unix"

	"lime/internal/x86"
)

// access is a range of bytes that an instruction loads or stores.
type access struct {
	addr   uint64
	bytes  int
	reads  bool
	writes bool
}

func (a access) end() uint64 { return a.addr + uint64(a.bytes) }

// overlap is how many bytes of a range the access touches.
func (a access) overlap(addr uint64, n int) int { return a.part(addr, n).bytes }

// part is what of the access lies in a range.
func (a access) part(addr uint64, n int) access {
	lo, hi := max(a.addr, addr), min(a.end(), addr+uint64(n))
	a.addr, a.bytes = lo, int(max(lo, hi)-lo)
	return a
}

// accesses are those of an instruction at pc, by registers as they are before it, the first ones of a
// repeated one; what an instruction's data decide (masks, gathers, bit strings) is left out.
func accesses(in *x86.Inst, pc uint64, r *unix.PtraceRegs) []access {
	var list [4]x86.Access
	var out []access
	if in.BitString || in.Mem.VSIB {
		return nil
	}
	if in.Rep != 0 {
		return repeated(in, r, 0)
	}
	for _, a := range in.Accesses(list[:0]) {
		if a.Bytes == 0 {
			continue
		}
		out = append(out, access{address(&a.Mem, pc+uint64(in.Len), r), int(a.Bytes), a.Read, a.Write})
	}
	return out
}

// address is where a memory operand lies; next is the address of the instruction behind.
func address(m *x86.Mem, next uint64, r *unix.PtraceRegs) uint64 {
	a := uint64(int64(m.Disp))
	switch m.Base {
	case x86.NoReg:
	case x86.RIP:
		a += next
	default:
		a += general(r, m.Base)
	}
	if m.Index != x86.NoReg {
		a += general(r, m.Index) * uint64(m.Scale)
	}
	if m.Addr32 {
		a = uint64(uint32(a))
	}
	switch m.Seg {
	case 0x64:
		a += r.Fs_base
	case 0x65:
		a += r.Gs_base
	}
	return a
}

// general is a general-purpose register by its encoding number.
func general(r *unix.PtraceRegs, n x86.Reg) uint64 {
	return [...]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}[n&15]
}

// piece is a part of an access that one watchpoint covers: the largest aligned one, or, of more
// than eight bytes, one of them by chance.
func piece(a access, chance func(n int) int) (addr uint64, n int) {
	for n = 8; n > 1; n /= 2 {
		first := (a.addr + uint64(n) - 1) &^ uint64(n-1)
		if first+uint64(n) <= a.end() {
			count := int((a.end() - first) / uint64(n))
			return first + uint64(chance(count)*n), n
		}
	}
	return a.addr, 1
}
