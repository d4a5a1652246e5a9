package sim

import (
	"lime/internal/collect/known"
	"lime/internal/engine"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// Goroutines are threads of their own, as far as sections are concerned; the threads of Go's
// runtime only host them. A goroutine comes and goes by gogo and mcall (or straight to schedule,
// from the check at a function's start): what a thread does between them is the scheduler's own
// affair.

// goroutineBase is the id of the first goroutine.
const goroutineBase section.ThreadID = 1 << 24

// gopher is what is known of a goroutine only.
type gopher struct {
	g      uint64 // its descriptor
	left   leftAs
	leftAt uint64
}

// leftAs is why a goroutine left its thread.
type leftAs uint8

const (
	leftReady leftAs = iota // it may go on
	leftInner               // inside a function of the table
	leftOff                 // asleep, or for the outside world
	leftTold                // for another goroutine: OpWaitBegin
)

// hosting is a thread that runs goroutines.
type hosting struct {
	on      *thread // the goroutine that it runs
	next    *thread // the one that comes in, nil if it is one of the runtime's own
	resume  uint64  // where it goes on, 0 if none comes in
	madeRet uint64  // where newproc1 returns to, and with which stack pointer
	madeSP  uint64
	program uint64 // newproc1: the code of the goroutine
}

// gophers is the goroutines of the program.
type gophers struct {
	byG   map[uint64]*thread
	names []string // by number, of all there ever were
	book  book
}

// acting is who runs on a thread: the goroutine, if there is one.
func (t *thread) acting() *thread {
	if t.hosts != nil && t.hosts.on != nil {
		return t.hosts.on
	}
	return t
}

// here is the thread that a goroutine runs on; all others are their own.
func (t *thread) here() *thread {
	if t.carrier != nil {
		return t.carrier
	}
	return t
}

// schedules reports whether a thread belongs to Go's scheduler.
func (t *thread) schedules() bool { return t.hosts != nil && t.idle }

// switches reports whether a function of the table changes who runs on a thread.
func switches(x known.Role) bool {
	return x == known.GoMade || x == known.GoIn || x == known.GoOut || x == known.GoEnd
}

// makesHost reports whether a new thread is one of Go's scheduler: the program's own are made by
// code in C.
func (r *run) makesHost(carrier, by *thread) bool {
	c := by.in(known.Create)
	if carrier.hosts == nil || by.in(known.GoC) == nil || c == nil {
		return carrier.hosts != nil
	}
	name, _ := r.images.function(c.start)
	return name == "threadentry" // runtime/cgo, gcc_linux_amd64.c
}

// enterGoC notes that a goroutine goes on in C, on the stack of its thread. The scheduler has uses
// of its own for that.
func (r *run) enterGoC(t *thread, f *fn) {
	if at, own := r.height(t); own && t.gopher != nil && at != t.ctx.GPR[rsp] {
		r.open(t, f)
	}
}

// height is where a thread's stack pointer stands. A goroutine's stack moves as it grows, so it is
// counted from its end: as a number without sign that is above all addresses, and so above those of
// calls in C that the goroutine has made. ok is false if it is on the scheduler's stack.
func (r *run) height(t *thread) (at uint64, ok bool) {
	sp := t.ctx.GPR[rsp]
	if t.gopher == nil {
		return sp, true
	}
	lo, _ := r.word(t.gopher.g) // runtime.g: stack.lo, stack.hi
	hi, _ := r.word(t.gopher.g + 8)
	if sp < lo || sp > hi {
		return sp, t.in(known.GoC) != nil
	}
	return sp - hi, true
}

// goProbe handles what happens on a thread of the scheduler where no function begins; false if it
// is not its turn.
func (r *run) goProbe(m *thread) bool {
	h, pc := m.hosts, m.ctx.RIP
	switch {
	case h.resume == pc && pc != 0:
		if h.next != nil && !r.cores.first(m.core) {
			return false
		}
		r.comesIn(m)
	case h.madeRet == pc && h.madeSP == m.ctx.GPR[rsp]:
		if !r.cores.first(m.core) {
			return false
		}
		r.made(m)
	}
	return true
}

// enterGoMade notes where the new goroutine will be returned.
func (r *run) enterGoMade(t *thread, _ *fn) {
	m := t.here()
	if m.hosts == nil {
		m.hosts = &hosting{}
	}
	sp := m.ctx.GPR[rsp]
	m.hosts.madeRet, _ = r.word(sp)
	m.hosts.madeSP = sp + 8
	m.hosts.program, _ = r.word(m.ctx.GPR[rax])
	r.setProbe(m.hosts.madeRet)
}

// made takes in a new goroutine. Those of the runtime itself collect garbage and the like: they are
// none of the program's.
func (r *run) made(m *thread) {
	h, g := m.hosts, m.ctx.GPR[rax]
	h.madeRet = 0
	name, _ := r.images.function(h.program)
	if g == 0 || known.GoRuntimes(name) {
		return
	}
	x := &r.gophers
	t := &thread{id: goroutineBase + section.ThreadID(len(x.names)), lastCore: -1, row: profile.None, gopher: &gopher{g: g}, book: &x.book}
	t.at, t.started = m.now(), m.now()
	if x.byG == nil {
		x.byG = map[uint64]*thread{}
	}
	x.names = append(x.names, name)
	x.byG[g] = t
	op := section.Op{Kind: section.OpStart, Thread: t.id, Other: section.NoThread, At: unit.Cycles(t.at)}
	if h.on != nil {
		t.parent = h.on
		r.tellCreate(h.on, t.id)
		op.Other = h.on.id
	}
	r.feed(op)
}

// enterGoIn notes which goroutine will go on, and where.
func (r *run) enterGoIn(t *thread, _ *fn) {
	m := t.here()
	g, pc := r.gobuf(m)
	next := r.gophers.byG[g]
	if g == 0 || m.hosts == nil && next == nil || m.hosts != nil && m.hosts.on != nil && m.hosts.on == next {
		return // back on the same one, whose stack has grown
	}
	if m.hosts == nil {
		m.hosts = &hosting{}
	}
	if !m.idle {
		m.idle = true
		r.feed(m.simple(section.OpIdle, 0))
	}
	m.hosts.next, m.hosts.resume = next, pc
	r.setProbe(pc)
}

// gobuf reads the argument of gogo, whichever convention it is called by: the goroutine and where
// it goes on. A gobuf (runtime2.go: sp, pc, g) is a part of the descriptor of its goroutine.
func (r *run) gobuf(m *thread) (g, pc uint64) {
	stacked, _ := r.word(m.ctx.GPR[rsp] + 8)
	for _, buf := range []uint64{stacked, m.ctx.GPR[rax]} {
		g, _ := r.word(buf + 16)
		if pc, ok := r.word(buf + 8); ok && g < buf && buf-g < 512 {
			return g, pc
		}
	}
	return 0, 0
}

// comesIn begins or continues a goroutine's work.
func (r *run) comesIn(m *thread) {
	h := m.hosts
	t := h.next
	h.resume, h.next = 0, nil
	r.goneFrom(h.on)
	if t == nil {
		return
	}
	r.goneFrom(t) // its last thread has given it away, and waits for its turn to tell
	h.on = t
	t.carrier, t.ctx = m, m.ctx
	away := m.now() - min(m.now(), t.gopher.leftAt)
	r.forget(t, outWay)
	left := t.gopher.left
	t.gopher.left = leftReady
	switch left {
	case leftReady:
		r.resume(t, r.stack(t))
	case leftOff:
		r.tellOffAt(t, t.awaits, away)
	case leftTold:
		if t.in(known.GoCondWait) != nil {
			return // told at its end
		}
		op := t.simple(section.OpWaitEnd, 0)
		op.Idle = true
		r.feed(op)
		r.resume(t, t.piece.stack)
	}
}

// goneFrom takes a goroutine off the thread that it is still noted on.
func (r *run) goneFrom(t *thread) {
	switch {
	case t == nil || t.carrier == nil:
	case t.covered():
		r.goesOut(t, leftInner)
	default:
		r.goesOut(t, leftReady)
	}
}

// enterGoOut takes the goroutine off its thread.
func (r *run) enterGoOut(t *thread, _ *fn) {
	if t.gopher != nil {
		r.goesOut(t, r.leaves(t))
	}
}

// leaves tells why a goroutine leaves its thread.
func (r *run) leaves(t *thread) leftAs {
	if t.parks() {
		return leftTold
	}
	if t.covered() {
		return leftInner
	}
	ret, _ := r.word(t.ctx.GPR[rsp])
	if name, _ := r.images.function(ret - 1); name != "runtime.gopark" {
		return leftReady
	}
	for _, name := range r.between(t) {
		if known.GoWaitsOutside(name) {
			t.awaits = goOutside(name)
			return leftOff
		}
	}
	return leftTold
}

// goOutside is what a goroutine waits for in a function of Go's.
func goOutside(function string) waitEvent {
	switch {
	case known.GoSleeps(function):
		return sleepWait
	case known.GoWaitsForFile(function):
		return ioWait
	}
	return offCPU
}

// goesOut ends a goroutine's time on its thread.
func (r *run) goesOut(t *thread, as leftAs) {
	m := t.carrier
	t.gopher.left = as
	switch as {
	case leftTold:
		op, _ := r.cutOp(t, section.OpWaitBegin)
		op.Object = t.waitsFor()
		r.feed(op)
	case leftReady:
		p := r.cut(t)
		p.left = true
		t.earlier, p.earlier = append(p.earlier, p), nil
	default:
		r.keep(t)
	}
	t.at = m.now()
	t.gopher.leftAt = t.at
	t.carrier, t.ctx, m.hosts.on = nil, nil, nil
}

// enterGoEnd ends a goroutine.
func (r *run) enterGoEnd(t *thread, _ *fn) {
	if t.gopher == nil {
		return
	}
	m := t.carrier
	r.endThread(t)
	t.gone, t.at = true, m.now()
	t.carrier, t.ctx, m.hosts.on = nil, nil, nil
	delete(r.gophers.byG, t.gopher.g)
}

// running lists the goroutines that run on some threads.
func running(threads []*thread) (out []*thread) {
	for _, m := range threads {
		if a := m.acting(); a != m {
			out = append(out, a)
		}
	}
	return out
}

// enterGoLock: the thread must wait for a lock, or has met others on their way to it. All that it
// does until it has the lock is waiting, its spinning too.
func (r *run) enterGoLock(t *thread, f *fn) {
	r.openSlow(t, f)
	c := &t.frames[len(t.frames)-1]
	c.test = r.testFor(t, c.ret)
}

// testFor is the branch that leads to the call that returns to ret and to nothing else, 0 if there
// is none. The first attempt to take a lock is compiled into its user, and the wait belongs to the
// attempt: who need not wait has made it, too.
func (r *run) testFor(t *thread, ret uint64) (at uint64) {
	id, ok := r.blocks.endingAt(ret)
	if !ok || !r.images.own(ret-1) {
		return 0
	}
	edges, blocks := r.eng.Edges(), r.eng.Blocks()
	for _, e := range t.carry {
		d := &edges[e.id]
		if d.Target != blocks[id].PC || d.From < 0 {
			continue
		}
		test := &blocks[d.From]
		if test.End != engine.EndCond || at != 0 && at != test.LastPC {
			return 0
		}
		at = test.LastPC
	}
	return at
}

func (r *run) leaveGoLock(t *thread, c *call) {
	r.dropSlow(t, c)
	r.tellLocked(t, c, t.now()-c.at)
}

// enterCount: the thread has done what others wait for (WaitGroup.Done; Add of a negative number),
// or says that there will be something to wait for.
func (r *run) enterCount(t *thread, _ *fn) {
	kind := section.OpCount
	if int64(t.ctx.GPR[rbx]) > 0 {
		kind = section.OpCountUp
	}
	op, _ := r.cutOp(t, kind)
	op.Object = t.ctx.GPR[rax]
	r.feed(op)
}

// enterAwait: the thread waits until all have done it.
func (r *run) enterAwait(t *thread, f *fn) {
	c := r.open(t, f)
	c.object = t.ctx.GPR[rax]
	r.feed(r.arrival(t, c, section.OpAwait))
	c.told = true
}

func (r *run) leaveAwait(t *thread, c *call) {
	r.feed(t.simple(section.OpAwaitEnd, c.object))
	r.begin(t, outCall, r.outside(t, c))
}

// schedulerSpins reports whether a thread is in the code of Go's scheduler. It looks for work for a
// while and then sleeps, so there is no need to take it off its core; and it would miss what it
// looks for.
func (r *run) schedulerSpins(t *thread) bool {
	return t.schedules() && (t.hosts.on == nil || !r.images.own(t.ctx.RIP))
}
