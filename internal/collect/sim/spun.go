package sim

import (
	"slices"

	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/section"
	"lime/internal/unit"
)

// What threads do in loops in which they wait is no work.

// cycle is a round of a loop in which a thread was seen to wait. Such rounds carry nothing from one
// to the next (spin.Loop.Pure), so who goes round once more has waited, be it for a moment only.
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
func (r *run) learn(s *spinner, taken []edgeCount) {
	if !s.loop.Pure || s.call == 0 {
		return
	}
	c, ok := r.roundOf(s, taken)
	if !ok || slices.ContainsFunc(r.spins.cycles, func(o cycle) bool { return slices.Equal(o.edges, c.edges) }) {
		return
	}
	r.spins.cycles = append(r.spins.cycles, c)
	for _, e := range c.edges {
		for len(r.spins.of) <= int(e.id) {
			r.spins.of = append(r.spins.of, 0)
		}
		r.spins.of[e.id] = int32(len(r.spins.cycles))
	}
}

// roundOf finds the edges of one round among those that the thread took.
func (r *run) roundOf(s *spinner, taken []edgeCount) (c cycle, ok bool) {
	edges, table := r.eng.Edges(), r.eng.Blocks()
	n := map[engine.EdgeID]uint64{}
	visits := map[engine.BlockID]uint64{}
	path := s.loop.Blocks
	for i, pc := range path {
		from, known := r.blocks.startingAt(pc)
		next := path[(i+1)%len(path)]
		visits[from]++
		found := false
		for _, e := range taken {
			d := &edges[e.id]
			switch {
			case d.From == from && (d.Kind == engine.EdgeEnd || d.Kind != engine.EdgeReturn && d.Target == next):
				n[e.id]++
				found = true
			case d.Kind == engine.EdgeReturn && d.Target == next && table[from].End == engine.EndRet:
				n[e.id]++
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
	}
	slices.SortFunc(c.blocks, func(a, b blockVisits) int { return int(a.block - b.block) })
	c.instrs, c.seen = s.loop.Instrs, s
	return c, true
}

// lessSpinning takes what t went round known loops since its last operation out of its counts.
func (r *run) lessSpinning(t *thread) {
	p := &piece{gate: t.watchedGate()}
	if r.beside != nil { // what was counted while it was followed round its loop is there
		p.edges, t.carry = t.carry, nil
	}
	r.drain(t, p)
	if units := r.takeSpinning(t, p); units > 0 {
		r.tellSpun(t, units)
	}
	t.keepFor(p)
	t.locks = append(t.locks, p.locks...)
}

// takeSpinning takes what a piece went round known loops out of its counts: it is time of waiting.
func (r *run) takeSpinning(t *thread, p *piece) (units uint64) {
	if len(r.spins.cycles) == 0 {
		return 0
	}
	var in []int32
	for _, e := range p.edges {
		if int(e.id) < len(r.spins.of) && r.spins.of[e.id] > 0 && !slices.Contains(in, r.spins.of[e.id]) {
			if now := r.spins.now; now == nil || !now.blocks[r.eng.Edges()[e.id].From] {
				in = append(in, r.spins.of[e.id])
			}
		}
	}
	slices.Sort(in)
	for _, k := range in {
		c := &r.spins.cycles[k-1]
		before := r.instrs(p.edges)
		rounds, yields := r.takeRounds(p, c)
		t.lessYields(yields)
		if n := min(rounds, t.busy); n > 0 {
			t.busy -= n
			units += n
			p.note(c.seen.kind(), c.seen.call, n)
		}
		t.book.out[outLoop] += before - r.instrs(p.edges)
	}
	return units
}

// takeRounds takes as many whole rounds out of a piece as it holds. Of the time that they took, the
// thread spent some in yields.
func (r *run) takeRounds(p *piece, c *cycle) (units, yields uint64) {
	rounds := ^uint64(0)
	for _, x := range c.edges {
		rounds = min(rounds, p.times(x.id)/x.n)
	}
	if rounds == 0 {
		return 0, 0
	}
	units = rounds * c.instrs
	if r.meter.Mode() == engine.Trace {
		units = r.takeHardware(p, c, rounds)
	}
	for _, b := range c.blocks {
		yields += rounds * b.n * r.yieldsAt(r.eng.Blocks()[b.block].End)
	}
	units += yields
	for _, x := range c.edges {
		p.less(x.id, rounds*x.n)
	}
	p.edges = slices.DeleteFunc(p.edges, func(e edgeCount) bool { return e.n == 0 })
	return units, yields
}

// times is how often a piece has an edge: it holds a count for each time that its thread was looked
// at.
func (p *piece) times(id engine.EdgeID) (n uint64) {
	for _, e := range p.edges {
		if e.id == id {
			n += e.n
		}
	}
	return n
}

// less takes some of them out.
func (p *piece) less(id engine.EdgeID, n uint64) {
	for i := range p.edges {
		if e := &p.edges[i]; e.id == id {
			out := min(e.n, n)
			e.n, n = e.n-out, n-out
		}
	}
}

// takeHardware takes the rounds' share of the time and the events of their blocks.
func (r *run) takeHardware(p *piece, c *cycle, rounds uint64) (units uint64) {
	visits := map[engine.BlockID]uint64{}
	edges := r.eng.Edges()
	for _, e := range p.edges {
		if d := &edges[e.id]; d.Kind != engine.EdgeReturn {
			visits[d.From] += e.n
		}
	}
	taken := map[engine.BlockID]uint64{}
	for _, b := range c.blocks {
		taken[b.block] = min(rounds*b.n, visits[b.block])
	}
	return p.hw.share(func(b engine.BlockID) (part, whole uint64) { return taken[b], visits[b] }, r.eventBlock)
}

// removeLoop takes the traversals inside the loop out of a piece, and returns them and
// the clock units that they were.
func (r *run) removeLoop(p *piece, s *spinner) (taken []edgeCount, units uint64) {
	r.sync(s)
	edges, blocks := r.eng.Edges(), r.eng.Blocks()
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
			yields += e.n * r.yieldsAt(blocks[d.From].End)
		}
	}
	p.edges = keep
	if r.meter.Mode() == engine.Trace {
		instrs = p.hw.without(s.blocks, r.eventBlock)
	}
	s.t.acting().lessYields(yields)
	return taken, instrs + yields
}

// yieldsAt is the time that a block takes beside its instructions: the only system call in loops
// that wait is sched_yield.
func (r *run) yieldsAt(end engine.End) uint64 {
	if end == engine.EndSyscall && r.beside == nil {
		return r.clock(guest.YieldTakes)
	}
	return 0
}

// dropLoop takes the loop out of the counters of the piece under way: the call in which it is has
// waited so long.
func (r *run) dropLoop(t *thread, s *spinner) {
	p := &piece{}
	r.drain(t, p)
	taken, units := r.removeLoop(p, s)
	r.without(t.acting(), outLoop, taken)
	units = min(t.busy, units)
	t.busy -= units
	t = t.acting()
	if n := len(t.frames); n > 0 {
		t.frames[n-1].waited += units
	}
	r.keepWorked(t, p)
}

// tellSpun tells of time that a thread went round loops in which threads wait for locks.
func (r *run) tellSpun(t *thread, units uint64) {
	op := t.simple(section.OpLockBegin, 0)
	op.At -= unit.Cycles(units)
	r.feed(op)
	r.feed(t.simple(section.OpLockEnd, 0))
}
