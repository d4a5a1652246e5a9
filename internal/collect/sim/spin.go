package sim

import (
	"lime/internal/collect/spin"
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/unit"
	"lime/internal/x86"
)

// Spinning is waiting: a thread that is proved to go round a loop until memory changes (package
// spin) is taken out of the others' way until that happens.

// Limits of the search for spin loops.
const (
	maxSkip    = 12 // log2 of the slices for which a loop that failed is let alone
	otherSkip  = 1  // the same, when it has gone on to another loop
	longSearch = 4  // every so many searches that failed, one follows rounds of any length
)

// sysSchedYield is the number of sched_yield (syscall_64.tbl).
const sysSchedYield = 24

// spinner is a thread that goes round a loop in which threads wait, as far as the loop can tell
// (package spin).
type spinner struct {
	t        *thread
	loop     *spin.Loop
	blocks   map[engine.BlockID]bool
	heads    map[uint64]bool // their addresses
	own      map[uint64]bool // of these, those in the program's own code; all, if there are none
	until    uint64          // clock up to which it surely goes round, if nothing changes
	object   uint64          // first place watched that is not on the thread's stack
	told     bool            // the recogniser knows
	call     uint64          // the program's own place
	tried    uint64          // the lock that the thread tried to take in front of the loop, 0 if none
	point    uint64          // pass point, 0 if none
	passed   bool            // its piece ended there, and not at the loop
	woken    uint64          // the clock at which it was released
	spans    []extent        // the code of its blocks
	contends bool            // what it tries to take then is another word
	seen     int             // blocks of the engine that it was held against
}

// extent is a stretch of code.
type extent struct{ lo, hi uint64 }

// in reports whether an instruction belongs to the loop.
func (s *spinner) in(pc uint64) bool {
	for i := range s.spans {
		if s.spans[i].lo <= pc && pc < s.spans[i].hi {
			return true
		}
	}
	return false
}

// sync takes in blocks into which the loop's have been cut meanwhile.
func (r *run) sync(s *spinner) {
	all := r.blocks.sync()
	for ; s.seen < len(all); s.seen++ {
		if b := &all[s.seen]; s.in(b.PC) {
			s.blocks[engine.BlockID(s.seen)], s.heads[b.PC] = true, true
			if r.images.own(b.PC) {
				s.own[b.PC] = true
			}
		}
	}
}

// kind is what its wait is, if it ends no section. A lock is what those who waited try to take.
func (s *spinner) kind() waitEvent {
	if s.tried != 0 && s.tried == s.object {
		return lockWait
	}
	return spinWait
}

// held reports whether the thread keeps its core: it may yet turn out that it did not wait.
func (s *spinner) held() bool { return !s.loop.Fixed }

// spinTable is the threads that spin, and the pass points of their loops.
type spinTable struct {
	parked []*spinner
	points map[uint64]*point
	lo, hi uint64   // where the last search led
	cycles []cycle  // rounds of loops in which threads were seen to wait
	of     []int32  // by EdgeID: 1 + the index of a cycle that it is in, 0 if none
	now    *spinner // whose thread is about to be parked: that wait is told of by itself
	follow *spin.Follower
	handed map[uint64]bool      // by the program's own place: what threads wait for there is handed from one to the next
	ran    uint64               // instructions of its last step
	insts  map[uint64]*x86.Inst // of the search under way
}

func (x *spinTable) init() {
	x.points = map[uint64]*point{}
}

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
	if t.blocked || t.core == nil || r.past() {
		return
	}
	q := &t.still
	near := t.ctx.RIP-q.pc+nearby < 2*nearby
	q.pc = t.ctx.RIP
	inVain := q.lo <= q.pc && q.pc <= q.hi
	if !inVain { // another loop than the one that was looked at in vain
		q.skip = min(q.skip, 1<<otherSkip)
	}
	suspect := q.suspect
	q.suspect = false
	switch {
	case suspect && !inVain:
	case !near && !suspect:
		q.fails = 0
		return
	case q.skip > 0:
		q.skip--
		return
	}
	r.tryPark(t)
}

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

// tryPark follows the thread round its loop, and takes it out of the others' way if it waits there.
func (r *run) tryPark(t *thread) {
	if len(r.byGuest) < 2 || r.schedulerSpins(t) {
		return
	}
	if r.beside != nil {
		if !t.covered() { // else what it does is waiting anyway
			r.beside.seeks(t)
		}
		return
	}
	from := t.now()
	l := r.search(t)
	if r.end.over || t.blocked || t.gone || t.core == nil {
		return
	}
	if l != nil {
		if s := r.spinner(t, l, from); s != nil && r.goesTo(t, r.place(s), r.spins.follow.Steps()) && r.pays(s) {
			t.still.lo, t.still.hi, t.still.fails, t.still.skip = 0, 0, 0, 0
			r.park(s)
			return
		}
	}
	r.inVain(t)
}

// inVain lets a thread alone for a while whose loop is not proved to wait.
func (r *run) inVain(t *thread) {
	q := &t.still
	if q.pc < q.lo || q.pc > q.hi {
		q.fails = 0
	}
	q.lo, q.hi = r.spins.lo, r.spins.hi
	q.fails = min(q.fails+1, maxSkip)
	q.skip = 1 << q.fails
}

