// Barriers that the compiler has put into the function which uses them, or that are two functions,
// threads in parallel: there is no function to watch, but a way: from the last instruction before
// the loop at which threads can meet, to where the loop is left.

package sim

import (
	"maps"

	"lime/internal/binfile"
	"lime/internal/collect/known"
	"lime/internal/collect/threads"
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/unit"
	"lime/internal/x86"
)

// ways watches ways on which threads wait.
type ways struct{ r *run }

// watchLoop watches the way through the loop in which t waits, or else one around it, or past the call
// of it.
func (w ways) watchLoop(t *thread, s *spinner) {
	head := w.r.loops.place(s)
	entry, exit := w.r.loops.passPoint(head, s.spans, t.carry), w.r.loops.wayOut(s)
	g := w.r.barriers.candidates[entry]
	switch {
	case entry != 0 && exit != 0 && g == nil && w.r.openCalls.entries[entry] == nil:
		w.watchWay(t, entry, exit, t.ctx.GPR[rsp])
	case entry != 0 && exit != 0 && (g == nil || g.state != candidateRefuted):
	case !w.aroundLoop(t, s, head):
		w.watchCall(t)
	}
}

// aroundLoop watches a way around a loop in the program's own code.
func (w ways) aroundLoop(t *thread, s *spinner, head uint64) bool {
	fn := w.r.images.start(head)
	if fn == 0 || !w.r.images.own(head) {
		return false
	}
	if w.r.images.start(t.ctx.RIP) == fn {
		return w.onRoute(t, head, s.spans, t.ctx.GPR[rsp])
	}
	for _, f := range w.r.places.stack(t) {
		if w.r.images.start(f.ret-1) == fn {
			return w.onRoute(t, head, s.spans, f.cfa)
		}
	}
	return false
}

// watchCall watches a way around the call in which t waits, or that ends behind it: in a library's
// function, or in one that begins when t has arrived already, as to arrive and to wait are two. It
// reports whether t is on a way that may be a barrier.
func (w ways) watchCall(t *thread) bool {
	level, library := 0, false
	for _, f := range w.r.places.stack(t) {
		if !w.r.images.own(f.ret-1) || w.leftEarly(f.ret) {
			continue
		}
		if level++; level == 1 {
			library = w.callsLibrary(w.r.places.blocks.callBefore(f.ret))
		}
		if level > candidateLevels || w.onWayTo(t, f, library) {
			break
		}
	}
	return t.watchedCandidate() != nil
}

// onWayTo reports whether a way on which t waits is watched, in one of the functions that it is in. What
// asks the system to wait belongs to what is around it, and so do functions in the same image: the code
// says where that begins. A library's function may be called by whoever likes, and the way is the call's.
func (w ways) onWayTo(t *thread, f frameRef, library bool) bool {
	r := w.r
	call := r.places.blocks.callBefore(f.ret)
	if !library {
		return w.onRoute(t, call, nil, f.cfa)
	}
	entry := r.loops.passPoint(call, nil, t.carry)
	g := r.barriers.candidates[entry]
	switch {
	case entry == 0 || g == nil && r.openCalls.entries[entry] != nil:
		return false
	case g == nil:
		g = w.watchWay(t, entry, f.ret, f.cfa)
		g.call = true
	case g.call && g.exit == f.ret && g.state != candidateRefuted && !t.inside(g) && (g.seen[t] || g.party[t]):
		r.barriers.refute(g) // it has come out of the call, and waits there again
	}
	return g.state != candidateRefuted
}

// callsLibrary reports whether a call is one of a library's function that is linked, and none that asks
// the system alone. (What the compiler made of a library's template is the program's, unless it is known
// to be a semaphore's.)
func (w ways) callsLibrary(call uint64) bool {
	in, ok := w.r.memory.decode(call)
	if !ok || in.Branch != x86.BranchCall {
		return true
	}
	im, s, ok := w.r.images.Func(in.Target(call))
	return !ok || (im.Library || s.Kind == binfile.SymPLT) && s.Name != "syscall" || known.Semaphore(s.Name)
}

// leftEarly reports whether a thread stands in a function of which it is proved that not all have to
// come into it: nor do they to a way in it.
func (w ways) leftEarly(ret uint64) bool {
	g := w.r.barriers.candidates[w.r.images.start(ret-1)]
	return g != nil && g.exit == 0 && g.early
}

// watchWay watches a way on which t waits; sp is the height of the stack there.
func (w ways) watchWay(t *thread, entry, exit, sp uint64) *candidate {
	g := w.r.barriers.newCandidate(entry)
	g.exit = exit
	w.r.probes.setProbe(exit)
	c := w.r.barriers.enterWay(t, g, sp)
	c.candidate, c.before, c.partly = g, t.worked(), true
	return g
}

