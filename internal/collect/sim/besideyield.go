// Yields where threads run in parallel. Who gives its core away waits for what others do
// (yield.go). With a core of its own it would look again and again while they work: so its clock
// goes with theirs. Who makes a task does so for a lock of the runtime's: how long that took is the
// host's load, and its clock stays where it is.

package sim

import (
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"lime/internal/collect/known"
	"lime/internal/cpu"
)

// yields gives the host's core away. Who does so again and again may wait in a loop.
func (b *beside) yields(t *thread) {
	const first, most = 4, 256 // after so many times it is looked what it waits for, then after twice as many
	if b.over {
		b.outside(func() { _, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) })
		return
	}
	if t.host.waits = (!t.covered() || t.schedules()) && !makesTask(b.r, t); t.host.waits {
		t.host.turn = 0 // it is soon seen that it goes on
	}
	kept := t.host.waits && b.keepsUp(t)
	if len(b.turnstile.queue) == 0 {
		b.r.exits.apart(func() {
			b.r.mu.Unlock()
			_, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			b.r.mu.Lock()
		})
	} else {
		t.host.yielded = !kept
	}
	if t.covered() {
		return
	}
	b.r.notes.Add("yields", "A thread gave its core away by sched_yield: where it did so to wait for another thread, "+
		"its wait is as long as those worked meanwhile who had not given theirs away")
	t.host.yields++
	if t.host.row++; t.host.row >= max(t.host.next, first) && t.core != nil {
		t.host.next = t.host.row + min(t.host.row, most)
		b.r.barriers.suspectHere(t)
		if loopOf(b.r.places, t, b.lockLoops) == nil { // else it is known what it waits for
			b.r.parking.tryPark(t)
		}
	}
}

// makesTask reports whether t is making a task, in the runtime.
func makesTask(r *run, t *thread) bool {
	if r.tasks.dealer.turns == 0 { // nobody makes any
		return false
	}
	way := r.places.between(t)
	return len(way) > 1 && known.MakesTask(way[len(way)-2])
}

// keepsUp moves the clock of t, which has given its core away, to that of the thread that is
// furthest behind of those for whom it may wait: until then none of them has done what it waits
// for, or it would not have looked in vain. It is false if there is nobody whom it could wait for, or
// if one of those who only wait has asked to stay behind all others: it may have to go on, for t to.
func (b *beside) keepsUp(t *thread) bool {
	const nobody = math.MaxUint64
	at, waiting, behind := uint64(nobody), uint64(nobody), false
	for _, o := range b.r.roster.byGuest {
		switch {
		case o == t || o.core == nil:
		case o.host.waits || o.host.yielded:
			waiting, behind = min(waiting, o.now()), behind || o.host.yielded
		default:
			at = min(at, o.now())
		}
	}
	works := at != nobody
	if !works { // one of those who wait has to go on, perhaps for what t has done
		at = waiting
	}
	if at == nobody || t.core == nil {
		return false
	}
	if t.host.lets = at; inGoRuntime(t) {
		return works || !behind
	}
	ahead := at - min(at, t.now())
	call, round := b.round(t)
	if a, units := t.acting(), round+ahead; units > 0 && call != 0 {
		kind := spinWait
		if s := loopOf(b.r.places, t, b.lockLoops); s != nil { // wherever in the loop it does so
			kind, call = s.kind(), s.call
		}
		a.noteYielded(kind, call, units)
	}
	t.core.clock += ahead
	t.host.from = t.core.clock
	return works || !behind
}

// loopOf is the loop of a list in which t, which gives its core away, is: the code around that may be
// in others, too.
func loopOf(pl *places, t *thread, list []*spinner) *spinner {
	stack := pl.stack(t)
	for _, s := range list {
		below, ok := s.loop.Below[t.ctx.RIP]
		around := func(f frameRef) bool {
			return f.cfa == t.ctx.GPR[rsp]+below && s.in(pl.blocks.callBefore(f.ret))
		}
		if ok && (below == 0 || slices.ContainsFunc(stack, around)) {
			return s
		}
	}
	return nil
}

// waitsForLock has what t has waited for by giving its core away in a loop, but in no function that it
// calls, be for a lock: it is proved now that the loop is one's.
func waitsForLock(t *thread, s *spinner) {
	was := t.yielded
	t.yielded = nil
	for _, y := range was {
		if y.kind == spinWait && s.outermost(y.call) {
			y.kind, y.call = s.kind(), s.call
		}
		t.yielded = noted(t.yielded, y)
	}
}

// outermost reports whether an instruction is in a block of the loop's outermost function.
func (s *spinner) outermost(pc uint64) bool {
	for i, x := range s.spans {
		if i < len(s.loop.Blocks) && x.lo <= pc && pc < x.hi {
			below, ok := s.loop.Below[x.lo]
			return ok && below == 0
		}
	}
	return false
}

// round takes what t has done since it was looked at last out of its counts, if it was nothing but
// a loop in which somebody was proved to wait. It returns the place that waits.
func (b *beside) round(t *thread) (call, units uint64) {
	r := b.r
	if t.schedules() { // it has no part
		return 0, 0
	}
	if s := loopOf(b.r.places, t, b.loops); s != nil && t.hosts == nil && t.goroutine == nil {
		p := &segment{}
		r.segments.drain(t, p)
		taken, units := r.rounds.removeLoop(p, s)
		if len(p.edges) > 0 { // it has come to the loop, or has done something in between
			p.edges = append(p.edges, taken...)
			t.keepFor(p)
			return s.call, 0
		}
		r.segments.without(t, outLoop, taken)
		units = min(units, t.busy)
		t.busy -= units
		return s.call, units
	}
	return r.places.ownCall(t.acting()), 0
}

// goesOn notes how t has left its code: by giving its core away once more, or not.
func (h *hostThread) goesOn(t *thread, exit cpu.Exit) {
	if exit.Reason == cpu.ExitSyscall && t.ctx.GPR[rax] == sysSchedYield {
		return
	}
	h.waits = false
	if exit.Reason == cpu.ExitSyscall {
		h.row, h.next = 0, 0
	}
}
