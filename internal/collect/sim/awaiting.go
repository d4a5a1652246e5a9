// What threads wait for that wait for others' work: what those do who let them go on.

package sim

import (
	"lime/internal/engine"
)

// awaiting tells it. Who lets a thread go on has done something for that since it could go on itself
// (or has let another one go on); what the thread waited for before that, is what the other one
// waited for then. So along a chain of threads that wait for one another, time is charged to what
// was done in it, wherever in the chain.
type awaiting struct {
	eng      *engine.Engine
	focus    *focus
	images   *images
	places   *places
	segments *segments
}

// doing is what a thread does.
type doing struct {
	since  uint64      // the clock when it could go on, or let another one go on
	edges  []edgeCount // since then, in segments that have ended
	from   int         // how many of the counts carried for the segment under way are older
	before deeds       // what it did, or waited for, until then
}

// deeds is what some time went into: shares, by the block that has most of a function's.
type deeds map[uint64]float64

// awaited is what a wait was for.
type awaited struct {
	deeds  deeds
	worked uint64 // for how long the one that ended it had done the last of these
}

// leastDeed is the share of a time below which what it went into is not kept apart.
const leastDeed = 1.0 / 64

// did notes what a thread did in a segment that has ended.
func (t *thread) did(edges []edgeCount) {
	if t.goroutine == nil {
		return
	}
	x := &t.doing
	x.edges = summed(append(x.edges, edges[min(x.from, len(edges)):]...))
	x.from = 0
}

// letsGo tells what a thread has waited for since a clock, whom by lets go on.
func (aw *awaiting) letsGo(by *thread, since uint64) awaited {
	p := &segment{}
	aw.segments.drain(by, p)
	by.keepFor(p)
	x, now := &by.doing, by.now()
	all := now - min(now, since)
	out := awaited{worked: now - min(now, x.since)}
	out.deeds = aw.deedsIn(append(x.edges, by.carry[min(x.from, len(by.carry)):]...))
	if out.worked < all && x.before != nil {
		out.deeds = mixed(out.deeds, out.worked, x.before, all-out.worked)
	}
	*x = doing{since: now, before: out.deeds, from: len(by.carry)}
	return out
}

// goesOn is told that t has waited for so long, at a stack, for others' work.
func (aw *awaiting) goesOn(t *thread, stack []frameRef, units uint64, what awaited) {
	t.doing = doing{since: t.now(), before: what.deeds, from: len(t.carry)}
	if units = aw.focus.lasts(t, units); units > 0 {
		t.samples = append(t.samples, pathSample{stack: stack, units: units, waits: true, awaits: what})
	}
}

// deedsIn are the functions of the program's own in which most was done; of others, if none was.
func (aw *awaiting) deedsIn(list []edgeCount) deeds {
	byBlock := aw.byBlock(list)
	for _, own := range []bool{true, false} {
		if d := aw.functions(byBlock, own); d != nil {
			return d
		}
	}
	return nil
}

func (aw *awaiting) byBlock(list []edgeCount) map[uint64]uint64 {
	edges, blocks, sums := aw.eng.Edges(), aw.eng.Blocks(), map[uint64]uint64{}
	for _, e := range list {
		if d := &edges[e.id]; d.From >= 0 && d.Kind != engine.EdgeReturn {
			b := &blocks[d.From]
			sums[b.PC] += e.n * uint64(b.Instrs)
		}
	}
	return sums
}

func (aw *awaiting) functions(byBlock map[uint64]uint64, own bool) deeds {
	type function struct{ units, most, at uint64 }
	by, all := map[uint64]function{}, uint64(0)
	for pc, n := range byBlock {
		if own && !aw.images.own(pc) {
			continue
		}
		at := aw.images.start(pc)
		f := by[at]
		if f.units += n; n > f.most || n == f.most && pc < f.at {
			f.most, f.at = n, pc
		}
		by[at], all = f, all+n
	}
	var out deeds
	for _, f := range by {
		out = out.plus(f.at, float64(f.units)/float64(max(1, all)))
	}
	return out
}

func (d deeds) plus(pc uint64, share float64) deeds {
	if share < leastDeed {
		return d
	}
	if d == nil {
		d = deeds{}
	}
	d[pc] += share
	return d
}

// mixed are the deeds of two times.
func mixed(a deeds, long uint64, b deeds, longer uint64) (out deeds) {
	part := float64(long) / float64(long+longer)
	sum := deeds{}
	for pc, x := range a {
		sum[pc] += part * x
	}
	for pc, x := range b {
		sum[pc] += (1 - part) * x
	}
	for pc, x := range sum {
		out = out.plus(pc, x)
	}
	return out
}
