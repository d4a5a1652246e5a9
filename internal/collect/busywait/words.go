// Words that are looked at, and attempts to take them.

package busywait

import "lime/internal/x86"

// word is a place in memory whose address is the same each time round.
type word struct {
	base, index x86.Reg
	scale       uint8
	disp        int64 // of one that is addressed from the next instruction: all of its address
	seg         uint8
	bytes       uint16
}

// mostWords is as many as there is room for in state.free.
const mostWords = 64

// wordAt is the number of the word that is an instruction's memory operand, from 1 on; 0 if there are
// too many, or its address depends on something. next is behind the instruction.
func (a *analysis) wordAt(in *x86.Inst, next uint64, deps set) int8 {
	if deps != 0 {
		return 0
	}
	m := &in.Mem
	w := word{m.Base, m.Index, m.Scale, int64(m.Disp), m.Seg, m.Bytes}
	if m.Base == x86.RIP {
		w.disp += int64(next)
	}
	for i := range a.words {
		if a.words[i] == w {
			return int8(i + 1)
		}
	}
	if len(a.words) == mostWords {
		return 0
	}
	a.words = append(a.words, w)
	return int8(len(a.words))
}

// bit is a word's in state.free.
func bit(word int8) uint64 {
	if word == 0 {
		return 0
	}
	return 1 << (word - 1)
}

// try takes in an attempt.
func (a *analysis) try(s *state, in *x86.Inst) {
	found := a.load(s, in)
	t := attempt{at: a.at, put: constant(nonzero), compares: compares(in), raced: s.free&bit(found.word) != 0}
	r, byteOnly := in.RegField(), readsByte(in)
	found.word = 0 // it may hold something else then
	switch {
	case t.compares:
		t.put, t.expects = s.get(r, byteOnly), s.get(x86.RAX, byteOnly)
		s.flags = found.with(t.expects)
		v := s.flags
		v.narrow = narrow(in)
		s.set(x86.RAX, byteOnly, v)
	case in.Map == 0:
		t.put = s.get(r, byteOnly)
		found.narrow = narrow(in)
		s.set(r, byteOnly, found)
	default:
		s.flags = found
	}
	a.round.attempts = append(a.round.attempts, t)
}

// refine notes what a branch tells of what was compared with a constant: on the way on which they are
// equal a register holds that constant, if that is all of it, and a word that. It is what was loaded
// all the same.
func (a *analysis) refine(taken, fall *state, b *Block) {
	n := len(b.Insts)
	if n < 2 || b.Insts[n-1].Branch != x86.BranchCond || b.Insts[n-1].Cond>>1 != 2 {
		return
	}
	equal := taken
	if b.Insts[n-1].Cond&1 == 1 { // jne
		equal = fall
	}
	in := &b.Insts[n-2]
	if in.HasMem {
		equal.free |= bit(a.zeroWord(equal, in, a.next-uint64(b.Insts[n-1].Len)))
		return
	}
	r, k, ok := compared(in)
	if !ok {
		return
	}
	v := equal.get(r, ofBytes(in))
	if k == zero && (v.word == 0 || a.words[v.word-1].bytes <= width(in)) {
		equal.free |= bit(v.word)
	}
	if in.Rex&rexW != 0 || v.narrow && !ofBytes(in) {
		equal.know(r, k)
	}
}

// zeroWord is the word that an instruction compares with zero where it lies, or in a slot. next is
// behind the instruction.
func (a *analysis) zeroWord(s *state, in *x86.Inst, next uint64) int8 {
	if !in.Mem.Read || in.Imm != 0 || in.Map != 0 || in.Enc != x86.Legacy || in.Opcode&^3 != 0x80 || in.Digit() != 7 { // cmp
		return 0
	}
	if place, found, _ := a.place(in); found {
		return s.at[place].word
	}
	return a.wordAt(in, next, s.address(in))
}

// width is the size of what is compared, in bytes.
func width(in *x86.Inst) uint16 {
	switch {
	case ofBytes(in):
		return 1
	case in.Rex&rexW != 0:
		return 8
	}
	return 4
}

// compared is the register that an instruction compares with a constant: test r, r and cmp of a
// constant, of bytes, or of 32 or 64 bits.
func compared(in *x86.Inst) (r x86.Reg, k knowledge, ok bool) {
	if in.Map != 0 || in.Enc != x86.Legacy || in.OpSize16 {
		return 0, unknown, false
	}
	switch in.Opcode {
	case 0x84:
		return in.RMField(), zero, in.RegField() == in.RMField() && ofBytes(in)
	case 0x85:
		return in.RMField(), zero, in.RegField() == in.RMField()
	case 0x80:
		return in.RMField(), knownAs(in.Imm), in.Digit() == 7 && ofBytes(in)
	case 0x81, 0x83:
		return in.RMField(), knownAs(in.Imm), in.Digit() == 7
	case 0x3c, 0x3d:
		return x86.RAX, knownAs(in.Imm), true
	}
	return 0, unknown, false
}