// pays reports whether others have something to do before the loop may end by itself.
func (r *run) pays(s *spinner) bool {
	if s.loop.Fixed {
		return true
	}
	clock, other := r.cores.behind(s.t.core)
	return other != nil && clock < s.until && s.until-s.t.now() > sliceLength
}

// goesTo lets t go on round its loop to one place: all who wait there are to stand at the same.
func (r *run) goesTo(t *thread, pc uint64, most int) bool {
	for range most {
		if t.ctx.RIP == pc {
			break
		}
		if !r.traceStep(t) {
			return false
		}
	}
	return t.ctx.RIP == pc
}

// park takes a spinning thread out of the others' way. One that cannot leave by itself waits: it
// gives up its core, and the recogniser is told. One that may keeps its core, and its clock stands
// still until it is known.
func (r *run) park(s *spinner) {
	t := s.t
	t.blocked, t.spin = true, s
	if now := r.eng.Retired(t.ctx); now-t.lined >= roundTrip {
		t.inLine = t.now() // else it has only been to look
	}
	r.spins.parked = append(r.spins.parked, s)
	t.at, t.waitAt = t.now(), t.now()
	if s.held() {
		r.cores.hold(t.core)
		r.alike(s)
		return
	}
	switch {
	case t.waitsOn == waitsTold:
	case t.covered():
		t.waitsOn = waitsInner
		r.dropLoop(t, s)
	default:
		op, taken := r.cutSpin(t, s)
		r.tellSpin(s, op, taken)
		t.at = t.waitAt
		t.core.clock = t.at // it has done nothing since, and goes on as soon as it may
		r.cores.moved(t.core)
	}
	r.cores.release(t)
	r.alike(s)
}

// alike parks the other threads that stand in the same loop: nobody may be
// missing when it ends.
func (r *run) alike(s *spinner) {
	for _, t := range r.threads {
		if t.core != nil && !t.blocked && !t.gone && t.pending == nil && t.probed == 0 && t.still.skip == 0 && s.heads[t.ctx.RIP] {
			r.tryPark(t)
		}
	}
}

// cutSpin ends the piece in front of the loop, where the thread came past the last place at which
// all meet, or else where the loop was entered. What the loop did is no work.
func (r *run) cutSpin(t *thread, s *spinner) (op section.Op, taken []edgeCount) {
	var rest piece
	r.drain(t, &rest)
	t.keepFor(&rest)
	s.point = r.passPoint(s, t.carry)
	if t.pass != nil && t.pass.pc == s.point && r.pointAt(s.point).early == 0 && r.instrsBefore(s, t.carry) <= wayIn {
		op, s.passed = r.cutAtPass(t, section.OpWaitBegin), true
		rest = piece{edges: t.carry, hw: t.carryHW}
		t.carry, t.carryHW = nil, hardware{}
		var units uint64
		taken, units = r.removeLoop(&rest, s)
		t.busy -= min(units, t.busy)
		t.keepFor(&rest)
	} else {
		r.spins.now = s
		var p *piece
		op, p = r.cutOp(t, section.OpWaitBegin)
		r.spins.now, p.loop = nil, s
		var units uint64
		taken, units = r.removeLoop(p, s)
		t.book.cut -= r.instrs(taken)
		units = min(units, p.at-p.start.at, t.busy)
		t.busy -= units
		op.At = unit.Cycles(p.at - units)
		r.tellYields(t, p)
	}
	r.without(t, outLoop, taken)
	if at := r.waitsAt(s); len(op.Site.Stack) > 0 && r.images.own(at) {
		op.Site.Stack[0] = r.frame(at, at) // the same place whatever block the thread was in
	}
	return op, taken
}

// wayIn is how many instructions a thread may do between the point at which all pass and its loop:
// a function that counts arrivals, say. What takes longer is work, and its end is at the loop.
const wayIn = 200

// instrsBefore is how many instructions of some edges are none of the loop's.
func (r *run) instrsBefore(s *spinner, list []edgeCount) (n uint64) {
	r.sync(s)
	edges, blocks := r.eng.Edges(), r.eng.Blocks()
	for _, e := range list {
		if d := &edges[e.id]; d.From >= 0 && d.Kind != engine.EdgeReturn && !s.blocks[d.From] {
			n += e.n * uint64(blocks[d.From].Instrs)
		}
	}
	return n
}

// tellSpin tells the recogniser of the wait.
func (r *run) tellSpin(s *spinner, op section.Op, taken []edgeCount) {
	t := s.t
	t.waitAt = uint64(op.At)
	op.Object, op.Untyped = s.object, s.point == 0
	s.call = uint64(op.Site.Place())
	r.suspect(t, &op)
	if s.tried == 0 {
		s.tried = t.tried
	}
	if s.tried == 0 {
		s.tried = r.tried(t, s.point) // as near as the registers still tell
	}
	r.learn(s, taken)
	r.feed(op)
	s.told = true
	t.waitsOn, t.object = waitsTold, s.object
	if s.point != 0 {
		r.pointAt(s.point).park(s)
	}
}

// changed reports whether the loop would see something new.
func (r *run) changed(s *spinner) bool {
	for i := range s.loop.Watches {
		w := &s.loop.Watches[i]
		if v, ok := r.value(w.Addr, w.Bytes); !ok || v != w.Value {
			return true
		}
	}
	return false
}
