package machine

import "math/bits"

// predictor predicts conditional branches.
type predictor interface {
	// update predicts the branch at pc, learns its outcome, and reports whether the prediction was right.
	update(pc uint64, taken bool) (right bool)
}

// predictorTable lists the predictors by their name in descriptions.
func predictorTable() []struct {
	name string
	make func(bits int) predictor
} {
	return []struct {
		name string
		make func(bits int) predictor
	}{
		{"tage", func(b int) predictor { return newTage(b) }},
		{"gshare", func(b int) predictor { return newGshare(b, b) }},
		{"bimodal", func(b int) predictor { return newGshare(b, 0) }},
		{"perfect", func(int) predictor { return perfect{} }},
	}
}

func predictorNames() []string {
	var names []string
	for _, p := range predictorTable() {
		names = append(names, p.name)
	}
	return names
}

func newPredictor(d CoreDesc) predictor {
	for _, p := range predictorTable() {
		if p.name == d.Predictor {
			return p.make(d.PredBits)
		}
	}
	return perfect{}
}

type perfect struct{}

func (perfect) update(uint64, bool) bool { return true }

// gshare indexes a table of two-bit counters by the address exclusive-or the global
// history (McFarling, "Combining Branch Predictors", 1993); without history it is
// the bimodal predictor.
type gshare struct {
	counters []uint8
	history  uint64
	mask     uint64
	keep     uint64 // history bits kept
}

func newGshare(bits, historyBits int) *gshare {
	g := &gshare{counters: make([]uint8, 1<<bits), mask: 1<<bits - 1, keep: 1<<historyBits - 1}
	for i := range g.counters {
		g.counters[i] = 1
	}
	return g
}

func (g *gshare) update(pc uint64, taken bool) bool {
	c := &g.counters[(pc^pc>>7^g.history)&g.mask]
	right := (*c >= 2) == taken
	if taken {
		if *c < 3 {
			*c++
		}
		g.history = g.history<<1&g.keep | 1&g.keep
	} else {
		if *c > 0 {
			*c--
		}
		g.history = g.history << 1 & g.keep
	}
	return right
}

// tage is a small TAGE predictor: a bimodal table, and tagged tables over histories of
// geometrically growing length (Seznec and Michaud, "A case for (partially) tagged
// geometric history length branch prediction", 2006). The longest history that knows the branch
// decides; the alternate prediction is the bimodal one. A branch that the bimodal table has always
// got right has no entries elsewhere, and is not looked for there. A loop predictor stands before it.
type tage struct {
	base    []uint8  // two-bit counter, and tagged
	entries []uint32 // of all tables, one table behind the other
	size    uint64   // of a table
	history uint64
	loops   loops
	settled uint64 // the branch and the way that it went last (branchWay) if the tables and what they see of the history stay as they are when it does so again
}

const (
	tageTables = 4
	tagged     = 0x80 // in base: the tagged tables may know the branch
)

// An entry is a tag of 16 bits, a counter from 0 (surely not taken) to 7 (surely taken) and two bits that say how useful it has been.
const (
	entryTag    = 1<<16 - 1
	entryCtr    = 16 // shift
	entryUseful = 24
)

// What each table looks at: the newest 5, 12, 27 and 60 outcomes.
const (
	history0 = 1<<5 - 1
	history1 = 1<<12 - 1
	history2 = 1<<27 - 1
	history3 = 1<<60 - 1
)

func newTage(bits int) *tage {
	p := &tage{base: make([]uint8, 1<<bits), entries: make([]uint32, tageTables<<bits), size: 1 << bits}
	for i := range p.base {
		p.base[i] = 2
	}
	return p
}

// slots are where a branch's entries are and what tags they have, by table: see slot.
type slots [tageTables]uint64

// slots are those of a branch behind a history.
func (p *tage) slots(pc, h uint64) slots {
	const mix = 0xbf58476d1ce4e5b9
	key := pc * 0x9e3779b97f4a7c15
	return slots{(h&history0 ^ key) * mix, (h&history1 ^ key) * mix, (h&history2 ^ key) * mix, (h&history3 ^ key) * mix}
}

// entry is a branch's entry in a table, which is another branch's if its tag is not the branch's.
func (p *tage) entry(table int, slot uint64) *uint32 {
	return &p.entries[uint64(table)*p.size+slot>>32&(p.size-1)]
}

func slotTag(slot uint64) uint32 { return uint32(slot>>48) | 1 }

