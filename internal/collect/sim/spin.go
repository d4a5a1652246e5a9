package sim

import (
	"slices"

	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/section"
	"lime/internal/unit"
)

// Spinning is waiting: a thread that goes round a loop that changes nothing and watches memory
// is taken off its core until that memory changes.

// Limits of the search for spin loops.
const (
	traceBlocks = 256       // blocks followed to get round a loop
	maxWatches  = 16        // places that one loop may watch
	trialLength = 1_000     // instructions in which a woken thread must leave its loop
	boundedPark = 2_000_000 // clock units for which a loop with a counter is parked
	maxSkip     = 10        // log2 of the slices for which a loop that failed is let alone
)

// sysSchedYield is the number of sched_yield (syscall_64.tbl).
const sysSchedYield = 24

// spin is a thread that waits in a loop.
type spin struct {
	t       *thread
	blocks  map[engine.BlockID]bool // of the loop
	heads   map[uint64]bool         // their addresses
	watches []watch
	bounded bool   // the loop counts: it will give up some time
	object  uint64 // first place watched that is not on the thread's stack
	told    bool   // the recogniser knows
	call    uint64 // the program's own place
	tried   uint64 // the lock that the thread tried to take in front of the loop, 0 if none
	point   uint64 // pass point, 0 if none
	since   uint64
	woken   uint64 // the clock at which it was released
}

// watch is a place in memory and what it held.
type watch struct {
	addr  uint64
	n     int
	value uint64
	stack bool
}

// spinTable is the threads that spin, and the pass points of their loops.
type spinTable struct {
	parked []*spin
	points map[uint64]*point
	lo, hi uint64  // where the last trace led
	loops  []*spin // that threads were seen to wait in, one for each place
	now    *spin   // whose thread is about to be parked: that wait is told of by itself
	of     []int32 // by BlockID: 1 + the index of its loop, 0 if none
	tried  uint64  // work done in all when everything was let loose last
	path   []state // for trace, whose memory is used again
	seen   []uint64
	harm   harmTable
}

func (x *spinTable) init() {
	x.points = map[uint64]*point{}
}

// point is an instruction that every thread passes on its way to a spin loop,
// the one that ends the spinning too.
type point struct {
	waiting       int // threads that spin behind it
	passes, parks int
}

// worth reports whether it still pays to stop at the point: now and then
// somebody does spin behind it.
func (p *point) worth() bool { return p.waiting > 0 || p.passes < 1000+100*p.parks }

// passage is a thread's last way through the place in front of a spin loop.
type passage struct{ at uint64 }

// stillness is how a thread looked when its last slices ended.
type stillness struct {
	pc      uint64
	lo, hi  uint64 // the loop that was looked at last, in vain
	fails   uint
	skip    int
	yields  int
	suspect bool // it has just passed a point behind which threads spin
}

// nearby is how far a spinning thread can be from where it was a slice before.
const nearby = 1 << 10

// looksStill is asked when a slice is used up: if the thread has not moved from
// where it was, it may be spinning.
func (r *run) looksStill(t *thread) {
	if t.blocked || t.core == nil {
		return
	}
	q := &t.still
	near := t.ctx.RIP-q.pc+nearby < 2*nearby
	q.pc = t.ctx.RIP
	if q.pc < q.lo || q.pc > q.hi { // another loop than the one that was looked at in vain
		q.skip = min(q.skip, 1<<otherSkip)
	}
	switch {
	case q.suspect:
		q.suspect = false
	case !near:
		q.fails = 0
		return
	case q.skip > 0:
		q.skip--
		return
	}
	r.tryPark(t)
}

// otherSkip is the log2 of the slices for which a thread is let alone at most
// when it has gone on to another loop.
const otherSkip = 1

// yieldStill is asked when a thread yields: many do so in a loop until memory changes.
func (r *run) yieldStill(t *thread) {
	if t.core == nil {
		return
	}
	q := &t.still
	if q.pc != t.ctx.RIP {
		q.pc, q.yields = t.ctx.RIP, 0
	}
	if q.yields++; q.yields%4 == 0 {
		r.tryPark(t)
	}
}

// tryPark follows the thread round its loop, and parks it if that changes nothing.
func (r *run) tryPark(t *thread) {
	if len(r.byGuest) < 2 || r.schedulerSpins(t) {
		return
	}
	s := r.trace(t)
	if r.end.over || t.blocked || t.gone || t.core == nil {
		return
	}
	if s == nil {
		q := &t.still
		if q.pc < q.lo || q.pc > q.hi {
			q.fails = 0
		}
		q.lo, q.hi = r.spins.lo, r.spins.hi
		t.still.fails = min(t.still.fails+1, maxSkip)
		t.still.skip = 1 << t.still.fails
		return
	}
	r.park(s)
}

