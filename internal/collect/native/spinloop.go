package native

import (
	"slices"

	"lime/internal/collect/known"
	"lime/internal/graph"
	"lime/internal/profile"
	"lime/internal/x86"
)

// A loop that changes nothing goes round until somebody else changes what it reads: it waits.
// Samples in it are no work, whoever wrote it. At most one counter may change, which gives up after
// so many times. A loop that tries to take a word by an atomic instruction, with the same values each
// time round, waits for a lock, and so does what waits inside of it (spintry.go).

// longestSpin is the number of instructions of a loop that is looked at.
const longestSpin = 64

// spinLoops marks the blocks whose innermost loop waits. text is the function's code.
func (c *code) spinLoops(f *function, p *graph.Proc, text []byte) {
	for l := range p.Loops {
		s, waits := c.waits(f, p, int32(l), text)
		if !waits {
			continue
		}
		for i := range p.Loops[l].Body {
			b := f.blocks[i]
			if p.Inner[i] == int32(l) {
				b.spins, b.saves = true, s.saved != nil
			}
			b.takes = b.takes || s.takes
		}
	}
}

// waits reports whether a loop waits, and what it does.
func (c *code) waits(f *function, p *graph.Proc, l int32, text []byte) (s spinState, waits bool) {
	n := uint32(0)
	for i, b := range f.blocks { // in the order of addresses, which is that of the source in a small loop
		if !p.Loops[l].Body[int32(i)] {
			continue
		}
		if n += b.instrs; n > longestSpin || !c.harmlessCall(b) {
			return s, false
		}
		at := b.addr - f.blocks[0].addr
		if at >= uint64(len(text)) || !s.block(text[at:], b) {
			return s, false
		}
	}
	return s, n > 0 && s.idle()
}

// harmlessCall reports whether a block calls nothing but what waits or yields.
func (c *code) harmlessCall(b *block) bool {
	switch b.kind {
	case profile.EndFall, profile.EndCond, profile.EndJump:
		return true
	case profile.EndCall:
		_, s, ok := c.images.symbol(c.callee(b.target))
		return ok && known.Waiting(s.Name)
	}
	return false
}

// spinState is what a loop does.
type spinState struct {
	written, carried x86.RegSet // written in the loop; read in it before it is written, so from the last time round
	stepped          x86.RegSet // changed by a constant
	addresses        x86.RegSet
	vecWritten       uint32
	vecCarried       uint32
	reads            bool
	saved            map[int32]register // slots of the stack frame in which a register waits for the end of a call
	used             []span             // of the stack frame that is read before a register is put there: from the last time round
	fixed            x86.RegSet         // the same each time round, if what is assumed is
	assumed          x86.RegSet         // taken for the same each time round: not written in the loop
	takes            bool               // it tries to take a word
}

// block takes in the instructions of a block; false if one of them changes memory.
func (s *spinState) block(text []byte, b *block) bool {
	var in x86.Inst
	for pc := b.addr; pc <= b.last; pc += uint64(in.Len) {
		at := pc - b.addr
		if at >= uint64(len(text)) || x86.Decode(text[at:], &in) != nil {
			return false
		}
		if !s.add(&in) {
			return false
		}
	}
	return true
}

// add takes in an instruction; false if it changes memory.
func (s *spinState) add(in *x86.Inst) bool {
	switch {
	case in.Branch == x86.BranchCall:
		s.reads = true // it yields
		return true
	case s.keeps(in):
		return true
	case tries(in):
		return s.take(in)
	case in.ImplicitWrite || in.Lock || in.X87 || in.HasMem && in.Mem.Write && in.Mem.Bytes > 0:
		return false
	}
	s.instruction(in)
	return true
}

// keeps reports whether an instruction puts a register on the stack for the time of a call, or takes
// it back from there: neither changes anything that the next time round sees.
func (s *spinState) keeps(in *x86.Inst) bool {
	r, moves := moved(in)
	if !moves || !in.HasMem || in.Mem.Base != x86.RSP || in.Mem.Index != x86.NoReg {
		return false
	}
	at := int32(in.Mem.Disp)
	was, ok := s.saved[at]
	if in.Mem.Read || ok {
		return ok && was == r
	}
	if slices.ContainsFunc(s.used, spanOf(in).meets) {
		return false
	}
	if s.saved == nil {
		s.saved = map[int32]register{}
	}
	s.saved[at] = r
	s.carried |= in.Reads &^ s.written
	s.vecCarried |= in.VecReads &^ s.vecWritten
	return true
}

// span is bytes of the stack frame.
type span struct{ from, to int32 }

func spanOf(in *x86.Inst) span {
	return span{int32(in.Mem.Disp), int32(in.Mem.Disp) + int32(in.Mem.Bytes)}
}

func (a span) meets(b span) bool { return a.from < b.to && b.from < a.to }

// register is a general one, or, as a set of one, a vector register.
type register struct {
	general x86.Reg
	vector  uint32
}

// moved is the register that an instruction moves from or to memory as it is: mov, and movups, movss,
// movapd, movdqu, movq and their like (Intel SDM vol. 2). Of a vector register a part may be moved: what
// is above it is nil from then on.
func moved(in *x86.Inst) (r register, ok bool) {
	switch {
	case in.Map == 0 && in.Enc == x86.Legacy:
		return register{general: regField(in)}, in.Opcode == 0x89 || in.Opcode == 0x8b
	case in.Map == 1:
		set := in.VecReads | in.VecWrites
		return register{vector: set}, set != 0 && set&(set-1) == 0 &&
			slices.Contains([]byte{0x10, 0x11, 0x28, 0x29, 0x6f, 0x7e, 0x7f, 0xd6}, in.Opcode)
	}
	return r, false
}

func (s *spinState) instruction(in *x86.Inst) {
	if in.HasMem && in.Mem.Bytes == 0 && in.Writes == 0 && in.VecWrites == 0 { // nop, prefetch
		return
	}
	s.reads = s.reads || in.HasMem && in.Mem.Read && in.Mem.Bytes > 0 || in.Name == "pause"
	if in.HasMem {
		s.addresses = s.addresses.With(in.Mem.Base).With(in.Mem.Index)
		if in.Mem.Base == x86.RSP && in.Mem.Read {
			s.used = append(s.used, spanOf(in))
		}
	}
	reads := in.Reads
	if clears(in) {
		reads = 0
	}
	s.carried |= reads &^ s.written
	s.settle(in, reads)
	s.vecCarried |= in.VecReads &^ s.vecWritten
	if steps(in) {
		s.stepped |= in.Writes
	}
	s.written |= in.Writes
	s.vecWritten |= in.VecWrites
}

// steps reports whether an instruction adds a constant to a register (Intel SDM vol. 2: add, sub,
// inc, dec).
func steps(in *x86.Inst) bool {
	digit := in.ModRM >> 3 & 7
	return in.Map == 0 && in.Enc == x86.Legacy && !in.HasMem &&
		((in.Opcode == 0x81 || in.Opcode == 0x83) && (digit == 0 || digit == 5) || in.Opcode == 0xff && digit <= 1)
}

// idle reports whether each time round is like the last one, but for a counter.
func (s *spinState) idle() bool {
	changes := s.written & s.carried
	counter := changes&(changes-1) == 0 && changes&^s.stepped == 0 && changes&s.addresses == 0
	return s.reads && counter && s.vecWritten&s.vecCarried == 0 &&
		(!s.takes || s.assumed&s.written == 0)
}
