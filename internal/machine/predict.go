package machine

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
// got right has no entries elsewhere, and is not looked for there.
type tage struct {
	base    []uint8 // two-bit counter, and tagged
	tables  [tageTables][]tageEntry
	masks   [tageTables]uint64 // history that each table looks at
	history uint64
}

const (
	tageTables = 4
	tagged     = 0x80 // in base: the tagged tables may know the branch
)

type tageEntry struct {
	tag    uint16
	ctr    int8 // -4..3
	useful uint8
}

// tageMasks keep the newest 5, 12, 27 and 60 outcomes.
func tageMasks() [tageTables]uint64 {
	return [...]uint64{1<<5 - 1, 1<<12 - 1, 1<<27 - 1, 1<<60 - 1}
}

func newTage(bits int) *tage {
	p := &tage{base: make([]uint8, 1<<bits), masks: tageMasks()}
	for i := range p.base {
		p.base[i] = 2
	}
	for t := range p.tables {
		p.tables[t] = make([]tageEntry, 1<<bits)
	}
	return p
}

// slot returns the entry of table t for a branch, and its tag.
func (p *tage) slot(t int, pc uint64) (*tageEntry, uint16) {
	x := (p.history&p.masks[t] ^ pc*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	table := p.tables[t]
	return &table[x>>32&uint64(len(table)-1)], uint16(x>>48) | 1
}

func (p *tage) update(pc uint64, taken bool) (right bool) {
	b := &p.base[(pc^pc>>9)&uint64(len(p.base)-1)]
	if *b&tagged != 0 {
		right = p.consult(b, pc, taken)
	} else {
		right = p.simple(b, pc, taken)
	}
	p.history <<= 1
	if taken {
		p.history |= 1
	}
	return right
}

// simple predicts and learns by the bimodal counter alone; where that is wrong, the
// branch gets an entry with some history.
func (p *tage) simple(b *uint8, pc uint64, taken bool) bool {
	right := *b&2 != 0 == taken
	*b = *b&tagged | count(*b&3, taken)
	if !right {
		*b |= tagged
		p.allocate(0, pc, taken)
	}
	return right
}

// consult looks for the entry with the longest history that knows the branch.
func (p *tage) consult(b *uint8, pc uint64, taken bool) bool {
	for t := tageTables - 1; t >= 0; t-- {
		e, tag := p.slot(t, pc)
		if e.tag != tag {
			continue
		}
		predicted := e.ctr >= 0
		right := predicted == taken
		if predicted != (*b&2 != 0) {
			e.useful = count(e.useful, right)
		}
		e.ctr = saturate(e.ctr, taken, -4, 3)
		if !right {
			p.allocate(t+1, pc, taken)
		}
		return right
	}
	return p.simple(b, pc, taken)
}

// allocate gives the branch an entry in the first table from t on that can spare one.
func (p *tage) allocate(t int, pc uint64, taken bool) {
	for u := t; u < tageTables; u++ {
		if e, tag := p.slot(u, pc); e.useful == 0 {
			*e = tageEntry{tag: tag, ctr: saturate(0, taken, -1, 0)}
			return
		}
	}
	for u := t; u < tageTables; u++ {
		e, _ := p.slot(u, pc)
		e.useful--
	}
}

// count moves a two-bit counter.
func count(c uint8, up bool) uint8 {
	if up {
		return min(c+1, 3)
	}
	return max(c, 1) - 1
}

func saturate(c int8, up bool, lo, hi int8) int8 {
	if up {
		return min(c+1, hi)
	}
	return max(c-1, lo)
}