// state is a thread at the head of a block.
type state struct {
	pc  uint64
	gpr [16]uint64
}

func stateOf(t *thread) state { return state{t.ctx.RIP, t.ctx.GPR} }

// trace steps t block by block until it is where it was. It returns nil if the
// way there changed anything but one counter.
func (r *run) trace(t *thread) *spin {
	path := append(r.spins.path[:0], stateOf(t))
	defer func() { r.spins.path = path }()
	seen, judged := append(r.spins.seen[:0], path[0].pc), 0
	defer func() { r.spins.seen = seen }()
	r.spins.lo, r.spins.hi = t.ctx.RIP, t.ctx.RIP
	for range traceBlocks {
		if !r.traceStep(t) {
			return nil
		}
		now := stateOf(t)
		r.spins.lo, r.spins.hi = min(r.spins.lo, now.pc), max(r.spins.hi, now.pc)
		if !slices.Contains(seen, now.pc) {
			seen = append(seen, now.pc)
		}
		if now.pc != path[0].pc {
			path = append(path, now)
			continue
		}
		differ := differences(&path[0], &now)
		if differ > 1 {
			return nil
		}
		if judged == len(seen) {
			continue // round the same way as before, where nothing is watched
		}
		judged = len(seen)
		if s, pure := r.judge(t, path, differ); !pure || s != nil {
			if s != nil && r.counted(path, &now) {
				return nil
			}
			return s
		}
		path = append(path, now)
	}
	return nil
}

func differences(a, b *state) (n int) {
	for i := range a.gpr {
		if a.gpr[i] != b.gpr[i] {
			n++
		}
	}
	return n
}

// traceStep runs one block, and sched_yield.
func (r *run) traceStep(t *thread) bool {
	exit, _ := r.step(t, 1)
	switch exit.Reason {
	case cpu.ExitBudget:
		return true
	case cpu.ExitProbe:
		if r.othersProbe(t) {
			return true
		}
	case cpu.ExitSyscall:
		if t.ctx.GPR[rax] != sysSchedYield {
			break
		}
		out := r.guarded(t, func() guest.Outcome { return r.proc.HandleSyscall(t.g) })
		if out.Kind == guest.Yield || out.Kind == guest.Continue {
			return r.act(t, r.enter(t))
		}
		r.act(t, out)
		return false
	}
	if r.handle(t, exit) && t.core != nil {
		r.act(t, r.enter(t))
	}
	return false
}

// othersProbe reports whether the probe at which t stands means nothing to it: others returned here, or came home from a wait.
func (r *run) othersProbe(t *thread) bool {
	pc, sp := t.ctx.RIP, t.ctx.GPR[rsp]
	if t.hosts != nil || t.gopher != nil || r.entries[pc] != nil || r.bodies[pc] != nil || r.tasks[pc] != nil || r.spins.points[pc] != nil {
		return false
	}
	if r.heap != nil && r.heap.probes[pc] || t.home != nil && t.home.ret == pc || t.meet == pc {
		return false
	}
	n := len(t.frames)
	return n == 0 || t.frames[n-1].rsp >= sp
}

// judge looks at the blocks on the path: do they only load? pure is false if not; the
// spin is nil as long as nothing is watched.
func (r *run) judge(t *thread, path []state, differ int) (s *spin, pure bool) {
	if !r.harmlessPath(path) {
		return nil, false
	}
	s = &spin{t: t, blocks: map[engine.BlockID]bool{}, heads: map[uint64]bool{}, bounded: differ > 0, since: t.now()}
	watched := map[uint64]bool{}
	for i := range path {
		id, ok := r.blocks.startingAt(path[i].pc)
		if !ok {
			return nil, false
		}
		s.blocks[id], s.heads[path[i].pc] = true, true
		loads, ok := r.loads(t, &path[i], &r.eng.Blocks()[id])
		if !ok {
			return nil, false
		}
		for _, w := range loads {
			if !watched[w.addr] {
				watched[w.addr] = true
				s.watches = append(s.watches, w)
			}
		}
	}
	if len(s.watches) > maxWatches {
		return nil, false
	}
	return s.settle(), true
}

