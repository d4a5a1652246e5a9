// Goroutines: how they come to a thread, and leave it.

package sim

import (
	"lime/internal/collect/known"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// Goroutines are threads of their own, as far as sections are concerned; the threads of Go's
// runtime only host them. A goroutine comes and goes by gogo and mcall (or straight to schedule,
// from the check at a function's start): what a thread does between them is the scheduler's own
// affair.

// goroutines is how goroutines come and go, and what they wait for.
type goroutines struct {
	awaiting   *awaiting
	clocks     *clocks
	lives      *lives
	memory     *memory
	openCalls  *openCalls
	operations *operations
	places     *places
	probes     *probes
	segments   *segments
	images     *images
	cores      *cores
	lineages   *lineages
	rec        *section.Recogniser
	seats      *goSeats // nil: they have simulated cores
	table      goroutineTable
}

// goroutineBase is the id of the first goroutine.
const goroutineBase section.ThreadID = 1 << 24

// goroutine is what is known of a goroutine only.
type goroutine struct {
	g      uint64 // its descriptor
	made   *lineage
	left   leftAs
	leftAt uint64
	waits  uint64 // leftReported: since when
	ready  uint64 // and when another one has let it go on; 0: none has
	asked  uint64 // for how long it asked to sleep when it did last
	what   awaited
}

// leftAs is why a goroutine left its thread.
type leftAs uint8

const (
	leftReady    leftAs = iota // it may go on
	leftInner                  // inside a function of the table
	leftOff                    // asleep, or for the outside world
	leftReported               // for another goroutine: OpWaitBegin
)

// hosting is a thread that runs goroutines.
type hosting struct {
	on      *thread // the goroutine that it runs
	next    *thread // the one that comes in, nil if it is one of the runtime's own
	resume  uint64  // where it goes on, 0 if none comes in
	madeRet uint64  // where newproc1 returns to, and with which stack pointer
	madeSP  uint64
	program uint64   // newproc1: the code of the goroutine
	made    *lineage // newproc1: who asked for it
	monitor bool     // it looks at the clock, and runs none
}

// table is the goroutines of the program.
type goroutineTable struct {
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

// enterGoC notes that a goroutine goes on in C, on the stack of its thread. The scheduler has uses
// of its own for that.
func (gr *goroutines) enterGoC(t *thread, f *fn) {
	if gr.seats != nil && t.goroutine != nil {
		gr.seats.inC = true
	}
	if at, own := gr.openCalls.height(t); own && t.goroutine != nil && at != t.ctx.GPR[rsp] {
		gr.openCalls.open(t, f)
	}
}

// goProbe handles what happens on a thread of the scheduler where no function begins; false if it
// is not its turn.
func (gr *goroutines) goProbe(m *thread) bool {
	h, pc := m.hosts, m.ctx.RIP
	switch {
	case h.resume == pc && pc != 0:
		if h.next != nil && !gr.cores.first(m.core) {
			return false
		}
		gr.comesIn(m)
	case h.madeRet == pc && h.madeSP == m.ctx.GPR[rsp]:
		if !gr.cores.first(m.core) {
			return false
		}
		gr.startGoroutine(m)
	}
	return true
}

// enterGoMade notes where the new goroutine will be returned.
func (gr *goroutines) enterGoMade(t *thread, _ *fn) {
	m := t.here()
	if m.hosts == nil {
		m.hosts = &hosting{}
	}
	sp := m.ctx.GPR[rsp]
	m.hosts.madeRet, _ = gr.memory.word(sp)
	m.hosts.madeSP = sp + 8
	m.hosts.program, _ = gr.memory.word(m.ctx.GPR[rax])
	m.hosts.made = nil
	if c := t.in(known.Create); t.goroutine != nil && c != nil && c.segment != nil { // its go statement
		m.hosts.made = gr.lineages.along(c.segment.base, c.segment.stack)
	}
	gr.probes.setProbe(m.hosts.madeRet)
}

// startGoroutine takes in a new goroutine. Those of the runtime itself collect garbage and the
// like: they are none of the program's.
func (gr *goroutines) startGoroutine(m *thread) {
	h, g := m.hosts, m.ctx.GPR[rax]
	h.madeRet = 0
	name, _ := gr.images.function(h.program)
	if g == 0 || known.GoRuntimes(name) {
		return
	}
	x := &gr.table
	t := &thread{id: goroutineBase + section.ThreadID(len(x.names)), lastCore: -1, row: profile.None,
		goroutine: &goroutine{g: g, made: h.made}, book: &x.book, focus: m.focus, adder: m.adder}
	t.at, t.started = m.now(), m.now()
	if x.byG == nil {
		x.byG = map[uint64]*thread{}
	}
	x.names = append(x.names, name)
	x.byG[g] = t
	op := section.Op{Kind: section.OpStart, Thread: t.id, Other: section.NoThread, At: unit.Cycles(t.at)}
	if h.on != nil {
		t.parent = h.on
		gr.lives.reportCreate(h.on, t.id)
		op.Other = h.on.id
	}
	gr.operations.feed(op)
}

// enterGoIn notes which goroutine will go on, and where.
func (gr *goroutines) enterGoIn(t *thread, _ *fn) {
	m := t.here()
	g, pc := gr.gobuf(m)
	next := gr.table.byG[g]
	if g == 0 || m.hosts == nil && next == nil || m.hosts != nil && m.hosts.on != nil && m.hosts.on == next {
		return // back on the same one, whose stack has grown
	}
	if m.hosts == nil {
		m.hosts = &hosting{}
	}
	if !m.idle {
		m.idle = true
		gr.operations.feed(m.simple(section.OpIdle, 0))
	}
	m.hosts.next, m.hosts.resume = next, pc
	gr.probes.setProbe(pc)
}

// gobuf reads the argument of gogo, whichever convention it is called by: the goroutine and where
// it goes on. A gobuf (runtime2.go: sp, pc, g) is a part of the descriptor of its goroutine.
func (gr *goroutines) gobuf(m *thread) (g, pc uint64) {
	stacked, _ := gr.memory.word(m.ctx.GPR[rsp] + 8)
	for _, buf := range []uint64{stacked, m.ctx.GPR[rax]} {
		g, _ := gr.memory.word(buf + 16)
		if pc, ok := gr.memory.word(buf + 8); ok && g < buf && buf-g < 512 {
			return g, pc
		}
	}
	return 0, 0
}

// comesIn begins or continues a goroutine's work.
func (gr *goroutines) comesIn(m *thread) {
	h := m.hosts
	t := h.next
	h.resume, h.next = 0, nil
	gr.goneFrom(h.on)
	if t == nil {
		return
	}
	gr.goneFrom(t) // its last thread has given it away, and waits for its turn to tell
	h.on = t
	t.carrier, t.ctx = m, m.ctx
	gr.seat(m, t)
	away := m.now() - t.goroutine.leftAt
	gr.segments.forget(t, outWay)
	back := gr.segments.cameBack(t)
	left := t.goroutine.left
	t.goroutine.left = leftReady
	switch left {
	case leftReady:
		gr.segments.resume(t, gr.places.stack(t))
		t.segment.back = back
	case leftInner:
		gr.segments.keepWorked(t, &segment{edges: back})
	case leftOff:
		gr.segments.keepWorked(t, &segment{edges: back})
		gr.segments.reportOffAt(t, t.awaits, away)
	case leftReported:
		if t.in(known.GoCondWait) != nil {
			return // told at its end
		}
		op := t.simple(section.OpWaitEnd, 0)
		op.Idle = true
		gr.operations.feed(op)
		waited := t.segment.stack
		gr.segments.resume(t, gr.places.stack(t))
		t.segment.back = back
		gr.goesOn(t, waited)
	}
}

// goesOn tells what a goroutine has waited for, if that was no section's end.
func (gr *goroutines) goesOn(t *thread, stack []frameRef) {
	x := t.goroutine
	units, what := t.now()-min(t.now(), x.waits), x.what
	if x.what = (awaited{}); gr.rec.Ended(t.id) {
		units = 0
	}
	gr.awaiting.goesOn(t, stack, units, what)
}

// enterGoReady: somebody lets a goroutine go on. If no goroutine does, it is a timer of the runtime's.
func (gr *goroutines) enterGoReady(by *thread, _ *fn) {
	t := gr.table.byG[by.ctx.GPR[rax]]
	if t == nil || by.goroutine == nil && by.hosts == nil {
		return
	}
	t.goroutine.ready = by.now()
	if by.goroutine != nil && t.goroutine.left == leftReported {
		t.goroutine.what = gr.awaiting.letsGo(by, t.goroutine.waits)
	}
}

// goneFrom takes a goroutine off the thread that it is still noted on.
func (gr *goroutines) goneFrom(t *thread) {
	switch {
	case t == nil || t.carrier == nil:
	case t.covered():
		gr.goesOut(t, leftInner)
		t.goroutine.ready = t.at
	default:
		gr.goesOut(t, leftReady)
	}
}

// enterGoOut takes the goroutine off its thread.
func (gr *goroutines) enterGoOut(t *thread, _ *fn) {
	if t.goroutine != nil {
		gr.goesOut(t, gr.whyLeaves(t))
	}
}

// whyLeaves tells why a goroutine leaves its thread.
func (gr *goroutines) whyLeaves(t *thread) leftAs {
	if t.parks() {
		return leftReported
	}
	if t.covered() {
		return leftInner
	}
	ret, _ := gr.memory.word(t.ctx.GPR[rsp])
	if name, _ := gr.images.function(ret - 1); name != "runtime.gopark" {
		return leftReady
	}
	for _, name := range gr.places.between(t) {
		if known.GoWaitsOutside(name) {
			t.awaits = goOutside(name)
			return leftOff
		}
	}
	return leftReported
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
func (gr *goroutines) goesOut(t *thread, as leftAs) {
	m := t.carrier
	t.goroutine.left = as
	switch as {
	case leftReported:
		gr.waits(t)
	case leftReady:
		p := gr.segments.cut(t)
		p.left = true
		t.earlier, p.earlier = append(p.earlier, p), nil
	default:
		gr.segments.keep(t)
	}
	gr.seats.give(m)
	t.at = m.now()
	if t.goroutine.leftAt = t.at; as == leftReported {
		t.goroutine.waits = t.at
	}
	t.carrier, t.ctx, m.hosts.on = nil, nil, nil
}

// waits tells that a goroutine which leaves its thread waits, unless it has been told that it waits
// for a condition.
func (gr *goroutines) waits(t *thread) {
	if c := t.in(known.GoCondWait); c != nil {
		gr.segments.forget(t, outCall)
		return
	}
	op, _ := gr.segments.cutOp(t, section.OpWaitBegin)
	op.Object = t.goroutine.g
	gr.operations.feed(op)
}

// enterGoEnd ends a goroutine.
func (gr *goroutines) enterGoEnd(t *thread, _ *fn) {
	if t.goroutine == nil {
		return
	}
	m := t.carrier
	gr.lives.endThread(t)
	gr.seats.give(m)
	t.gone, t.at = true, m.now()
	t.carrier, t.ctx, m.hosts.on = nil, nil, nil
	delete(gr.table.byG, t.goroutine.g)
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
