package spin

import (
	"lime/internal/collect/busywait"
	"lime/internal/x86"
)

// place is some bytes of memory; n is 0 if there are none.
type place struct {
	addr uint64
	n    uint8
}

// exec is an instruction that was executed.
type exec struct {
	pc     uint64
	in     *x86.Inst
	loads  place
	loaded uint64
	secret bool // what it loads is not known (imagined rounds)
	sleeps bool // it is a system call in which the thread waits (imagined rounds)
	clock  bool // what it leaves is of the clock
	blind  bool // what it loads into a vector register is not looked at
	stores place
	tries  bool // it is an attempt to take a lock: what it stores is what it finds, or it ends the loop
	takes  bool // it is one of a lock: it would store something else than it asks for, and not nil
	silent bool // it stores what is there
	compared
}

// compared is what flags were computed from: a-b, or a alone compared with 0. width is in bits, 0 if
// that is not known.
type compared struct {
	a, b           uint64
	width          uint8
	partly, signed bool // which of the flags are not those of cmp a, b (bound.go)
}

// under is the comparison that a condition makes of it.
func (c *compared) under(cond uint8) comparison {
	return comparison{moves: c.a, stays: c.b, width: c.width, cond: cond, partly: c.partly, signed: c.signed}
}

// changes reports whether an instruction may change memory that the loop reads.
func (x *exec) changes() bool { return x.stores.n > 0 && !x.tries && !x.silent }

// walker follows the values of the general-purpose registers through one block, as far as they are
// known.
type walker struct {
	prog   Program
	regs   [16]uint64
	known  uint16
	lows   uint16 // of which others the lowest byte is known
	fs     uint64
	sp     uint64 // at the head of the block
	stored []held // by this block
	flags  compared
	access []x86.Access
	// imagines: what is loaded need not be known.
	imagines bool
}

// held is what a store of the block has left in a place.
type held struct {
	at    place
	value uint64
	known bool
}

func (w *walker) begin(p Program, h *Head) {
	w.prog, w.regs, w.fs, w.known, w.lows, w.sp = p, h.Regs, h.FSBase, 0xffff, 0, h.Regs[x86.RSP]
	w.stored, w.imagines, w.flags = w.stored[:0], false, compared{}
}

// reg is the value of a register.
func (w *walker) reg(r x86.Reg) (uint64, bool) {
	if r == x86.NoReg {
		return 0, true
	}
	if r >= 16 {
		return 0, false
	}
	return w.regs[r], w.known>>r&1 != 0
}

func (w *walker) set(r x86.Reg, v uint64, known bool) {
	w.known &^= 1 << r
	if known {
		w.regs[r] = v
		w.known |= 1 << r
	}
}

// forget takes what an instruction writes not to be known.
func (w *walker) forget(in *x86.Inst) {
	w.known &^= uint16(in.Writes)
	w.lows &^= uint16(in.Writes)
}

// address is an effective address.
func (w *walker) address(m *x86.Mem, next uint64) (uint64, bool) {
	if m.VSIB || m.Addr32 || m.Seg == 0x65 {
		return 0, false
	}
	base, ok := next, true
	if m.Base != x86.RIP {
		base, ok = w.reg(m.Base)
	}
	index, ok2 := w.reg(m.Index)
	if m.Seg == 0x64 {
		base += w.fs
	}
	return base + index*uint64(max(m.Scale, 1)) + uint64(int64(m.Disp)), ok && ok2
}

// load is what a place holds for an instruction of this block.
func (w *walker) load(p place) (uint64, bool) {
	for i := len(w.stored) - 1; i >= 0; i-- {
		s := &w.stored[i]
		if s.at == p {
			return s.value, s.known
		}
		if p.addr < s.at.addr+uint64(s.at.n) && s.at.addr < p.addr+uint64(p.n) {
			return 0, false
		}
	}
	return w.prog.Load(p.addr, int(p.n))
}

// run follows one instruction; ok is false if it reads or writes memory at a place that cannot be
// told, or loads what cannot be read.
func (w *walker) run(in *x86.Inst, pc uint64) (x exec, ok bool) {
	x = exec{pc: pc, in: in, tries: busywait.Tries(in)}
	next := pc + uint64(in.Len)
	w.access = in.Accesses(w.access[:0])
	if movesVector(in) {
		return x, w.spill(&x, next)
	}
	for i := range w.access {
		a := &w.access[i]
		addr, ok := w.address(&a.Mem, next)
		if !ok || a.Bytes == 0 || a.Bytes > 8 || a.Rep {
			return x, false
		}
		p := place{addr, uint8(a.Bytes)}
		if a.Read {
			if x.loads.n > 0 {
				return x, false // two places: no loop that waits does that
			}
			x.loads = p
		}
		if a.Write {
			x.stores = p
		}
	}
	x.takes = x.tries && !w.onlyLooks(in) && !w.clearsWord(in)
	lknown := false
	if x.loads.n > 0 {
		x.loaded, lknown = w.load(x.loads)
		if x.secret = !lknown; x.secret && !w.imagines {
			return x, false
		}
	}
	w.effect(&x, in, next)
	if in.FlagsWrite != 0 {
		w.flags = x.compared
	}
	return x, x.stores.n == 0 || w.mayStore(&x)
}

