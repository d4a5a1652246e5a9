package sim

import (
	"maps"
	"slices"

	"lime/internal/collect/spin"
	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/section"
	"lime/internal/unit"
	"lime/internal/x86"
)

// Spinning is waiting: a thread that goes round a loop that changes nothing and watches memory
// is taken off its core until that memory changes.

// Limits of the search for spin loops.
const (
	maxSkip    = 12 // log2 of the slices for which a loop that failed is let alone
	otherSkip  = 1  // the same, when it has gone on to another loop
	longSearch = 4  // every so many searches that failed, one follows rounds of any length
)

// sysSchedYield is the number of sched_yield (syscall_64.tbl).
const sysSchedYield = 24

// spinner is a thread that goes round a loop in which threads wait, as far as the loop can tell (package spin).
type spinner struct {
	t      *thread
	loop   *spin.Loop
	blocks map[engine.BlockID]bool
	heads  map[uint64]bool // their addresses
	own    map[uint64]bool // of these, those in the program's own code; all, if there are none
	until  uint64          // clock up to which it surely goes round, if nothing changes
	object uint64          // first place watched that is not on the thread's stack
	told   bool            // the recogniser knows
	call   uint64          // the program's own place
	tried  uint64          // the lock that the thread tried to take in front of the loop, 0 if none
	point  uint64          // pass point, 0 if none
	passed bool            // its piece ended there, and not at the loop
	woken  uint64          // the clock at which it was released
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
	ran    uint64               // instructions of its last step
	insts  map[uint64]*x86.Inst // of the search under way
}

func (x *spinTable) init() {
	x.points = map[uint64]*point{}
}

// point is an instruction that every thread passes on its way to a spin loop,
// the one that ends the spinning too.
type point struct {
	waiting       int // threads that spin behind it
	early         int // of these: who came past before it was known; all who wait with them begin at the loop
	passes, parks int
}

// worth reports whether it still pays to stop at the point: now and then
// somebody does spin behind it.
func (p *point) worth() bool { return p.waiting > 0 || p.passes < 1000+100*p.parks }

