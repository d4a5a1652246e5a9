package sim

import (
	"slices"

	"lime/internal/collect/spin"
	"lime/internal/engine"
)

// Order. A core runs ahead of the others for a while, and may take a lock and give it back
// meanwhile that others then find free at an earlier clock. So an instruction that reads or writes
// a word for which threads were seen to wait is done in the order of the clocks: a core goes on
// from there only when no other one that runs is behind. Whatever a lock is made of, what threads
// see of it is then what was there at that time. The core with the lowest clock never waits, so
// somebody always goes on; and who waits for what another one does has no clock that anybody waits
// for (it is parked, or blocked, and off the heap of cores).
//
// Which instructions these are comes from waits that were proved: the loads of the loop whose value
// had changed when the thread left; and, where the change came from an instruction that was not
// known, all that touch the word in the next turns, in which threads go block by block (a hunt).

// precedence knows which instructions are done in the order of the clocks.
type precedence struct {
	memory   *memory
	probes   *probes
	spinners *spinners
	eng      *engine.Engine
	beside   *beside
	order    ordering
}

// Limits of the order.
const (
	huntTurns = 4    // a hunt lasts for so many turns of threads, or twice as long as the wait
	longWait  = 20   // turns: who runs ahead does so by one turn, which is little beside waits that are longer
	mostHunts = 8    // words at a time
	firstSpan = 1000 // passages without a wait until it is tried whether the order still matters
	roundTrip = 500  // instructions: who is back at the same place after fewer may be going round
)

// ordering is the instructions that are done in the order of the clocks.
type ordering struct {
	places map[uint64]*orderly // by address
	words  map[uint64]*word
	hunts  []*hunt
}

// orderly is some such instructions, which touch the same words.
type orderly struct {
	at     []uint64
	passes int
	until  int // for how many passages the order is kept
	span   int // and for how many from each wait on
}

// word is a place in memory for which threads have waited.
type word struct {
	group *orderly
	waits int // that ended by an instruction that was not known
	hunts int
}

// hunt is the search for the instructions that touch a word.
type hunt struct {
	addr uint64
	n    int
	look uint64 // the instruction that looks at it in the loop that waits, 0 if that is not known
	left int64  // instructions
}

// visits are a thread's last times at such instructions.
type visits struct {
	last  [4]visit // a loop that waits looks at few words
	next  int
	fails uint
	skip  int
}

type visit struct {
	pc, sp  uint64
	retired uint64
}

// worth reports whether the order there still matters.
func (g *orderly) worth() bool { return g.passes < g.until }

// waitedAt notes a wait. The order there matters for a while from now on; for twice as long as the
// last time, if threads have been seen to wait since it was given up: perhaps only because of that.
func (o *precedence) waitedAt(g *orderly) {
	if !g.worth() {
		g.span = max(2*g.span, firstSpan)
		for _, pc := range g.at {
			o.probes.setProbe(pc)
		}
	}
	g.until = g.passes + g.span
}

// orderAt has an instruction done in order from now on.
func (o *precedence) orderAt(pc uint64, g *orderly) {
	if o.order.places == nil {
		o.order.places = map[uint64]*orderly{}
	}
	o.order.places[pc] = g
	g.at = append(g.at, pc)
	o.probes.setProbe(pc)
}

// orders reports whether what a thread does is to be in order: in a call of the table it is the
// table's affair, and a runtime's scheduler looks for work for others.
func (o *precedence) orders(t *thread) bool {
	return o.beside == nil && t.hosts == nil && t.goroutine == nil && !t.covered()
}

// goesRound reports whether a thread was at the same place just before, and is perhaps waiting. It
// may have been at others meanwhile.
func (o *precedence) goesRound(t *thread, pc uint64) bool {
	x, now := &t.visits, o.eng.Retired(t.ctx)
	here := visit{pc: pc, sp: t.ctx.GPR[rsp], retired: now}
	for i := range x.last {
		q := &x.last[i]
		if q.pc != pc || q.sp != here.sp || now-q.retired >= roundTrip {
			continue
		}
		q.retired = now
		if x.skip > 0 {
			x.skip--
			return false
		}
		return true
	}
	x.last[x.next%len(x.last)] = here
	x.next++
	x.fails, x.skip = 0, 0
	return false
}

