package sim

import (
	"slices"

	"lime/internal/engine"
	"lime/internal/waste"
	"lime/internal/waste/reason"
)

// why names the reason of a pair by the code around it.
func (m *wasteMeter) why(p *placedPair) string {
	r := reason.Pair{Kind: p.kind, Again: p.first == p.second, First: m.traits(p.first), Second: m.traits(p.second),
		Fixed: p.votes.one(), Several: p.votes.all > 1 && !p.votes.one(), Stack: p.votes.stack(), Recomputed: p.kind == waste.SilentStore && m.recomputed(p.second.pc)}
	return r.Word()
}

// recomputed reports whether most of the silent stores of an instruction were computed from silent
// loads only. Of the times that its blocks ran, a load was not silent in as many as are left over:
// at most so many silent stores had that load new.
func (m *wasteMeter) recomputed(pc uint64) bool {
	var from []uint64
	for _, b := range m.blocks {
		if b == nil {
			continue
		}
		for k := range b.accesses {
			a := &b.accesses[k]
			if a.pc != pc || a.what == accessLoad {
				continue
			}
			if len(a.feeds) == 0 || from != nil && !slices.Equal(from, a.feeds) {
				return false
			}
			from = a.feeds
		}
	}
	ran := m.times(pc)
	silent, fresh := m.found[wasteEvent{waste.SilentStore, pc}], uint64(0)
	for _, load := range from {
		fresh += ran - min(ran, m.found[wasteEvent{waste.SilentLoad, load}])
	}
	return from != nil && 2*fresh < silent
}

// times is how often an instruction ran: what a block counted that was split counts for its parts, also
// for those that were never come to again.
func (m *wasteMeter) times(pc uint64) (n uint64) {
	for id, x := range m.r.eng.Blocks() {
		if pc-x.PC < uint64(x.Size) {
			n += m.ran[engine.BlockID(id)]
		}
	}
	return n
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
