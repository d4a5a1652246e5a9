package machine

import "math/bits"

// predictor predicts conditional branches.
type predictor interface {
	// update predicts the branch at pc, learns its outcome, and reports whether the prediction was
	// right.
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
// geometrically growing length (Seznec and Michaud, "A case for (partially) tagged geometric
// history length branch prediction", 2006). The longest history that knows the branch decides; the
// alternate prediction is the bimodal one. A branch that the bimodal table has always got right has
// no entries elsewhere, and is not looked for there. A loop predictor stands before it.
type tage struct {
	base    []uint8  // two-bit counter, and tagged
	entries []uint32 // of all tables, one table behind the other
	size    uint64   // of a table
	history uint64
	loops   loops
	// the branch and the way that it went last (branchWay) if the tables and what they see of the
	// history stay as they are when it does so again
	settled uint64
}

const (
	tageTables = 4
	tagged     = 0x80 // in base: the tagged tables may know the branch
)

// An entry is a tag of 16 bits, a counter from 0 (surely not taken) to 7 (surely taken) and two
// bits that say how useful it has been.
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

// hashes says where a branch's entries are and what tags they have, by table: the high 16 bits are
// the tag, but that the lowest bit of a tag is set; the low bits of the high half are the place in
// the table.
func hashes(pc, history uint64) (x0, x1, x2, x3 uint64) {
	const mix = 0xbf58476d1ce4e5b9
	key := pc * 0x9e3779b97f4a7c15
	return (history&history0 ^ key) * mix, (history&history1 ^ key) * mix, (history&history2 ^ key) * mix, (history&history3 ^ key) * mix
}

func hashTag(x uint64) uint32 { return uint32(x>>48) | 1 }

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
	if same && (p.history^before)&history3 == 0 {
		p.settled = branchWay(pc, taken)
	}
	if loop.pc == pc {
		loop.learn(taken)
	} else if !right {
		loop.adopt(pc, taken)
	}
	return right
}

// rounds is update for a branch that goes the same way up to n times, as far as that is a matter of
// course: it returns for how many of them.
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

// ask predicts and learns without the loop predictor, with the history before the branch: it asks
// the entry with the longest history that knows the branch, and the bimodal counter if there is
// none. same: there was nothing to learn.
func (p *tage) ask(pc, history uint64, taken bool) (right, same bool) {
	b := &p.base[(pc^pc>>9)&uint64(len(p.base)-1)]
	counter := *b
	if counter&tagged == 0 {
		return p.askSimple(b, counter, pc, history, taken)
	}
	entries, size, low := p.entries, p.size, p.size-1
	x0, x1, x2, x3 := hashes(pc, history)
	at := [tageTables]uint64{x0 >> 32 & low, size + x1>>32&low, 2*size + x2>>32&low, 3*size + x3>>32&low}
	d0, d1 := entries[at[0]]&entryTag^hashTag(x0), entries[at[1]]&entryTag^hashTag(x1)
	d2, d3 := entries[at[2]]&entryTag^hashTag(x2), entries[at[3]]&entryTag^hashTag(x3)
	known := (d0-1)>>31 | (d1-1)>>31<<1 | (d2-1)>>31<<2 | (d3-1)>>31<<3
	if known == 0 {
		return p.askSimple(b, counter, pc, history, taken)
	}
	t := (bits.Len32(known) - 1) & (tageTables - 1)
	e := &entries[at[t]]
	before := *e
	predicted := before>>entryCtr&4 != 0
	right = predicted == taken
	if predicted == (counter&2 != 0) && right && before>>entryCtr&7 == uint32(7*bit(taken)) {
		return true, true
	}
	p.learn(e, counter, taken)
	if !right {
		p.allocate(t+1, pc, history, taken)
	}
	return right, right && *e == before
}

// learn teaches the entry that a branch was predicted by, beside its bimodal counter, how it went.
func (p *tage) learn(e *uint32, counter uint8, taken bool) {
	ctr := *e >> entryCtr & 7
	predicted := ctr >= 4
	if predicted != (counter&2 != 0) {
		*e = *e&^(3<<entryUseful) | uint32(count(uint8(*e>>entryUseful), predicted == taken))<<entryUseful
	}
	if want := uint32(7 * bit(taken)); ctr != want {
		*e += (uint32(bit(taken))*2 - 1) << entryCtr
	}
}

// askSimple predicts and learns by the bimodal counter alone; where that is wrong, the branch gets
// an entry with some history.
func (p *tage) askSimple(b *uint8, counter uint8, pc, history uint64, taken bool) (right, same bool) {
	*b = counter&tagged | count(counter&3, taken)
	if right = counter&2 != 0 == taken; !right {
		*b |= tagged
		p.allocate(0, pc, history, taken)
	}
	return right, *b == counter
}

// allocate gives the branch an entry in the first table from t on that can spare one.
func (p *tage) allocate(t int, pc, history uint64, taken bool) {
	x0, x1, x2, x3 := hashes(pc, history)
	at := func(u int, x uint64) *uint32 { return &p.entries[uint64(u)*p.size+x>>32&(p.size-1)] }
	for u, x := range [...]uint64{x0, x1, x2, x3} {
		if e := at(u, x); u >= t && *e>>entryUseful == 0 {
			*e = hashTag(x) | uint32(3+bit(taken))<<entryCtr
			return
		}
	}
	for u, x := range [...]uint64{x0, x1, x2, x3} {
		if u >= t {
			*at(u, x) -= 1 << entryUseful
		}
	}
}

// count moves a two-bit counter.
func count(c uint8, up bool) uint8 {
	if up {
		return min(c+1, 3)
	}
	return max(c, 1) - 1
}
