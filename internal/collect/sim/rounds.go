// Rounds of loops in which threads were seen to wait, taken out of what threads have done.

package sim

import (
	"slices"

	"lime/internal/engine"
	"lime/internal/guest"
)

// What threads do in loops in which they wait is no work.

// rounds knows the loops in which threads were seen to wait, and takes their rounds out of what
// threads have done.
type rounds struct {
	clocks *clocks
	places *places
	eng    *engine.Engine
	images *images
	blocks *blockIndex
	meter  Meter
	waste  *wasteMeter
	beside *beside
	coded  *coded   // nil: loops are known by who was followed round them only
	cycles []cycle  // rounds of loops in which threads were seen to wait
	of     []int32  // by EdgeID: 1 + the index of a cycle that it is in, 0 if none
	now    *spinner // whose thread is about to be parked: that wait is told of by itself
}

// cycle is a round of a loop in which a thread was seen to wait. Such rounds carry nothing from one
// to the next but counters (spin.Loop.Pure), so who goes round once more has waited, be it for a moment only.
// The way in, and the last look, after which it left, are no rounds.
type cycle struct {
	edges  []edgeCount // of one round, by edge
	blocks []blockVisits
	instrs uint64
	seen   *spinner // who was seen to wait there
}

type blockVisits struct {
	block engine.BlockID
	n     uint64
}

// learn remembers the round of a loop; taken is what the thread went round it.
func (rd *rounds) learn(s *spinner, taken []edgeCount) {
	if !s.loop.Pure || s.call == 0 {
		return
	}
	c, ok := rd.roundOf(s, taken)
	if !ok || slices.ContainsFunc(rd.cycles, func(o cycle) bool { return slices.Equal(o.edges, c.edges) }) {
		return
	}
	rd.cycles = append(rd.cycles, c)
	for _, e := range c.edges {
		for len(rd.of) <= int(e.id) {
			rd.of = append(rd.of, 0)
		}
		rd.of[e.id] = int32(len(rd.cycles))
	}
}

// roundOf finds the edges of one round among those that the thread took.
func (rd *rounds) roundOf(s *spinner, taken []edgeCount) (c cycle, ok bool) {
	edges, table := rd.eng.Edges(), rd.eng.Blocks()
	n := map[engine.EdgeID]uint64{}
	visits := map[engine.BlockID]uint64{}
	ids := map[engine.EdgeID]bool{} // of those: a count may be in parts
	for _, e := range taken {
		ids[e.id] = true
	}
	path := s.loop.Round
	for i, pc := range path {
		from, known := rd.blocks.startingAt(pc)
		next := path[(i+1)%len(path)]
		visits[from]++
		found := false
		for id := range ids {
			d := &edges[id]
			switch {
			case d.From == from && (d.Kind == engine.EdgeEnd || d.Kind != engine.EdgeReturn && d.Target == next):
				n[id]++
				found = true
			case d.Kind == engine.EdgeReturn && d.Target == next && table[from].End == engine.EndRet:
				n[id]++
			}
		}
		if !known || !found {
			return c, false
		}
	}
	for id, k := range n {
		c.edges = append(c.edges, edgeCount{id, k})
	}
	slices.SortFunc(c.edges, func(a, b edgeCount) int { return int(a.id - b.id) })
	for id, k := range visits {
		c.blocks = append(c.blocks, blockVisits{id, k})
		c.instrs += k * uint64(table[id].Instrs) // of this round: others that were followed may be longer
	}
	slices.SortFunc(c.blocks, func(a, b blockVisits) int { return int(a.block - b.block) })
	c.seen = s
	return c, true
}

// takeSpinning takes what a segment went round known loops out of its counts: it is time of
// waiting.
func (rd *rounds) takeSpinning(t *thread, p *segment) (units uint64) {
	in := rd.inCoded(p)
	if len(in) == 0 && len(rd.cycles) == 0 {
		return 0
	}
	before := rd.places.instrs(p.edges)
	units = rd.takeCoded(t, p, in) + rd.takeKnown(t, p)
	if units > 0 {
		p.edges = slices.DeleteFunc(p.edges, func(e edgeCount) bool { return e.n == 0 })
		t.book.out[outLoop] += before - rd.places.instrs(p.edges)
	}
	return units
}

// takeKnown takes the rounds of loops in which somebody was seen to wait out of a segment.
func (rd *rounds) takeKnown(t *thread, p *segment) (units uint64) {
	var in []int32
	for _, e := range p.edges {
		if int(e.id) < len(rd.of) && rd.of[e.id] > 0 && !slices.Contains(in, rd.of[e.id]) {
			if now := rd.now; now == nil || !now.blocks[rd.eng.Edges()[e.id].From] {
				in = append(in, rd.of[e.id])
			}
		}
	}
	slices.Sort(in)
	for _, k := range in {
		c := &rd.cycles[k-1]
		rounds, yields := rd.takeRounds(p, c)
		t.lessYields(yields)
		if n := min(rounds, t.busy); n > 0 {
			t.busy -= n
			units += n
			p.note(c.seen.kind(), c.seen.call, n)
		}
	}
	return units
}

