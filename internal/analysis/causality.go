package analysis

import (
	"slices"

	"lime/internal/profile"
	"lime/internal/stat"
)

// residualTolerance is the part of a hardware event's own variation below which all of it came from
// its superiors.
const residualTolerance = 1e-9

// site is one instruction's events of one kind.
type site struct {
	addr uint64
	kind int32
}

// causality removes from hardware events what their superiors at the same instruction brought.
type causality struct {
	m       *matrix
	p       *program
	byName  map[string]int32
	sums    map[site][]uint64 // all events of a kind at an instruction
	node    map[uint64]profile.NodeID
	ortho   map[site][]float64 // what is left of the sums; nil vectors are all 0
	visited map[uint64][]float64
}

// addHardware adds what is left of the hardware events.
func (m *matrix) addHardware(p *program) error {
	c := &causality{m: m, p: p, byName: map[string]int32{}, sums: map[site][]uint64{}, node: map[uint64]profile.NodeID{},
		ortho: map[site][]float64{}, visited: map[uint64][]float64{}}
	for i, k := range p.tab.Kinds {
		c.byName[k.Name] = int32(i)
	}
	counts, costed := magnitudes(p.tab, m.in)
	m.costed = costed
	counts = happened(p.tab, counts)
	if err := m.rows(counts, len(p.tab.Events), c.sum); err != nil {
		return err
	}
	return m.rows(counts, len(p.tab.Events), c.add)
}

// happened leaves out the counts of what would have happened in other placements of pages.
func happened(tab *profile.Tables, counts []profile.Count) []profile.Count {
	elsewhere := func(c profile.Count) bool {
		if c.Row < 0 || int(c.Row) >= len(tab.Events) {
			return false
		}
		k := tab.Events[c.Row].Kind
		return k >= 0 && int(k) < len(tab.Kinds) && tab.Kinds[k].Family() == profile.FamilyElsewhere
	}
	if !slices.ContainsFunc(counts, elsewhere) {
		return counts
	}
	return slices.DeleteFunc(slices.Clone(counts), elsewhere)
}

// magnitudes are the counts of events; of waits, the time that they took, where it is known.
func magnitudes(tab *profile.Tables, in *profile.Instance) ([]profile.Count, map[int32]bool) {
	if !slices.ContainsFunc(in.Costs, func(c profile.Count) bool { return isWait(tab, c.Row) }) {
		return in.Events, nil
	}
	costed := map[int32]bool{}
	var out []profile.Count
	for _, c := range in.Costs {
		if isWait(tab, c.Row) {
			costed[c.Row] = true
			out = append(out, c)
		}
	}
	for _, c := range in.Events {
		if !costed[c.Row] {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b profile.Count) int { return int(a.Row) - int(b.Row) })
	return out, costed
}

// isWait reports whether an event is of a kind whose time says more than its number.
func isWait(tab *profile.Tables, row int32) bool {
	if row < 0 || int(row) >= len(tab.Events) {
		return false
	}
	k := tab.Events[row].Kind
	return k >= 0 && int(k) < len(tab.Kinds) &&
		(tab.Kinds[k].Family().Waits() || tab.Kinds[k].Unit != profile.UnitTimes && tab.Kinds[k].Unit != "")
}

func (c *causality) siteOf(row int32) site {
	e := &c.p.tab.Events[row]
	return site{e.Addr, e.Kind}
}

func (c *causality) sum(row int32, n []uint64) {
	s := c.siteOf(row)
	if c.sums[s] == nil {
		c.sums[s] = make([]uint64, len(n))
	}
	for i, v := range n {
		c.sums[s][i] += v
	}
	c.node[s.addr] = c.p.tab.Events[row].Node
}

// add gives an event to the folder without its superiors' part.
func (c *causality) add(row int32, n []uint64) {
	c.m.stats.Total++
	v := make([]float64, len(n))
	if !stat.Differences(v, n) {
		c.m.stats.Constant++
		return
	}
	stat.Centre(v)
	if !stat.Residual(v, c.superiors(c.siteOf(row)), residualTolerance) {
		c.m.stats.Caused++
		return
	}
	if g := c.m.fold.AddFloats(v); g >= 0 {
		c.m.events = append(c.m.events, event{row: row, hw: true, group: g})
	}
}

// superiors lists the orthogonal vectors of everything above a site: executions first.
func (c *causality) superiors(s site) [][]float64 {
	var chain []int32
	for k := s.kind; k >= 0 && int(k) < len(c.p.tab.Kinds) && len(chain) <= len(c.p.tab.Kinds); {
		name := c.p.tab.Kinds[k].Superior
		up, ok := c.byName[name]
		if name == "" || !ok {
			break
		}
		chain = append(chain, up)
		k = up
	}
	basis := [][]float64{c.executions(s.addr)}
	for _, k := range slices.Backward(chain) {
		basis = append(basis, c.orthogonal(site{s.addr, k}, basis))
	}
	return basis
}

// executions is the centred vector of an instruction's executions.
func (c *causality) executions(addr uint64) []float64 {
	if x, ok := c.visited[addr]; ok {
		return x
	}
	sum := make([]uint64, len(c.m.row))
	c.p.holding(c.p.tab, c.node[addr], addr, func(v profile.NodeID) {
		for i, n := range c.m.visits[v] {
			sum[i] += n
		}
	})
	x := make([]float64, len(sum))
	if stat.Differences(x, sum) {
		stat.Centre(x)
	}
	c.visited[addr] = x
	return x
}

// orthogonal is what a site's sum has beyond the basis, all 0 if nothing.
func (c *causality) orthogonal(s site, basis [][]float64) []float64 {
	if x, ok := c.ortho[s]; ok {
		return x
	}
	x := make([]float64, len(c.m.row))
	if n := c.sums[s]; n != nil && stat.Differences(x, n) {
		stat.Centre(x)
		stat.Residual(x, basis, residualTolerance)
	}
	c.ortho[s] = x
	return x
}
