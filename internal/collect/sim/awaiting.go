// What threads wait for that wait for others' work: what those do who let them go on.

package sim

import (
	"cmp"
	"slices"

	"lime/internal/collect/known"
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
	code     map[engine.BlockID]codeOf
	// of one call of deedsIn
	blocks map[engine.BlockID]uint64 // instructions
	sums   map[codeOf]funcSum
}

func newAwaiting(r *run) *awaiting {
	return &awaiting{eng: r.eng, focus: r.focus, images: r.images, places: r.places, segments: r.segments,
		code: map[engine.BlockID]codeOf{}, blocks: map[engine.BlockID]uint64{}, sums: map[codeOf]funcSum{}}
}

// codeOf is whose a block is: of a function, by its address (0: that is not known), that is the program's
// own or not.
type codeOf struct {
	start uint64
	own   bool
}

// funcSum is what a function did, and which of its blocks did most.
type funcSum struct{ units, most, at uint64 }

// doing is what a thread does.
type doing struct {
	since  uint64      // the clock when it could go on, or let another one go on
	edges  []edgeCount // since then, in segments that have ended
	from   int         // how many of the counts carried for the segment under way are older
	before deeds       // what it did, or waited for, until then
	asked  bool        // it has waited for others' work, or let others go on that did: of most threads nobody asks
}

// deed is a share of some time, by the block that has most of a function's.
type deed struct {
	pc    uint64
	share float64
}

// deeds is what some time went into, in the order of addresses. There is one for each wait: it is to
// be small.
type deeds []deed

// awaited is what a wait was for.
type awaited struct {
	deeds  deeds
	worked uint64 // for how long the one that ended it had done the last of these
}

// leastDeed is the share of a time below which what it went into is not kept apart.
const leastDeed = 1.0 / 64

// did notes what a thread did in a segment that has ended.
func (t *thread) did(p *segment) {
	x, edges := &t.doing, p.edges
	switch {
	case notes(t):
	case t.in(known.CondWake, known.CondWakeAll) == nil:
		return
	default:
		x.asked, x.since = true, p.start.at
	}
	x.edges = t.adder.sum(append(x.edges, edges[min(x.from, len(edges)):]...))
	x.from = 0
}

// notes reports whether somebody may ask what a thread has done.
func notes(t *thread) bool { return t.goroutine != nil || t.doing.asked }

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
	*x = doing{since: now, before: out.deeds, from: len(by.carry), asked: true}
	return out
}

// goesOn is told that t has waited for so long, at a stack, for others' work.
func (aw *awaiting) goesOn(t *thread, stack []frameRef, units uint64, what awaited) {
	t.doing = doing{since: t.now(), before: what.deeds, from: len(t.carry), asked: true}
	if units = aw.focus.lasts(t, units); units > 0 {
		t.samples = append(t.samples, pathSample{stack: stack, base: t.base(), units: units, waits: true, awaits: what})
	}
}

// lets tells what the threads have waited for whose waits by has ended. Who has been woken from a
// condition and waits for its lock still does not wait for the work of who gives that back.
func (aw *awaiting) lets(by *thread, woken []*thread) {
	wakes := by.in(known.CondWake, known.CondWakeAll) != nil
	for _, t := range woken {
		if t.waitsOn == waitsReported && !t.untyped && (wakes || t.in(known.CondWait) == nil) {
			t.wake.what = aw.letsGo(by, t.segment.at)
		}
	}
}

// waitOver tells the end of a wait.
func (aw *awaiting) waitOver(t *thread, stack []frameRef) {
	waits, since, what := t.segment.stack, t.segment.at, t.wake.what
	t.wake.what = awaited{}
	switch idle := aw.segments.waitOver(t, stack); {
	case idle:
		aw.goesOn(t, waits, t.now()-min(t.now(), since), what)
	case aw.segments.rec.Ended(t.id):
		aw.goesOn(t, nil, 0, awaited{})
	}
}

// deedsIn are the functions of the program's own in which most was done; of others, if none was.
func (aw *awaiting) deedsIn(list []edgeCount) deeds {
	aw.add(list)
	return aw.shares()
}

func (aw *awaiting) shares() (out deeds) {
	var all [2]uint64 // by whose they are: others', the program's own
	for c, f := range aw.sums {
		all[ownAt(c.own)] += f.units
	}
	own := all[ownAt(true)] > 0
	for c, f := range aw.sums {
		if c.own == own {
			out = out.plus(f.at, float64(f.units)/float64(max(1, all[ownAt(own)])))
		}
	}
	slices.SortFunc(out, func(a, b deed) int { return cmp.Compare(a.pc, b.pc) })
	return out
}

func ownAt(own bool) int {
	if own {
		return 1
	}
	return 0
}

// add sums counts up by block, and these by function.
func (aw *awaiting) add(list []edgeCount) {
	clear(aw.blocks)
	clear(aw.sums)
	edges, blocks := aw.eng.Edges(), aw.eng.Blocks()
	for _, e := range list {
		if d := &edges[e.id]; d.From >= 0 && d.Kind != engine.EdgeReturn {
			aw.blocks[d.From] += e.n * uint64(blocks[d.From].Instrs)
		}
	}
	for id, n := range aw.blocks {
		aw.addBlock(id, blocks[id].PC, n)
	}
}

func (aw *awaiting) addBlock(id engine.BlockID, pc, n uint64) {
	c := aw.codeOf(id, pc)
	f := aw.sums[c]
	if f.units += n; n > f.most || n == f.most && pc < f.at {
		f.most, f.at = n, pc
	}
	aw.sums[c] = f
}

// codeOf looks once for whose a block is: threads let one another go on for millions of times.
func (aw *awaiting) codeOf(id engine.BlockID, pc uint64) codeOf {
	c, ok := aw.code[id]
	if !ok {
		c = codeOf{aw.images.start(pc), aw.images.own(pc)}
		aw.code[id] = c
	}
	return c
}

func (d deeds) plus(pc uint64, share float64) deeds {
	if share < leastDeed {
		return d
	}
	return append(d, deed{pc, share})
}

// mixed are the deeds of two times.
func mixed(a deeds, long uint64, b deeds, longer uint64) (out deeds) {
	part := float64(long) / float64(long+longer)
	for len(a)+len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].pc < b[0].pc:
			out, a = out.plus(a[0].pc, part*a[0].share), a[1:]
		case len(a) == 0 || b[0].pc < a[0].pc:
			out, b = out.plus(b[0].pc, (1-part)*b[0].share), b[1:]
		default:
			out = out.plus(a[0].pc, part*a[0].share+(1-part)*b[0].share)
			a, b = a[1:], b[1:]
		}
	}
	return out
}
