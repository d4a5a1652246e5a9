package sim

import (
	"slices"

	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/unit"
)

// What threads do in loops in which they wait is no work.

// learn remembers a loop in which a thread was seen to wait: whoever goes round it waits, be it for a moment only.
func (r *run) learn(s *spin) {
	if s.bounded || s.call == 0 {
		return
	}
	known := true
	for id := range s.blocks {
		known = known && r.spins.loop(id) != nil
	}
	if known {
		return
	}
	r.spins.loops = append(r.spins.loops, s)
	for id := range s.blocks {
		for len(r.spins.of) <= int(id) {
			r.spins.of = append(r.spins.of, 0)
		}
		r.spins.of[id] = int32(len(r.spins.loops))
	}
}

// loop is the known loop that a block belongs to, nil if none.
func (x *spinTable) loop(id engine.BlockID) *spin {
	if id < 0 || int(id) >= len(x.of) || x.of[id] == 0 {
		return nil
	}
	return x.loops[x.of[id]-1]
}

// lessSpinning takes what t went round known loops since its last operation out of its counts.
func (r *run) lessSpinning(t *thread) {
	p := &piece{gate: t.watchedGate()}
	r.drain(t, p)
	if units := r.takeSpinning(t, p); units > 0 {
		r.tellSpun(t, units)
	}
	t.keepFor(p)
	t.locks = append(t.locks, p.locks...)
}

// takeSpinning takes what a piece went round known loops out of its counts: it is time of waiting.
func (r *run) takeSpinning(t *thread, p *piece) (units uint64) {
	if len(r.spins.loops) == 0 {
		return 0
	}
	edges := r.eng.Edges()
	var in []*spin
	for _, e := range p.edges {
		from := edges[e.id].From
		if now := r.spins.now; now != nil && now.blocks[from] {
			continue
		}
		if s := r.spins.loop(from); s != nil && !slices.Contains(in, s) {
			in = append(in, s)
		}
	}
	for _, s := range in {
		if n := min(r.removeLoop(p, s), t.busy); n > 0 {
			t.busy -= n
			units += n
			p.noteLock(s.call, n)
		}
	}
	return units
}

// removeLoop takes the traversals inside the loop out of a piece, and returns
// the clock units that they were.
func (r *run) removeLoop(p *piece, s *spin) (units uint64) {
	edges, blocks := r.eng.Edges(), r.eng.Blocks()
	keep := p.edges[:0]
	for _, e := range p.edges {
		d := &edges[e.id]
		if d.From < 0 || !s.blocks[d.From] || d.Kind != engine.EdgeEnd && !s.heads[d.Target] {
			keep = append(keep, e)
			continue
		}
		if d.Kind != engine.EdgeReturn {
			units += e.n * uint64(blocks[d.From].Instrs)
		}
	}
	p.edges = keep
	if r.meter.Mode() == engine.Trace {
		return p.hw.without(s.blocks, r.eventBlock)
	}
	return units
}

// dropLoop takes the loop out of the counters of the piece under way: the call in which it is has waited so long.
func (r *run) dropLoop(t *thread, s *spin) {
	p := &piece{}
	r.drain(t, p)
	units := min(t.busy, r.removeLoop(p, s))
	t.busy -= units
	t = t.acting()
	if n := len(t.frames); n > 0 {
		t.frames[n-1].waited += units
	}
	if n := len(t.frames); n == 0 || !t.frames[n-1].slow {
		t.keepFor(p)
	}
}

// tellSpun tells of time that a thread went round loops in which threads wait for locks.
func (r *run) tellSpun(t *thread, units uint64) {
	op := t.simple(section.OpLockBegin, 0)
	op.At -= unit.Cycles(units)
	r.feed(op)
	r.feed(t.simple(section.OpLockEnd, 0))
}