// settle decides what the loop waits for. Places on the thread's own stack count only
// if the loop changes nothing at all: else they may be its counters.
func (s *spin) settle() *spin {
	var keep []watch
	for _, w := range s.watches {
		if !w.stack || !s.bounded {
			keep = append(keep, w)
		}
		if !w.stack && s.object == 0 {
			s.object = w.addr
		}
	}
	s.watches = keep
	if len(keep) == 0 || s.bounded && s.object == 0 {
		return nil
	}
	if s.object == 0 {
		s.object = keep[0].addr
	}
	return s
}

// park takes a spinning thread off its core.
func (r *run) park(s *spin) {
	t := s.t
	end := t.now()
	t.waitAt = end
	switch {
	case t.waitsOn == waitsTold:
	case t.covered():
		t.waitsOn = waitsInner
		r.dropLoop(t, s)
	default:
		r.tellSpin(t, s)
		end = t.waitAt
		t.core.clock = end // it has done nothing since, and goes on as soon as it may
		r.cores.moved(t.core)
	}
	t.at, t.blocked, t.spin = end, true, s
	r.spins.parked = append(r.spins.parked, s)
	r.cores.release(t)
	r.alike(s)
}

// alike parks the other threads that stand in the same loop: nobody may be
// missing when it ends.
func (r *run) alike(s *spin) {
	for _, t := range r.threads {
		if t.core != nil && !t.blocked && !t.gone && t.pending == nil && t.probed == 0 && s.heads[t.ctx.RIP] {
			r.tryPark(t)
		}
	}
}

// tellSpin tells the recogniser of the wait. What the loop did is no work: its edges are taken out,
// and the wait began when the loop was entered.
func (r *run) tellSpin(t *thread, s *spin) {
	r.spins.now = s
	op, p := r.cutOp(t, section.OpWaitBegin)
	r.spins.now, p.loop = nil, s
	if low := r.place(s); len(op.Site.Stack) > 0 && uint64(op.Site.Stack[0].Call) == p.pc && r.images.own(low) {
		op.Site.Stack[0] = r.frame(low, low) // the same place whatever block the thread was in
	}
	units := r.removeLoop(p, s)
	units = min(units, p.at-p.start.at, t.busy)
	t.busy -= units
	t.waitAt = p.at - units
	op.At, op.Object = unit.Cycles(t.waitAt), s.object
	s.point = r.passPoint(s, p)
	op.Untyped = s.point == 0
	s.call = uint64(op.Site.Place())
	r.suspect(t, &op)
	if s.tried = t.tried; s.tried == 0 {
		s.tried = r.tried(t, s.point) // as near as the registers still tell
	}
	r.learn(s)
	r.feed(op)
	s.told = true
	t.waitsOn, t.object = waitsTold, s.object
	if s.point != 0 {
		r.pointAt(s.point).park()
	}
}

// changed reports whether the loop would see something new.
func (r *run) changed(s *spin) bool {
	for _, w := range s.watches {
		if v, ok := r.value(w.addr, w.n); !ok || v != w.value {
			return true
		}
	}
	return false
}

// pointAt is the pass point at an address; it has a probe from now on.
func (r *run) pointAt(pc uint64) *point {
	p := r.spins.points[pc]
	if p == nil {
		p = &point{}
		r.spins.points[pc] = p
		r.setProbe(pc)
	}
	return p
}

func (p *point) park() {
	p.waiting++
	p.parks++
}

// passing notes that a thread comes past the place in front of a loop in which others spin:
// it will spin too, or release them. It reports whether the thread must wait for its turn.
func (r *run) passing(t *thread, pc uint64) (wait bool) {
	p := r.spins.points[pc]
	if p == nil || !p.worth() || t.covered() {
		return false
	}
	if !r.cores.first(t.here().core) {
		return true
	}
	p.passes++
	t.tried = r.tried(t, pc)
	t.still.suspect = true
	if p.waiting > 0 && !r.released(pc) {
		op, _ := r.cutOp(t, section.OpRelease)
		r.feed(op)
		t.pass = &passage{at: t.now()}
	}
	return false
}

// tried is the address at which the instruction at pc tries to take a lock, 0 if it does not.
func (r *run) tried(t *thread, pc uint64) uint64 {
	if pc == 0 {
		return 0
	}
	in, ok := r.decode(pc)
	if !ok || !tries(&in) || !in.HasMem {
		return 0
	}
	v := values{r: r, t: t, gpr: t.ctx.GPR, known: 0xffff}
	addr, _ := v.address(&in, pc)
	return addr
}

// released reports whether those who spin behind a point have been released already.
func (r *run) released(pc uint64) bool {
	for _, s := range r.spins.parked {
		if s.point == pc && r.changed(s) {
			return true
		}
	}
	return false
}
