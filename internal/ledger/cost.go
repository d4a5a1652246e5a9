package ledger

import (
	"fmt"

	"lime/internal/profile"
)

// costs are the times of an instance by node and by event.
type costs struct {
	f      *flow
	stored bool
	times  []int32      // stored: groups of Instance.Times by node: times[g] to times[g+1]
	nodes  []int32      // local node of each group
	events []eventCosts // in the order of their ids
	kinds  []profile.EventKind
}

// eventCosts is a row of Instance.Costs.
type eventCosts struct {
	id     profile.EventID
	node   int32 // local, -1 = none
	lo, hi int
	apart  bool // the cost is not part of the node's time
}

// newCosts reads the costs; nodes that have times but no visits join the flow.
func newCosts(meta *profile.Meta, f *flow) (*costs, error) {
	c := &costs{f: f, stored: meta.NodeTime == "stored", kinds: f.tab.Kinds}
	if c.stored {
		if err := c.readTimes(); err != nil {
			return nil, err
		}
	}
	return c, c.readEvents()
}

func (c *costs) readTimes() error {
	counts := c.f.inst.Times
	for lo := 0; lo < len(counts); {
		hi, err := groupEnd(counts, lo, c.f.parts, len(c.f.tab.Nodes))
		if err != nil {
			return fmt.Errorf("instance %d: times: %w", c.f.inst.Seq, err)
		}
		c.times = append(c.times, int32(lo))
		c.nodes = append(c.nodes, c.f.addNode(profile.NodeID(counts[lo].Row)))
		lo = hi
	}
	c.times = append(c.times, int32(len(counts)))
	return nil
}

func (c *costs) readEvents() error {
	counts := c.f.inst.Costs
	for lo := 0; lo < len(counts); {
		hi, err := groupEnd(counts, lo, c.f.parts, len(c.f.tab.Events))
		if err != nil {
			return fmt.Errorf("instance %d: costs: %w", c.f.inst.Seq, err)
		}
		id := profile.EventID(counts[lo].Row)
		c.events = append(c.events, eventCosts{id: id, node: c.f.addNode(c.f.tab.Events[id].Node), lo: lo, hi: hi,
			apart: !c.stored || c.waits(id)})
		lo = hi
	}
	return nil
}

// waits says whether an event is time in which the thread did not run: no block's stored time holds
// it.
func (c *costs) waits(id profile.EventID) bool {
	k := c.f.tab.Events[id].Kind
	if k < 0 || int(k) >= len(c.kinds) {
		return false
	}
	return c.kinds[k].Family().Waits()
}

// groupEnd returns where the cells of one row end, and checks them.
func groupEnd(counts []profile.Count, lo, parts, rows int) (int, error) {
	row := counts[lo].Row
	if row < 0 || int(row) >= rows {
		return 0, fmt.Errorf("row %d of %d", row, rows)
	}
	hi := lo
	for ; hi < len(counts) && counts[hi].Row == row; hi++ {
		if p := counts[hi].Part; p < 0 || int(p) >= parts {
			return 0, fmt.Errorf("row %d: part %d of %d", row, p, parts)
		}
	}
	return hi, nil
}

// addNode adds a node without edges.
func (f *flow) addNode(id profile.NodeID) int32 {
	before := len(f.nodes)
	v := f.node(id)
	if len(f.nodes) > before {
		f.off = append(f.off, f.off[len(f.off)-1])
		f.visits = append(f.visits, make([]uint64, f.parts)...)
		f.comp = append(f.comp, int32(len(f.comps)))
		f.comps = append(f.comps, []int32{v})
	}
	return v
}

// pooled returns the cost of every node, all parts together. Nodes without visits are apart: what
// they cost does not come from decisions.
func (c *costs) pooled(visits []float64) []float64 {
	sums := make([]float64, len(c.f.nodes))
	if !c.stored {
		for v := range sums {
			sums[v] = c.instrs(int32(v)) * visits[v]
		}
		for d := range c.drops {
			sums[d.node] -= c.instrs(d.node) * float64(d.n)
		}
	}
	for g, v := range c.nodes {
		sums[v] += c.sum(c.f.inst.Times[c.times[g]:c.times[g+1]])
	}
	for _, e := range c.events {
		if e.apart && e.node >= 0 {
			sums[e.node] += c.sum(c.f.inst.Costs[e.lo:e.hi])
		}
	}
	return sums
}

// within returns the time of every part in some of the blocks.
func (c *costs) within(of func(profile.NodeID) bool) []float64 {
	if of == nil {
		return nil
	}
	sums := make([]float64, c.f.parts)
	for v, id := range c.f.nodes {
		if c.stored || !of(id) {
			continue
		}
		for p, n := range c.f.visitsOf(int32(v)) {
			sums[p] += float64(n) * c.instrs(int32(v))
		}
	}
	for g, v := range c.nodes {
		if of(c.f.nodes[v]) {
			for _, x := range c.f.inst.Times[c.times[g]:c.times[g+1]] {
				sums[x.Part] += float64(x.N)
			}
		}
	}
	return sums
}

// drops yields the ends that are not the part's regular one: visits that took no time.
func (c *costs) drops(yield func(lack) bool) {
	for _, e := range c.f.ends {
		if !c.f.exits(e) && !yield(e) {
			return
		}
	}
}

func (c *costs) instrs(v int32) float64 { return float64(c.f.tab.Nodes[c.f.nodes[v]].Instrs) }

func (c *costs) sum(counts []profile.Count) float64 {
	var n uint64
	for i := range counts {
		n += counts[i].N
	}
	return float64(n)
}