// knows is 1 if the branch's entry in a table has its tag, else 0.
func (p *tage) knows(table int, slot uint64) uint32 {
	return ((*p.entry(table, slot)&entryTag ^ slotTag(slot)) - 1) >> 31
}

// branchWay is a branch and the way that it goes.
func branchWay(pc uint64, taken bool) uint64 { return 1<<63 | pc<<1 | bit(taken) }

func (p *tage) update(pc uint64, taken bool) (right bool) {
	loop := p.loops.of(pc)
	if p.settled == branchWay(pc, taken) {
		if loop.pc == pc {
			loop.learn(taken)
		}
		return true
	}
	before := p.history
	p.history = before<<1 | bit(taken)
	p.settled = 0
	if loop.knows(pc) {
		return loop.step(taken)
	}
	right, same := p.ask(pc, before, taken)
	if loop.pc == pc {
		loop.learn(taken)
	} else if !right {
		loop.adopt(pc, taken)
	}
	if same && (p.history^before)&history3 == 0 {
		p.settled = branchWay(pc, taken)
	}
	return right
}

// rounds is update for a branch that goes the same way up to n times, as far as that is a matter of course: it returns
// for how many of them.
func (p *tage) rounds(pc uint64, taken bool, n uint64) uint64 {
	loop := p.loops.of(pc)
	if p.settled == branchWay(pc, taken) {
		return loop.follow(pc, taken, n)
	}
	if !loop.knows(pc) || loop.usual != taken || loop.done >= loop.trip {
		return 0
	}
	n = min(n, uint64(loop.trip-loop.done))
	loop.done += uint32(n)
	p.settled = 0
	p.history <<= n
	if taken {
		p.history |= 1<<n - 1
	}
	return n
}

// ask predicts and learns without the loop predictor, with the history before the branch. same: there was nothing to learn.
func (p *tage) ask(pc, history uint64, taken bool) (right, same bool) {
	b := &p.base[(pc^pc>>9)&uint64(len(p.base)-1)]
	if *b&tagged != 0 {
		return p.consult(b, pc, history, taken)
	}
	before := *b
	*b = count(before, taken)
	if right = before&2 != 0 == taken; !right {
		s := p.slots(pc, history)
		p.startTagged(b, &s, taken)
	}
	return right, *b == before
}

// startTagged gives a branch that the bimodal counter has got wrong an entry with some history.
func (p *tage) startTagged(b *uint8, s *slots, taken bool) {
	*b |= tagged
	p.allocate(0, s, taken)
}

// consult asks the entry with the longest history that knows the branch, and the bimodal counter if there is none.
func (p *tage) consult(b *uint8, pc, history uint64, taken bool) (right, same bool) {
	s := p.slots(pc, history)
	known := p.knows(0, s[0]) | p.knows(1, s[1])<<1 | p.knows(2, s[2])<<2 | p.knows(3, s[3])<<3
	simple := *b&2 != 0
	if known == 0 {
		if simple != taken {
			p.startTagged(b, &s, taken)
		}
		before := *b
		*b = tagged | count(before&3, taken)
		return simple == taken, *b == before
	}
	t := (bits.Len32(known) - 1) & (tageTables - 1)
	e := p.entry(t, s[t])
	before := *e
	ctr := before >> entryCtr & 7
	predicted := ctr >= 4
	right = predicted == taken
	if predicted != simple {
		*e = *e&^(3<<entryUseful) | uint32(count(uint8(*e>>entryUseful), right))<<entryUseful
	}
	if want := uint32(7 * bit(taken)); ctr != want {
		*e += (uint32(bit(taken))*2 - 1) << entryCtr
	}
	if !right {
		p.allocate(t+1, &s, taken)
	}
	return right, right && *e == before
}

// allocate gives the branch an entry in the first table from t on that can spare one.
func (p *tage) allocate(t int, s *slots, taken bool) {
	for u := t; u < tageTables; u++ {
		if e := p.entry(u, s[u]); *e>>entryUseful == 0 {
			*e = slotTag(s[u]) | uint32(3+bit(taken))<<entryCtr
			return
		}
	}
	for u := t; u < tageTables; u++ {
		*p.entry(u, s[u]) -= 1 << entryUseful
	}
}

// count moves a two-bit counter.
func count(c uint8, up bool) uint8 {
	if up {
		return min(c+1, 3)
	}
	return max(c, 1) - 1
}