// takeRounds takes as many whole rounds out of a segment as it holds. Of the time that they took,
// the thread spent some in yields.
func (rd *rounds) takeRounds(p *segment, c *cycle) (units, yields uint64) {
	rounds := ^uint64(0)
	for _, x := range c.edges {
		rounds = min(rounds, p.times(x.id)/x.n)
	}
	if rounds == 0 {
		return 0, 0
	}
	units = rounds * c.instrs
	if rd.meter.Mode() == engine.Trace {
		taken := map[engine.BlockID]uint64{}
		for _, b := range c.blocks {
			taken[b.block] = rounds * b.n
		}
		units = rd.takeHardware(p, taken)
	}
	for _, b := range c.blocks {
		yields += rounds * b.n * rd.yieldsAt(rd.eng.Blocks()[b.block].End)
	}
	units += yields
	for _, x := range c.edges {
		p.less(x.id, rounds*x.n)
	}
	return units, yields
}

// times is how often a segment has an edge: it holds a count for each time that its thread was
// looked at.
func (p *segment) times(id engine.EdgeID) (n uint64) {
	for _, e := range p.edges {
		if e.id == id {
			n += e.n
		}
	}
	return n
}

// less takes some of them out.
func (p *segment) less(id engine.EdgeID, n uint64) {
	for i := range p.edges {
		if e := &p.edges[i]; e.id == id {
			out := min(e.n, n)
			e.n, n = e.n-out, n-out
		}
	}
}

// takeHardware takes the share of some visits of blocks of the time and the events of these.
func (rd *rounds) takeHardware(p *segment, taken map[engine.BlockID]uint64) (units uint64) {
	visits := map[engine.BlockID]uint64{}
	edges := rd.eng.Edges()
	for _, e := range p.edges {
		if d := &edges[e.id]; d.Kind != engine.EdgeReturn {
			visits[d.From] += e.n
		}
	}
	for b, n := range taken {
		taken[b] = min(n, visits[b])
	}
	return p.hw.share(func(b engine.BlockID) (part, whole uint64) { return taken[b], visits[b] }, rd.eventBlock)
}

// removeLoop takes the traversals inside the loop out of a segment, and returns them and
// the clock units that they were.
func (rd *rounds) removeLoop(p *segment, s *spinner) (taken []edgeCount, units uint64) {
	rd.sync(s)
	edges, blocks := rd.eng.Edges(), rd.eng.Blocks()
	keep, instrs, yields := p.edges[:0], uint64(0), uint64(0)
	for _, e := range p.edges {
		d := &edges[e.id]
		if d.From < 0 || !s.blocks[d.From] || d.Kind != engine.EdgeEnd && !s.heads[d.Target] {
			keep = append(keep, e)
			continue
		}
		taken = append(taken, e)
		if d.Kind != engine.EdgeReturn {
			instrs += e.n * uint64(blocks[d.From].Instrs)
			yields += e.n * rd.yieldsAt(blocks[d.From].End)
		}
	}
	p.edges = keep
	if rd.meter.Mode() == engine.Trace {
		instrs = p.hw.without(s.blocks, rd.eventBlock)
	}
	s.t.acting().lessYields(yields)
	return taken, instrs + yields
}

// yieldsAt is the time that a block takes beside its instructions: the only system call in loops
// that wait is sched_yield.
func (rd *rounds) yieldsAt(end engine.End) uint64 {
	if end == engine.EndSyscall && rd.beside == nil {
		return rd.clocks.clock(guest.YieldTakes)
	}
	return 0
}

// sync takes in blocks into which the loop's have been cut meanwhile.
func (rd *rounds) sync(s *spinner) {
	all := rd.blocks.sync()
	for ; s.seen < len(all); s.seen++ {
		if b := &all[s.seen]; s.in(b.PC) {
			s.blocks[engine.BlockID(s.seen)], s.heads[b.PC] = true, true
			if rd.images.own(b.PC) {
				s.own[b.PC] = true
			}
		}
	}
}

// instrsBefore is how many instructions of some edges are none of the loop's.
func (rd *rounds) instrsBefore(s *spinner, list []edgeCount) (n uint64) {
	rd.sync(s)
	edges, blocks := rd.eng.Edges(), rd.eng.Blocks()
	for _, e := range list {
		if d := &edges[e.id]; d.From >= 0 && d.Kind != engine.EdgeReturn && !s.blocks[d.From] {
			n += e.n * uint64(blocks[d.From].Instrs)
		}
	}
	return n
}

// strayed reports whether a segment holds anything but a loop: a thread may have left it, and come
// to it again for something else.
func (rd *rounds) strayed(s *spinner, p *segment) bool {
	edges := rd.eng.Edges()
	rd.sync(s)
	for _, e := range p.edges {
		if from := edges[e.id].From; from >= 0 && !s.blocks[from] {
			return true
		}
	}
	return false
}

// eventBlock is the block of an event.
func (rd *rounds) eventBlock(id int32) engine.BlockID {
	if rd.waste != nil {
		return rd.blocks.holding(rd.waste.events[id].pc)
	}
	mm, ok := rd.meter.(*machineMeter)
	if !ok {
		return engine.NoBlock
	}
	return engine.BlockID(mm.m.Events()[id].Block)
}
