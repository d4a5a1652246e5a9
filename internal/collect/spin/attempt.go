package spin

import (
	"slices"

	"lime/internal/collect/busywait"
	"lime/internal/x86"
)

// Attempts to take a lock, in code that a thread has not gone through yet (doc.go, Locks).

// attempt is an instruction that may take a lock.
type attempt struct {
	pc, word uint64 // word is 0 if it is not known which one
	sets     uint64 // the bits that it surely sets, as constants of the code say
	clears   bool   // it surely clears one, or all
}

// way is a thread on its way through code, as far as what it does is known.
type way struct {
	w    walker
	ones [16]uint64 // of each register, the bits that constants of the code have set
	kept []ones     // the same of places on the stack
}

// ones is the bits of a place that constants of the code have set.
type ones struct {
	at   place
	bits uint64
}

func (y *way) begin(p Program, h *Head) {
	y.w.begin(p, h)
	y.w.imagines, y.ones, y.kept = true, [16]uint64{}, y.kept[:0]
}

// apart is a copy that goes its own way.
func (y *way) apart() *way {
	z := *y
	z.w.stored, z.w.access, z.kept = slices.Clone(y.w.stored), nil, slices.Clone(y.kept)
	return &z
}

// gone is an instruction that a thread has gone through.
type gone struct {
	exec
	to      uint64 // where it leads, if a register says so
	known   bool
	visible bool // it may have stored where others look
}

// attempt goes from an address to the first attempt; next says where each instruction before it
// leads, and whether that is of interest.
func (y *way) attempt(pc uint64, next func(*gone) (uint64, bool)) (a attempt, ok bool) {
	for {
		in, ok := y.w.prog.Decode(pc)
		if !ok {
			return a, false
		}
		if busywait.Tries(in) {
			return y.tries(in, pc), true
		}
		var g gone
		g.to, g.known = y.w.destination(in)
		g.exec, g.visible = y.goes(in, pc)
		if pc, ok = next(&g); !ok {
			return a, false
		}
	}
}

// tries is the attempt that an instruction makes.
func (y *way) tries(in *x86.Inst, pc uint64) attempt {
	a := attempt{pc: pc, clears: y.w.clearsWord(in)}
	if addr, ok := y.w.address(&in.Mem, pc+uint64(in.Len)); ok {
		a.word = addr
	}
	if in.Name == "bts" {
		a.sets = 1 << (uint64(in.Imm) & (8*uint64(wide(in)) - 1))
	} else {
		a.sets = y.ofReg(in, in.RegField(), (&operands{in: in}).size())
	}
	return a
}

// wide is the operand size of forms that have none of a byte.
func wide(in *x86.Inst) uint8 {
	switch {
	case in.Rex&8 != 0:
		return 8
	case in.OpSize16:
		return 2
	}
	return 4
}

// goes goes through one instruction, and reports whether it may store where others look. What it
// leaves is not known if it cannot be followed.
func (y *way) goes(in *x86.Inst, pc uint64) (x exec, visible bool) {
	x, ok := y.w.run(in, pc)
	if !ok {
		y.w.forget(in)
		if in.FlagsWrite != 0 {
			y.w.flags = compared{}
		}
		visible = slices.ContainsFunc(y.w.access, func(a x86.Access) bool { return a.Write })
	}
	if in.Branch == x86.BranchSyscall { // of a loop that waits: sched_yield
		y.w.set(x86.RAX, 0, true)
	}
	y.sets(&x)
	if n := len(y.w.stored) - 1; n > 0 { // it takes the place of what was there
		last := y.w.stored[n]
		y.w.stored = append(slices.DeleteFunc(y.w.stored[:n], func(s held) bool { return s.at == last.at }), last)
	}
	return x, visible
}

