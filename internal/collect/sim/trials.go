// Trials: a thread that spins is run for a moment, beside the cores, to see whether it leaves its
// loop.

package sim

import (
	"slices"

	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/x86"
)

// trials tries whether threads leave their loops.
type trials struct {
	clocks     *clocks
	loops      *loops
	memory     *memory
	openCalls  *openCalls
	parking    *parking
	passPoints *passPoints
	places     *places
	rounds     *rounds
	segments   *segments
	eng        *engine.Engine
	images     *images
	blocks     *blockIndex
	run        stepper
}

// staysIn runs a thread for a moment, beside the cores, to see whether it leaves its loop. If not,
// it goes on waiting as if nothing had happened. If it does, that it has waited is proved, and the
// recogniser is told.
func (tr *trials) staysIn(s *spinner, at uint64) bool {
	t := s.t
	before := tr.cutBefore(s)
	k, was, busy, latest := t.core, t.at, t.busy, tr.clocks.latest
	t.core = &core{n: max(t.lastCore, 0), clock: at, heapPos: -1}
	watched := tr.watched(s)
	left := tr.tryOut(s)
	end := t.core.clock
	t.at, t.core = end, k
	p := &segment{}
	tr.segments.drain(t, p)
	if left || !s.in(t.ctx.RIP) || tr.rounds.strayed(s, p) {
		tr.prove(before)
		if s.passed { // the part goes from there past the loop: the last look is no part of the way, either
			taken, _ := tr.rounds.removeLoop(p, s)
			tr.segments.without(t, outLoop, taken)
		}
		tr.segments.keepWorked(t, p)
		if k != nil {
			k.clock = end
		}
		return false
	}
	tr.undo(before)
	tr.segments.without(t.acting(), outLoop, p.edges)
	for i := range s.loop.Watches {
		s.loop.Watches[i].Value = watched[i]
	}
	if s.held() {
		s.until -= min(s.until, end-at) // it has gone round so often
		s.keeps -= min(s.keeps, end-at)
	}
	t.at, t.busy, tr.clocks.latest = was, busy, latest // or each look would let it leave so much later
	return true
}

// watched is what the places that a loop watches hold. It is asked before a thread looks at them:
// what another process changes meanwhile may have come too late for its look, and calls for another.
func (tr *trials) watched(s *spinner) (values []uint64) {
	for i := range s.loop.Watches {
		w := &s.loop.Watches[i]
		v, _ := tr.memory.value(w.Addr, w.Bytes)
		values = append(values, v)
	}
	return values
}

// before is the segment in front of a loop that a thread is in, cut, and not told of yet.
type before struct {
	s     *spinner
	op    section.Op
	taken []edgeCount
	busy  uint64
	hw    hardware // of the loop, and what the segment holds
	pass  *passage
}

// cutBefore cuts it; nil if the recogniser knows of the wait, or is not told of such.
func (tr *trials) cutBefore(s *spinner) *before {
	if s.reported || !s.held() || s.t.waitsOn == waitsReported || s.t.covered() {
		return nil
	}
	t := s.t
	b := &before{s: s, busy: t.busy, pass: t.pass}
	b.op, b.taken = tr.parking.cutSpin(t, s)
	return b
}

// undo joins the segment to the one that goes on, with what was taken out of it.
func (tr *trials) undo(b *before) {
	if b == nil {
		return
	}
	t := b.s.t
	t.book.out[outLoop] -= tr.places.instrs(b.taken)
	t.pass, t.busy = nil, b.busy
	t.carry = append(b.taken, t.carry...)
	tr.segments.reopen(t, b.op.Span.(*segment))
}

// prove tells of the wait: the thread has left its loop because others have changed what it
// watches.
func (tr *trials) prove(b *before) {
	if b == nil {
		return
	}
	at := b.s.t.at
	tr.parking.reportSpin(b.s, b.op, b.taken)
	b.s.t.at = at
}

// Lengths of a trial, in blocks.
const (
	trialBlocks = 16   // beyond three rounds: who has not left by then goes round again
	mostTrial   = 8192 // of rounds in which the thread pauses for so long before it looks
	blocksAfter = 8    // behind the loop, in which a lock is tried for by whom it kept out
)

// tryOut runs the thread until it has left its loop, or has gone round again and looked at what has
// changed; what no loop does is left for its next turn.
func (tr *trials) tryOut(s *spinner) (left bool) {
	t, outside, looks := s.t, 0, tr.looksAt(s)
	for n := 0; n < 3*len(s.loop.Blocks)+trialBlocks || len(looks) > 0 && n < mostTrial; n++ {
		if s.in(t.ctx.RIP) {
			s.out = 0
		} else {
			if s.out == 0 {
				s.out = t.ctx.RIP
			}
			if outside++; outside > blocksAfter {
				return true
			}
			tr.seesTry(s)
		}
		from := t.ctx.RIP
		exit, ran := tr.run.stepOn(t)
		looks = slices.DeleteFunc(looks, func(pc uint64) bool { return tr.ranThrough(from, pc) })
		if exit.Reason == cpu.ExitBudget || exit.Reason == cpu.ExitProbe && ran > 0 && tr.openCalls.othersProbe(t) {
			continue
		}
		if _, does := tr.run.changesNothing(t, exit); !does {
			t.pending = &exit
			tr.seesTry(s)
			return true
		}
	}
	return false
}

// looksAt lists the instructions that look at what has changed for a loop.
func (tr *trials) looksAt(s *spinner) (pcs []uint64) {
	for i := range s.loop.Watches {
		w := &s.loop.Watches[i]
		if v, ok := tr.memory.value(w.Addr, w.Bytes); !ok || v != w.Value {
			pcs = append(pcs, w.PC)
		}
	}
	return pcs
}

// ranThrough reports whether an instruction is in the block at an address.
func (tr *trials) ranThrough(head, pc uint64) bool {
	id, ok := tr.blocks.startingAt(head)
	return ok && pc-head < uint64(tr.eng.Blocks()[id].Size)
}

// seesTry looks whether a thread that has left its loop now tries to take what it waited for: then
// that is a lock, and the instruction is where all who take it pass. If it tries to take something
// else, and goes back to its loop if it cannot, all who look may leave the loop at once, and one
// gets it: who lets them go opens no barrier.
func (tr *trials) seesTry(s *spinner) {
	if s.looked {
		return
	}
	h, ok := tr.loops.headOf(s.t)
	if !ok {
		return
	}
	at, word := tr.loops.follow.Tries(&h)
	switch {
	case at == 0:
	case word == s.object:
		s.tried, s.looked = s.object, true
		if s.point == 0 && tr.images.own(at) {
			tr.passPoints.pointAt(at)
		}
	case tr.leadsBack(s, at):
		s.contends = true
	}
}

// leadsBack reports whether the branch behind an instruction leads into a loop.
func (tr *trials) leadsBack(s *spinner, pc uint64) bool {
	const near = 8 // instructions from an attempt to the branch on its outcome
	for range near {
		in, ok := tr.memory.decode(pc)
		if !ok {
			return false
		}
		next := pc + uint64(in.Len)
		if in.Branch != x86.BranchNone {
			return s.in(next) || in.Branch == x86.BranchCond && s.in(in.Target(pc))
		}
		pc = next
	}
	return false
}