// changedIn lists what by has changed of what a loop watches, and what is not known yet to be
// looked at.
func (o *precedence) changedIn(s *spinner, by *thread) (list []spin.Watch) {
	if by == nil || !o.orders(s.t) || !o.orders(by) {
		return nil
	}
	for i := range s.loop.Watches {
		w := &s.loop.Watches[i]
		v, ok := o.memory.value(w.Addr, w.Bytes)
		if !w.Stack && ok && (v != w.Value || o.order.places[w.PC] == nil && o.memory.mayChange(w)) {
			list = append(list, *w)
		}
	}
	return list
}

// sawChange notes that a thread leaves its loop because by has changed these words.
func (o *precedence) sawChange(s *spinner, by *thread, words []spin.Watch) {
	for i := range words {
		w := &words[i]
		g := o.order.places[w.PC]
		if g == nil {
			g = &orderly{}
			o.orderAt(w.PC, g)
		}
		o.waitedAt(g)
		if waited := by.now() - min(by.now(), s.t.now()); by.gave == 0 && waited < longWait*sliceLength {
			o.hunt(&hunt{addr: w.Addr, n: w.Bytes, look: w.PC, left: int64(2 * waited)}, g)
		}
	}
}

// hunt looks for the instructions that touch a word, if that has not been in vain too often.
func (o *precedence) hunt(h *hunt, g *orderly) {
	x := &o.order
	if x.words == nil {
		x.words = map[uint64]*word{}
	}
	w := x.words[h.addr]
	if w == nil {
		w = &word{group: g}
		x.words[h.addr] = w
	}
	w.waits++
	if len(x.hunts) == mostHunts || w.waits < 1<<min(w.hunts, 30) || slices.ContainsFunc(x.hunts, h.same) {
		return
	}
	w.hunts++
	h.left = max(h.left, huntTurns*sliceLength)
	x.hunts = append(x.hunts, h)
}

// same reports whether two hunts are for the same: threads that wait in one loop may each wait for
// a word of its own.
func (h *hunt) same(o *hunt) bool { return h.addr == o.addr || h.look != 0 && h.look == o.look }

// hunted is the word that an access touches and that is hunted, 0 if there is none: the word
// itself, or another one that somebody waits for in the same loop.
func (o *precedence) hunted(addr uint64, n int) uint64 {
	for _, h := range o.order.hunts {
		if addr < h.addr+uint64(h.n) && h.addr < addr+uint64(n) {
			return h.addr
		}
		for _, s := range o.spinners.parked {
			for i := range s.loop.Watches {
				if w := &s.loop.Watches[i]; w.PC == h.look && addr < w.Addr+uint64(w.Bytes) && w.Addr < addr+uint64(n) {
					return h.addr
				}
			}
		}
	}
	return 0
}

// touches notes that an instruction touches a hunted word.
func (o *precedence) touches(pc, addr uint64) {
	w := o.order.words[addr]
	if g := o.order.places[pc]; g != nil {
		w.group = g
		return
	}
	o.orderAt(pc, w.group)
}

// futexBytes is the size of the word that a thread gives the kernel to wait for (futex(2)).
const futexBytes = 4

// waitsInSystem notes that a thread waits in the kernel for a word to change. It came there because
// of what it found in that word, and others wake it when they have changed it.
func (o *precedence) waitsInSystem(t *thread, addr uint64) {
	if !o.orders(t) {
		return
	}
	w := o.order.words[addr]
	if w == nil {
		o.hunt(&hunt{addr: addr, n: futexBytes}, &orderly{})
		return
	}
	o.waitedAt(w.group)
	o.hunt(&hunt{addr: addr, n: futexBytes}, w.group)
}