// sets follows what constants of the code have set.
func (y *way) sets(x *exec) {
	in := x.in
	o := operands{in: in}
	row, n := opOf(in), o.size()
	immediate := low(uint64(in.Imm), 8)
	switch {
	case row >= 0xb0 && row < 0xb8:
		y.leaves(x, x86.Reg(in.Opcode&7|in.Rex&1<<3), immediate, 1)
	case row >= 0xb8 && row < 0xc0:
		y.leaves(x, x86.Reg(in.Opcode&7|in.Rex&1<<3), immediate, wide(in))
	case row == 0xc6 || row == 0xc7:
		y.leavesRM(x, immediate, n)
	case row == 0x88 || row == 0x89:
		y.leavesRM(x, y.ofReg(in, in.RegField(), n), n)
	case row == 0x8a || row == 0x8b:
		y.leaves(x, in.RegField(), y.ofRM(x, n), n)
	case row == 0x1b6 || row == 0x1b7: // movzx
		y.leaves(x, in.RegField(), y.ofRM(x, uint8(1+row&1)), wide(in))
	case row == 0x08 || row == 0x09:
		y.leavesRM(x, y.ofRM(x, n)|y.ofReg(in, in.RegField(), n), n)
	case row == 0x0a || row == 0x0b:
		y.leaves(x, in.RegField(), y.ofRM(x, n)|y.ofReg(in, in.RegField(), n), n)
	case row == 0x0c || row == 0x0d:
		y.leaves(x, x86.RAX, y.ones[x86.RAX]|immediate, n)
	case (row == 0x80 || row == 0x81 || row == 0x83) && in.Digit() == 1: // or
		y.leavesRM(x, y.ofRM(x, n)|immediate, n)
	case row == 0x24 || row == 0x25: // and
		y.leaves(x, x86.RAX, y.ones[x86.RAX]&immediate, n)
	case (row == 0x80 || row == 0x81 || row == 0x83) && in.Digit() == 4: // and
		y.leavesRM(x, y.ofRM(x, n)&immediate, n)
	case row >= 0x50 && row < 0x58:
		y.keeps(x, y.ones[x86.Reg(in.Opcode&7|in.Rex&1<<3)])
	case row == 0x68 || row == 0x6a:
		y.keeps(x, immediate)
	case row >= 0x58 && row < 0x60:
		y.leaves(x, x86.Reg(in.Opcode&7|in.Rex&1<<3), y.ofPlace(x.loads), 8)
	default:
		y.loses(x)
	}
}

// loses takes what an instruction leaves not to be set by constants.
func (y *way) loses(x *exec) {
	for r := range y.ones {
		if x.in.Writes.Has(x86.Reg(r)) {
			y.ones[r] = 0
		}
	}
	y.keeps(x, 0)
}

// ofReg is what constants have set of a register.
func (y *way) ofReg(in *x86.Inst, r x86.Reg, n uint8) uint64 {
	if high(in, r, n) {
		return 0
	}
	return low(y.ones[r], n)
}

// ofRM is the same of the r/m operand.
func (y *way) ofRM(x *exec, n uint8) uint64 {
	if x.in.HasMem {
		return low(y.ofPlace(x.loads), n)
	}
	return y.ofReg(x.in, x.in.RMField(), n)
}

// ofPlace is the same of a place.
func (y *way) ofPlace(p place) uint64 {
	for i := len(y.kept) - 1; i >= 0; i-- {
		switch k := &y.kept[i]; {
		case k.at.addr == p.addr && k.at.n >= p.n:
			return low(k.bits, p.n)
		case p.addr < k.at.addr+uint64(k.at.n) && k.at.addr < p.addr+uint64(p.n):
			return 0
		}
	}
	return 0
}

// leaves notes what constants have set of what an instruction leaves in a register.
func (y *way) leaves(x *exec, r x86.Reg, bits uint64, n uint8) {
	if high(x.in, r, n) {
		y.ones[r-4] = 0
		return
	}
	bits = low(bits, n)
	if n < 4 {
		bits |= y.ones[r] &^ low(^uint64(0), n)
	}
	y.ones[r] = bits
}

// leavesRM is the same of the r/m operand.
func (y *way) leavesRM(x *exec, bits uint64, n uint8) {
	if x.in.HasMem {
		y.keeps(x, low(bits, n))
		return
	}
	y.leaves(x, x.in.RMField(), bits, n)
}

// keeps is the same of a place.
func (y *way) keeps(x *exec, bits uint64) {
	if x.stores.n > 0 {
		y.kept = append(slices.DeleteFunc(y.kept, func(k ones) bool { return k.at == x.stores }), ones{x.stores, bits})
	}
}

// Tries is the first attempt to take a lock in the block at whose head a thread stands, and which
// word that is; 0 if there is none.
func (f *Follower) Tries(h *Head) (pc, word uint64) {
	y := way{w: f.w}
	y.begin(f.prog, h)
	a, _ := y.attempt(h.PC, func(g *gone) (uint64, bool) {
		next := g.pc + uint64(g.in.Len)
		return next, next < h.End
	})
	f.w = y.w
	if a.word == 0 {
		return 0, 0
	}
	return a.pc, a.word
}