// byPart returns the time of every part that stands at some node.
func (c *costs) byPart() []float64 {
	sums := make([]uint64, c.f.parts)
	add := func(counts []profile.Count) {
		for i := range counts {
			sums[counts[i].Part] += counts[i].N
		}
	}
	if c.stored {
		add(c.f.inst.Times)
	} else {
		c.addVisits(sums)
	}
	for _, e := range c.events {
		if e.apart {
			add(c.f.inst.Costs[e.lo:e.hi])
		}
	}
	out := make([]float64, len(sums))
	for p, n := range sums {
		out[p] = float64(n)
	}
	return out
}

func (c *costs) addVisits(sums []uint64) {
	for p, n := range c.f.early {
		sums[p] += n
	}
	for v := range int32(len(c.f.nodes)) {
		instrs := uint64(c.f.tab.Nodes[c.f.nodes[v]].Instrs)
		for p, n := range c.f.visitsOf(v) {
			sums[p] += n * instrs
		}
	}
	for d := range c.drops {
		sums[d.part] -= d.n * uint64(c.f.tab.Nodes[c.f.nodes[d.node]].Instrs)
	}
}

// ofFamily returns the cost of all events of one family, by part.
func (c *costs) ofFamily(f profile.Family) []float64 {
	sums := make([]float64, c.f.parts)
	for _, e := range c.events {
		k := c.f.tab.Events[e.id].Kind
		if k < 0 || int(k) >= len(c.kinds) || c.kinds[k].Family() != f {
			continue
		}
		for _, x := range c.f.inst.Costs[e.lo:e.hi] {
			sums[x.Part] += float64(x.N)
		}
	}
	return sums
}

// prices charges what the same code cost some parts more than others, by event.
func (a *accountant) prices() {
	plain := make([][]float64, len(a.f.nodes))
	row := func(v int32) []float64 {
		if plain[v] == nil {
			plain[v] = a.row()
		}
		return plain[v]
	}
	a.ownTimes(row)
	for v, dev := range plain {
		if dev != nil {
			a.priceOf(dev, a.f.visitsOf(int32(v)))
		}
	}
	for i := range a.c.events {
		if e := &a.c.events[i]; e.apart || e.node >= 0 { // else it is part of no node's time
			a.priceEvent(row, e)
		}
	}
	for v := range int32(len(a.f.nodes)) {
		if dev := plain[v]; dev != nil {
			a.charge(classPrice, a.id(v), dev)
		}
	}
}

// priceEvent charges what an event cost some parts more than others, and takes it off the plain
// prices of the nodes whose times hold it.
func (a *accountant) priceEvent(row func(int32) []float64, e *eventCosts) {
	dev := a.row()
	for _, x := range a.f.inst.Costs[e.lo:e.hi] {
		dev[x.Part] += float64(x.N)
	}
	switch {
	case e.node < 0:
		a.priceOf(dev, nil)
	case e.apart: // the values hold it where it stands
		a.priceOf(dev, a.f.visitsOf(e.node))
	default:
		nodes := a.holders(e)
		ran, cost := a.executions(nodes), sum(dev)
		a.priceOf(dev, ran)
		a.dealer.event(a, e.id, cost, ran)
		a.takeOff(row, e, nodes, dev, ran)
	}
	a.charge(classEvent, int32(e.id), dev)
}

// ownTimes fills in the time that the nodes took beyond what their visits explain: all of it if
// times are stored, else only that of visits which took none.
func (a *accountant) ownTimes(row func(int32) []float64) {
	for g, v := range a.c.nodes {
		own := row(v)
		for _, x := range a.f.inst.Times[a.c.times[g]:a.c.times[g+1]] {
			own[x.Part] += float64(x.N)
		}
	}
	if a.c.stored {
		return
	}
	for d := range a.c.drops {
		row(d.node)[d.part] -= float64(d.n) * a.c.instrs(d.node)
	}
}

// priceOf takes off every part what as many executions as it had would have cost on average; what
// nothing ran is spread evenly.
func (a *accountant) priceOf(dev []float64, ran []uint64) {
	total, all := sum(dev), uint64(0)
	for _, n := range ran {
		all += n
	}
	if all == 0 {
		for p := range dev {
			dev[p] -= total / float64(len(dev))
		}
		return
	}
	avg := total / float64(all)
	for p, n := range ran {
		dev[p] -= float64(n) * avg
	}
}

// waits charges waiting that no event explains, and what is left of the parts' times.
func (a *accountant) waits() {
	known := a.c.byPart()
	lock, off, rest := a.row(), a.row(), a.row()
	lockKnown, waitKnown, offKnown := a.c.ofFamily(profile.FamilyLock), a.c.ofFamily(profile.FamilyWait), a.c.ofFamily(profile.FamilyOffCore)
	for p := range a.f.parts {
		part := &a.f.inst.Parts[p]
		gap := a.r.times[p] - known[p]
		lock[p] = unexplained(float64(part.LockWait)-lockKnown[p]-waitKnown[p], gap)
		off[p] = unexplained(float64(part.OffCPU)-offKnown[p], gap-lock[p])
		rest[p] = gap - lock[p] - off[p]
	}
	for _, c := range []struct {
		class class
		dev   []float64
	}{{classLock, lock}, {classOff, off}, {classUnaccounted, rest}} {
		a.priceOf(c.dev, nil)
		a.charge(c.class, -1, c.dev)
	}
}

// unexplained returns how much of a gap a wait explains.
func unexplained(wait, gap float64) float64 { return max(0, min(wait, gap)) }
