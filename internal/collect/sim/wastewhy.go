package sim

// Why memory work is wasted, by rules over the instructions of a pair. Where none fits, nothing is
// said.

import (
	"strings"

	"lime/internal/engine"
	"lime/internal/waste"
	"lime/internal/x86"
)

// traits are what an instruction tells of an access.
type traits uint8

const (
	inFrame  traits = 1 << iota // at a fixed place of a function's frame
	constant                    // it stores what does not depend on anything
	compared                    // what it loads decides over a branch that ends the block
)

// traitsOf looks at instruction i, which has an access at mem, and at those around it.
func traitsOf(insts []x86.Inst, i int, acc *engine.Logged, end engine.End) (t traits) {
	in := &insts[i]
	address := regs(acc.Base) | regs(acc.Index)
	if acc.Index == x86.NoReg && (acc.Base == x86.RSP || acc.Base == x86.RBP) {
		t |= inFrame
	}
	immediate := in.Name == "mov" && in.ImmLen > 0
	if acc.Write && (immediate || in.VecReads != 0 && in.Reads&^address == 0 && cleared(insts[:i], in.VecReads)) {
		t |= constant
	}
	if acc.Read && !acc.Write && end == engine.EndCond && compares(insts, i) {
		t |= compared
	}
	return t
}

func regs(r x86.Reg) (s x86.RegSet) {
	if r < 16 {
		s = s.With(r)
	}
	return s
}

// cleared reports whether a vector register was made zero by the last instruction that wrote it.
func cleared(insts []x86.Inst, reg uint32) bool {
	for i := len(insts) - 1; i >= 0; i-- {
		if in := &insts[i]; in.VecWrites&reg != 0 {
			name := strings.TrimPrefix(in.Name, "v")
			return (name == "pxor" || name == "xorps" || name == "xorpd") && in.VecReads&^in.VecWrites == 0
		}
	}
	return false
}

// compares reports whether instruction i compares what it loads, or the last comparison behind it
// does.
func compares(insts []x86.Inst, i int) bool {
	comparing := func(in *x86.Inst) bool { return in.Name == "cmp" || in.Name == "test" }
	if comparing(&insts[i]) {
		return true
	}
	got := insts[i].Writes
	for k := i + 1; k < len(insts); k++ {
		if comparing(&insts[k]) && insts[k].Reads&got != 0 {
			return true
		}
		got &^= insts[k].Writes
	}
	return false
}

// why names the reason of a pair by the first rule that fits; report has the words.
func (m *wasteMeter) why(p *placedPair) string {
	again := p.first == p.second
	fixed := again && p.votes.one()
	first, second := m.traits(p.first), m.traits(p.second)
	switch p.kind {
	case waste.DeadStore:
		switch {
		case first&constant != 0 && !again:
			return "initialisation"
		case fixed:
			return "running-value"
		}
	case waste.SilentStore:
		if again && second&constant != 0 {
			return "invariant-store"
		}
	case waste.SilentLoad:
		switch {
		case first&second&inFrame != 0 && p.votes.stack():
			return "spill"
		case fixed:
			return "invariant-load"
		case again && second&compared != 0:
			return "search"
		}
	}
	return ""
}

// traits are those of an instruction: what all blocks say that hold it.
func (m *wasteMeter) traits(s placedSide) traits { return m.traitsAt[s.pc] }

func (m *wasteMeter) learn(b *wasteBlock) {
	for k := range b.accesses {
		a := &b.accesses[k]
		if old, ok := m.traitsAt[a.pc]; ok {
			m.traitsAt[a.pc] = old & a.traits
		} else {
			m.traitsAt[a.pc] = a.traits
		}
	}
}

// one reports whether all samples were at one address.
func (v *votes) one() bool {
	return v.all > 1 && len(v.list) == 1 && v.list[0].lo == v.list[0].hi &&
		(v.list[0].kind == placeSymbol || v.list[0].kind == placeHeap)
}

// stack reports whether all samples were on the thread's own stack.
func (v *votes) stack() bool { return len(v.list) == 1 && v.list[0].kind == placeStack }