// mayStore reports whether nobody else sees a store: it goes to the thread's own stack, stores what
// is there, or is an attempt to take a lock.
func (w *walker) mayStore(x *exec) bool {
	if x.tries || w.ownStack(x.stores) {
		return true
	}
	s := &w.stored[len(w.stored)-1]
	was, ok := w.prog.Load(x.stores.addr, int(x.stores.n))
	x.silent = ok && s.known && s.value == was
	return x.silent
}

// ownStack reports whether a place is on the thread's own stack.
func (w *walker) ownStack(p place) bool { return p.addr-w.sp+redZone < stackReach }

// redZone is what a function may use below the stack pointer, and what it pushes (System V ABI
// AMD64, 3.2.2).
const redZone = 4096

// onlyLooks reports whether a cmpxchg would leave what it asks for.
func (w *walker) onlyLooks(in *x86.Inst) bool {
	if in.Name != "cmpxchg" {
		return false
	}
	was, ok := w.reg(x86.RAX)
	will, ok2 := w.reg(in.RegField())
	return !ok || !ok2 || was == will
}

// clearsWord reports whether an attempt would leave nil, or without a bit that it asks for, as who
// takes an item from where another one has put it, or a word for what another one has stored there.
func (w *walker) clearsWord(in *x86.Inst) bool {
	o := operands{w: w, in: in}
	will, ok := o.get(in.RegField(), o.size())
	if in.Name == "bts" || !ok {
		return false
	}
	was, ok := o.get(x86.RAX, o.size())
	return will == 0 || in.Name == "cmpxchg" && ok && was&^will != 0
}

// effect computes what the instruction leaves in registers and memory.
func (w *walker) effect(x *exec, in *x86.Inst, next uint64) {
	r := result{}
	if f := ops()[opOf(in)]; f != nil {
		r = f(&operands{w: w, in: in, x: x, next: next})
	}
	sp, spKnown := w.reg(x86.RSP)
	bp, bpKnown := w.reg(x86.RBP)
	w.forget(in)
	if d := stackMove(in); d != 0 {
		w.set(x86.RSP, sp+uint64(d), spKnown)
	}
	if opOf(in) == leave {
		w.set(x86.RSP, bp+8, bpKnown)
	}
	switch {
	case r.known && r.dst < 16:
		w.set(r.dst, r.value, true)
	case r.low && r.dst < 16:
		w.regs[r.dst], w.lows = r.value, w.lows|1<<r.dst
	}
	if x.stores.n > 0 && !x.tries {
		w.stored = append(w.stored, held{x.stores, r.stored, r.storeKnown})
	}
}

// destination is the register by which an instruction is about to go elsewhere: the address of a
// jump, or the number of a system call.
func (w *walker) destination(in *x86.Inst) (uint64, bool) {
	if in.Branch == x86.BranchSyscall {
		return w.reg(x86.RAX)
	}
	return w.reg(in.RMField())
}

// leads is where an instruction leads that neither decides nor calls the system; to is where its
// register says.
func (x *exec) leads(to uint64, known bool) (uint64, bool) {
	switch x.in.Branch {
	case x86.BranchNone:
		return x.pc + uint64(x.in.Len), true
	case x86.BranchJump, x86.BranchCall:
		return x.in.Target(x.pc), true
	case x86.BranchRet:
		return x.loaded, x.loads.n == 8 && !x.secret
	case x86.BranchJumpInd, x86.BranchCallInd:
		if x.in.HasMem {
			return x.loaded, x.loads.n == 8 && !x.secret
		}
		return to, known
	}
	return 0, false
}

// stackMove is by how much an instruction moves the stack pointer, if it pushes or pops.
func stackMove(in *x86.Inst) int64 {
	switch {
	case in.Name == "push" || in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd:
		return -8
	case in.Name == "pop" || in.Branch == x86.BranchRet && in.ImmLen == 0:
		return 8
	}
	return 0
}

// harmless reports whether an instruction may be in a loop that waits, as far as that can be told
// without its operands.
func harmless(in *x86.Inst) bool {
	vector := in.SSE || in.AVX || in.AVX512
	if in.X87 || vector && !movesVector(in) && !computesVector(in) || in.BitString || in.Special == x86.SpecialRep ||
		in.Special != x86.SpecialNone && in.Special != x86.SpecialPause && in.Special != x86.SpecialSerial &&
			!ReadsTicks(in) {
		return false
	}
	return !in.ImplicitWrite || !isString(in)
}

// isString recognises the string instructions that write (Intel SDM vol. 2: MOVS A4, A5; STOS AA,
// AB; INS 6C, 6D).
func isString(in *x86.Inst) bool {
	switch in.Opcode {
	case 0xa4, 0xa5, 0xaa, 0xab, 0x6c, 0x6d:
		return in.Map == 0
	}
	return false
}