// passage is a thread's last way through the place in front of a spin loop. Whether it waits behind it, or lets
// others go, comes out later, and then its piece ends here.
type passage struct {
	at     uint64
	pc     uint64
	stack  []frameRef
	before piece // what the piece under way held up to here, if it has not been cut here
	cut    bool
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
	from := t.now()
	l := r.search(t)
	if r.end.over || t.blocked || t.gone || t.core == nil {
		return
	}
	if l != nil {
		if s := r.spinner(t, l, from); s != nil && r.goesTo(t, r.place(s), r.spins.follow.Steps()) && r.pays(s) {
			r.park(s)
			return
		}
	}
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

// search follows t until it is proved that it waits; nil if it is not.
func (r *run) search(t *thread) *spin.Loop {
	x := &r.spins
	if x.follow == nil {
		x.follow = spin.New((*program)(r))
	}
	x.insts = map[uint64]*x86.Inst{}
	x.follow.Start()
	x.lo, x.hi = t.ctx.RIP, t.ctx.RIP
	for !x.follow.Tires(t.still.fails%longSearch == longSearch-1) {
		h, ok := r.headOf(t)
		if !ok {
			return nil
		}
		l, going := x.follow.Step(h, sliceLength)
		if l != nil || !going {
			return l
		}
		if !r.traceStep(t) || !r.alsoRan(t, h.PC) {
			return nil
		}
		x.lo, x.hi = min(x.lo, t.ctx.RIP), max(x.hi, t.ctx.RIP)
	}
	return nil
}

// alsoRan tells the follower of a block that ran in the same step as the one at pc: the engine may see only at the head
// behind a return that its budget is used up. What ran then is told by the number of instructions and by where t is now.
func (r *run) alsoRan(t *thread, pc uint64) bool {
	x, blocks := &r.spins, r.blocks.sync()
	id, ok := r.blocks.startingAt(pc)
	if !ok || x.ran <= uint64(blocks[id].Instrs) { // a system call leaves before it counts
		return ok
	}
	left := x.ran - uint64(blocks[id].Instrs)
	for _, pc := range x.follow.Next() {
		id, ok := r.blocks.startingAt(pc)
		if ok && blocks[id].End == engine.EndRet && uint64(blocks[id].Instrs) == left {
			return x.follow.Then(pc, pc+uint64(blocks[id].Size)) && slices.Contains(x.follow.Next(), t.ctx.RIP)
		}
	}
	return false
}

// headOf is t at the head of the block that it is about to run.
func (r *run) headOf(t *thread) (spin.Head, bool) {
	h := spin.Head{PC: t.ctx.RIP, Regs: t.ctx.GPR, FSBase: t.ctx.FSBase}
	if id, ok := r.blocks.startingAt(h.PC); ok {
		h.End = h.PC + uint64(r.eng.Blocks()[id].Size)
		return h, true
	}
	return h, false // a thread that goes round has been here
}

// program is the run as package spin sees it.
type program run

// Decode is the instruction at an address; during one search code does not change.
func (p *program) Decode(pc uint64) (*x86.Inst, bool) {
	if in := p.spins.insts[pc]; in != nil {
		return in, true
	}
	in, ok := (*run)(p).decode(pc)
	if ok {
		p.spins.insts[pc] = &in
	}
	return &in, ok
}

// Load is what memory holds.
func (p *program) Load(addr uint64, n int) (uint64, bool) { return (*run)(p).value(addr, n) }

// spinner is t in a loop. It has gone round since a clock; nil if the engine has other blocks.
func (r *run) spinner(t *thread, l *spin.Loop, since uint64) *spinner {
	s := &spinner{t: t, loop: l, blocks: map[engine.BlockID]bool{}, heads: map[uint64]bool{}}
	for _, pc := range l.Blocks {
		id, ok := r.blocks.startingAt(pc)
		if !ok {
			return nil
		}
		s.blocks[id], s.heads[pc] = true, true
	}
	s.own = maps.Clone(s.heads)
	if maps.DeleteFunc(s.own, func(pc uint64, _ bool) bool { return !r.images.own(pc) }); len(s.own) == 0 {
		s.own = s.heads
	}
	for i := range l.Watches {
		if w := &l.Watches[i]; !w.Stack {
			s.object = w.Addr
			break
		}
	}
	if s.object == 0 {
		s.object = l.Watches[0].Addr
	}
	s.until = ^uint64(0)
	if l.Rounds < spin.Endless {
		round := (t.now() - since) * l.Instrs / uint64(max(r.spins.follow.Executed(), 1))
		s.until = t.now() + l.Rounds*max(round, 1)
	}
	return s
}

// traceStep runs one block, and sched_yield.
func (r *run) traceStep(t *thread) bool {
	exit, n := r.step(t, 1)
	for exit.Reason == cpu.ExitProbe && n == 0 && r.othersProbe(t) {
		exit, n = r.step(t, 1)
	}
	r.spins.ran = n
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

// park takes a spinning thread out of the others' way. One that cannot leave by itself waits: it gives up its core, and the
// recogniser is told. One that may keeps its core, and its clock stands still until it is known.
func (r *run) park(s *spinner) {
	t := s.t
	t.blocked, t.spin = true, s
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
		if t.core != nil && !t.blocked && !t.gone && t.pending == nil && t.probed == 0 && s.heads[t.ctx.RIP] {
			r.tryPark(t)
		}
	}
}

// cutSpin ends the piece in front of the loop, where the thread came past the last place at which all meet, or else where the
// loop was entered. What the loop did is no work.
func (r *run) cutSpin(t *thread, s *spinner) (op section.Op, taken []edgeCount) {
	var rest piece
	r.drain(t, &rest)
	t.keepFor(&rest)
	s.point = r.passPoint(s, t.carry)
	if t.pass != nil && t.pass.pc == s.point && r.pointAt(s.point).early == 0 {
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
		units = min(units, p.at-p.start.at, t.busy)
		t.busy -= units
		op.At = unit.Cycles(p.at - units)
	}
	if low := r.place(s); len(op.Site.Stack) > 0 && r.images.own(low) {
		op.Site.Stack[0] = r.frame(low, low) // the same place whatever block the thread was in
	}
	return op, taken
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

func (p *point) park(s *spinner) {
	p.waiting++
	p.parks++
	if !s.passed {
		p.early++
	}
}

func (p *point) leave(s *spinner) {
	p.waiting--
	if !s.passed {
		p.early--
	}
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
		op, x := r.cutOp(t, section.OpRelease)
		r.feed(op)
		t.pass = &passage{at: t.now(), pc: pc, stack: x.stack, cut: true}
		return false
	}
	r.markPass(t, pc)
	return false
}

// markPass notes a passage, with what the piece under way holds up to it.
func (r *run) markPass(t *thread, pc uint64) {
	t.joinPass()
	var p piece
	r.drain(t, &p)
	t.keepFor(&p)
	t.pass = &passage{at: t.now(), pc: pc, stack: r.stack(t), before: piece{edges: t.carry, hw: t.carryHW, samples: t.samples}}
	t.carry, t.carryHW, t.samples = nil, hardware{}, nil
}

// joinPass forgets a passage that ended no piece.
func (t *thread) joinPass() {
	if p := t.pass; p != nil && !p.cut {
		b := &p.before
		b.hw.add(t.carryHW)
		t.carry, t.carryHW, t.samples = append(b.edges, t.carry...), b.hw, append(b.samples, t.samples...)
		t.pass = nil
	}
}

// cutAtPass ends t's piece at its passage; what came after it belongs to the next one.
func (r *run) cutAtPass(t *thread, kind section.OpKind) section.Op {
	x := t.pass
	p := &x.before
	if x.cut {
		p = &piece{}
	}
	p.start, p.at, p.pc, p.stack = t.piece, x.at, x.pc, x.stack
	p.locks, p.off, p.earlier, p.gate, p.task, p.given = t.locks, t.off, t.earlier, t.watchedGate(), t.doesTask(), t.given
	if units := r.takeSpinning(t, p); units > 0 {
		r.tellSpun(t, units)
	}
	t.locks, t.off, t.earlier, t.given = nil, 0, nil, nil
	t.piece, t.pass = pieceStart{at: x.at, pc: x.pc, stack: x.stack}, &passage{at: x.at, pc: x.pc, stack: x.stack, cut: true}
	site := r.site(p.pc, p.stack)
	site.Kept = r.kept(p)
	return section.Op{Kind: kind, Thread: t.id, Other: section.NoThread, At: unit.Cycles(p.at), Site: site, Span: p}
}

// tried is the address at which the instruction at pc tries to take a lock, 0 if it does not.
func (r *run) tried(t *thread, pc uint64) uint64 {
	if pc == 0 {
		return 0
	}
	in, ok := r.decode(pc)
	if !ok || !spin.Tries(&in) {
		return 0
	}
	return spin.Address(&in, pc, &spin.Head{Regs: t.ctx.GPR, FSBase: t.ctx.FSBase})
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