// wayOut is the place in the program's own code to which a loop is left; 0 if there are several.
func (ls *loops) wayOut(s *spinner) (out uint64) {
	blocks := ls.eng.Blocks()
	ls.rounds.sync(s)
	outs := map[uint64]bool{}
	for id := range s.blocks {
		b := &blocks[id]
		if b.End != engine.EndCond || !s.own[b.PC] {
			continue
		}
		ways, ok := ls.branches(b)
		if !ok {
			return 0
		}
		for _, to := range ways {
			if !s.heads[to] {
				outs[to] = true
			}
		}
	}
	maps.DeleteFunc(outs, func(pc uint64, _ bool) bool { return ls.looksAgain(s, pc, outs) })
	if len(outs) != 1 {
		return 0
	}
	for out = range outs {
	}
	return out
}

// looksAgain reports whether a place outside of the rounds that a thread was followed is in the loop
// all the same: from there it goes on into the rounds, or leaves like they do. So it is where a
// thread looks in other rounds than those, as long as it does not give its core away, for one.
func (ls *loops) looksAgain(s *spinner, pc uint64, outs map[uint64]bool) bool {
	id, ok := ls.blocks.startingAt(pc)
	if !ok || ls.eng.Blocks()[id].End != engine.EndCond {
		return false
	}
	ways, ok := ls.branches(&ls.eng.Blocks()[id])
	leaves := func(to uint64) bool { return to != pc && outs[to] }
	return ok && (s.heads[ways[0]] && (s.heads[ways[1]] || leaves(ways[1])) || leaves(ways[0]) && s.heads[ways[1]])
}

// branches are the two ways on behind a block.
func (ls *loops) branches(b *engine.Block) (to [2]uint64, ok bool) {
	in, ok := ls.memory.decode(b.LastPC)
	return [2]uint64{in.Target(b.LastPC), b.PC + uint64(b.Size)}, ok && in.Branch == x86.BranchCond
}

// enterAt opens the call of a candidate, or the way that is one: that ends where the loop is left,
// on the same height of the stack.
func (b *barriers) enterAt(t *thread, g *candidate) *call {
	if g.exit == 0 {
		return b.openCalls.open(t, g.f)
	}
	sp, _ := b.openCalls.height(t)
	return b.enterWay(t, g, sp)
}

func (b *barriers) enterWay(t *thread, g *candidate, sp uint64) *call {
	t.frames = append(t.frames, call{fn: g.f, ret: g.exit, rsp: sp, object: g.f.Constant, at: t.now()})
	return &t.frames[len(t.frames)-1]
}

// ends reports whether a thread that stands at pc has come to the end of the way, or to its start
// again: who lets the others go may go on elsewhere.
func (c *call) ends(pc, sp uint64) bool {
	return c.candidate != nil && c.candidate.exit != 0 && c.rsp == sp &&
		(pc == c.ret || pc == c.candidate.f.Constant&^threads.Candidate)
}

// elsewhere is for a thread that has not come to the end of the way in which it was.
func (b *barriers) elsewhere(t *thread, c *call) {
	if c.reported {
		b.passesOn(t, c)
	} else {
		b.beside.comesOut(c.candidate, t)
	}
	if g := c.candidate; g.call && g.state != candidateRefuted { // there is another way
		b.refute(g)
	}
}

// passesOn lets t go on that has come to the end of a way without waiting: all that it has done
// since it arrived is in its next part.
func (b *barriers) passesOn(t *thread, c *call) {
	b.outOfCandidate(t, c.candidate)
	k := t.here().core
	late := c.meeting.last - min(c.meeting.last, c.at)
	c.meeting.over = true
	if k != nil {
		k.clock += late
	}
	t.segment.at += late
	op := t.simple(section.OpLeave, c.object)
	op.At = unit.Cycles(t.segment.at)
	b.operations.feed(op)
}

// lastOnWay lets the last to arrive go on: it will not wait, and may not come by where the others
// leave their loop.
func (b *barriers) lastOnWay(t *thread, g *candidate) {
	n := len(t.frames) - 1
	if g.exit == 0 || g.call || !g.complete() {
		return
	}
	c := t.frames[n]
	t.frames = t.frames[:n]
	delete(g.in, t)
	g.last = t
	b.passesOn(t, &c)
}

// arrivalAt is an arrival at a candidate.
func (b *barriers) arrivalAt(t *thread, g *candidate, c *call) section.Op {
	if g.exit == 0 {
		return b.openCalls.arrival(t, c, section.OpArrive)
	}
	op, p := b.segments.cutOp(t, section.OpArrive)
	op.Object = c.object
	c.site, c.segment = op.Site, p
	return op
}
