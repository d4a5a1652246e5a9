package sim

import "lime/internal/waste/reason"

// why names the reason of a pair by the code around it.
func (m *wasteMeter) why(p *placedPair) string {
	r := reason.Pair{Kind: p.kind, Again: p.first == p.second, First: m.traits(p.first), Second: m.traits(p.second),
		Fixed: p.votes.one(), Stack: p.votes.stack()}
	return r.Word()
}

// traits are those of an instruction: what all blocks say that hold it.
func (m *wasteMeter) traits(s placedSide) reason.Traits { return m.traitsAt[s.pc] }

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
