package sim

import (
	"cmp"
	"fmt"

	"lime/internal/collect/known"
	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/origin"
	"lime/internal/section"
	"lime/internal/unit"
)

// created takes in a new thread.
func (r *run) created(t *thread, g *guest.Thread) {
	carrier := t
	t = t.acting()
	c := r.addThread(g, t)
	c.fsBase = g.Ctx.FSBase
	c.readyAt, c.at, c.started = t.now(), t.now(), t.now()
	if r.past() {
		r.beside.joins(c)
		return
	}
	pool := t.idle || t.forking()
	if r.makesHost(carrier, t) {
		c.hosts, pool = &hosting{}, true
	} else {
		r.out.thread(c)
	}
	if !pool {
		r.tellCreate(t, c.id)
	}
	r.feed(section.Op{Kind: section.OpStart, Thread: c.id, Other: t.id, At: unit.Cycles(c.at)})
	if pool {
		c.idle = true
		r.feed(c.simple(section.OpIdle, 0))
	}
	r.begin(c, outWay, nil)
	if !pool {
		c.birth = bornOutside
	}
	r.cores.place(c)
}

// tellCreate tells of a new thread. The piece ended where the creating function was entered.
func (r *run) tellCreate(t *thread, child section.ThreadID) {
	var op section.Op
	if c := t.in(known.Create); c != nil && c.create != nil {
		op, c.create, c.created = *c.create, nil, true
	} else {
		op, _ = r.cutOp(t, section.OpCreate)
	}
	op.Other = child
	r.feed(op)
}

// blockedOn takes a thread off its core.
func (r *run) blockedOn(t *thread, w guest.Wait) {
	t.at, t.waitAt, t.blocked, t.awaits = t.now(), t.now(), true, outsideWait(w.Kind)
	switch {
	case r.past():
	case t.waitsOn == waitsTold: // in a condition wait
	case t.schedules():
		t.waitsOn = waitsOff
	case t.covered():
		t.waitsOn = waitsInner
	case w.Kind == guest.WaitSignal:
		t.waitsOn = waitsIdle
		r.feed(t.acting().simple(section.OpLull, 0))
	case w.Kind != guest.WaitFutex || r.runtimeWait(t):
		t.waitsOn = waitsOff
	case r.lockWait(t):
		t.waitsOn = waitsLock
	case r.beside.gated(t):
		t.waitsOn = waitsInner
	default:
		r.tellWait(t, w.Addr)
		r.waitsInSystem(t, w.Addr)
	}
	r.cores.release(t)
}

// tellWait tells the recogniser of a wait for a futex.
func (r *run) tellWait(t *thread, object uint64) {
	op, p := r.cutOp(t, section.OpWaitBegin)
	op.Object = object
	op.Site.Library = r.inLibrary(&op.Site)
	op.Untyped = t.in(known.SemWait) == nil && !r.known(p)
	r.suspect(t, &op)
	r.feed(op)
	t.waitsOn, t.object, t.untyped = waitsTold, object, op.Untyped
}

// known reports whether the function that waits has a name: without names a wait may be a lock's.
func (r *run) known(p *piece) bool {
	_, entry := r.images.function(p.pc)
	return entry != 0
}

// between lists the functions from where t stands up to the program's own code.
func (r *run) between(t *thread) []string {
	name, _ := r.images.function(t.ctx.RIP)
	names := []string{name}
	if r.images.own(t.ctx.RIP) {
		return names
	}
	for _, f := range r.stack(t) {
		name, _ := r.images.function(f.ret - 1)
		names = append(names, name)
		if r.images.own(f.ret - 1) {
			break
		}
	}
	return names
}

// lockWait reports whether a futex wait is that of a lock, by the names of the functions.
func (r *run) lockWait(t *thread) bool {
	for _, n := range r.between(t) {
		if known.Locking(n) {
			return true
		}
	}
	return false
}

// runtimeWait reports whether the wait is that of a language's own scheduler, which says nothing
// about the threads' work.
func (r *run) runtimeWait(t *thread) bool {
	im := r.images.at(t.ctx.RIP)
	return im != nil && im.Go
}

// tellWakes tells whom the call just handled has woken; by is nil for time and
// the outside world.
func (r *run) tellWakes(by *thread) {
	if r.past() {
		r.wakes = nil
	}
	for len(r.wakes) > 0 {
		woken := r.wakes
		r.wakes = nil
		r.tellRelease(by, woken)
		for _, t := range woken {
			r.tellWake(t)
		}
	}
}

// tellRelease tells that by has ended the waits of others.
func (r *run) tellRelease(by *thread, woken []*thread) {
	if by == nil || by.gone || by.ended {
		return
	}
	if c := by.in(known.CondWake, known.CondWakeAll); c != nil {
		r.condRelease(by, c, woken)
		return
	}
	if by.covered() {
		return
	}
	byObject, order := map[uint64][]section.ThreadID{}, []uint64{}
	for _, t := range woken {
		if t.waitsOn == waitsTold && t.in(known.CondWait) == nil {
			if byObject[t.object] == nil {
				order = append(order, t.object)
			}
			byObject[t.object] = append(byObject[t.object], t.id)
		}
	}
	for _, object := range order {
		late := r.aboutToWait(by, byObject[object], object)
		op, _ := r.cutOp(by, section.OpRelease)
		op.Object, op.Woken = object, append(byObject[object], ids(late)...)
		op.Through = r.through(by, op.Woken)
		r.tellOpening(by, op)
		for _, t := range late {
			r.waitOver(t, t.piece.stack)
		}
	}
}

// aboutToWait finds the threads that have come to the call in which those who are woken wait, and
// still look whether they must wait, too. They wait from now on, as far as the recogniser is told.
func (r *run) aboutToWait(by *thread, woken []section.ThreadID, object uint64) (late []*thread) {
	if len(woken) < 2 || r.beside != nil { // nobody can look where a thread stands that runs
		return nil
	}
	at := r.ownReturn(r.threads[woken[0]].piece.stack)
	for _, t := range r.threads {
		if at == nil || t == by || t.gone || t.ended || t.blocked || t.waitsOn != waitsNot || t.covered() || r.images.own(t.ctx.RIP) {
			continue
		}
		if h := r.ownReturn(r.stack(t)); h != nil && h.ret == at.ret {
			t.waitAt = t.now()
			r.tellWait(t, object)
			late = append(late, t)
		}
	}
	return late
}

func ids(list []*thread) (out []section.ThreadID) {
	for _, t := range list {
		out = append(out, t.id)
	}
	return out
}

// condRelease adds whom a signal or broadcast has woken.
func (r *run) condRelease(by *thread, c *call, woken []*thread) {
	op := by.simple(section.OpRelease, c.object)
	op.At = unit.Cycles(c.at)
	all := c.fn.Role == known.CondWakeAll
	for _, t := range r.threads {
		if w := t.in(known.CondWait); w != nil && w.object == c.object && !t.gone && (all || contains(woken, t)) {
			op.Woken = append(op.Woken, t.id)
		}
	}
	if len(op.Woken) > 0 {
		r.tellOpening(by, op)
	}
}

// tellOpening tells of a release. If that ends a section, the releasing thread's next one starts
// when it is back in the program's own code.
func (r *run) tellOpening(by *thread, op section.Op) {
	before := r.rec.Parts(by.id)
	r.feed(op)
	if r.rec.Parts(by.id) != before {
		r.comeHome(by, r.stack(by))
		r.meetAt(by, r.threads[op.Woken[0]])
	}
}

func contains(list []*thread, t *thread) bool {
	for _, x := range list {
		if x == t {
			return true
		}
	}
	return false
}

// tellWake tells the end of one thread's wait.
func (r *run) tellWake(t *thread) {
	waited := t.at - t.waitAt
	switch t.waitsOn {
	case waitsTold:
		if t.in(known.CondWait) == nil {
			r.waitOver(t, t.piece.stack)
		}
		return // else at the return of the condition wait
	case waitsIdle:
		r.feed(t.acting().simple(section.OpLullEnd, 0))
	case waitsOff:
		r.tellOffAt(t.acting(), t.awaits, waited)
	case waitsLock:
		r.tellLock(t, waited)
	case waitsInner:
		if n := len(t.frames); n > 0 {
			t.frames[n-1].waited += waited
		}
	}
	t.waitsOn = waitsNot
}

// tellLock tells of a wait for a lock that is no function of the table.
func (r *run) tellLock(t *thread, waited uint64) {
	r.tellSpun(t, waited)
	if call := r.ownCall(t); call != 0 {
		t.noteLock(call, waited)
	}
}

// tellOffAt tells that a thread has waited for something outside of the program, where it stands.
func (r *run) tellOffAt(t *thread, kind waitEvent, units uint64) {
	if t.schedules() {
		return // with no goroutine on it
	}
	r.tellOff(t, units)
	if call := r.ownCall(t); call != 0 {
		t.note(kind, call, units)
	}
}

// tellOff tells that a thread could not run for a while.
func (r *run) tellOff(t *thread, units uint64) {
	t.off += units
	op := t.simple(section.OpOff, 0)
	op.N = unit.Cycles(units)
	r.feed(op)
}

// ownCall is the program's own call in which t stands, 0 if there is none: one that is not the
// language's own, if there is one.
func (r *run) ownCall(t *thread) uint64 {
	first := uint64(0)
	for _, f := range r.stack(t) {
		if !r.images.own(f.ret - 1) {
			continue
		}
		if name, _ := r.images.function(f.ret - 1); !origin.LanguageFunction(name) && !origin.GoStandard(name) {
			return r.blocks.callBefore(f.ret)
		}
		first = cmp.Or(first, f.ret)
	}
	if first == 0 {
		return 0
	}
	return r.blocks.callBefore(first)
}

// yields lets the other threads of the core go first.
func (r *run) yields(t *thread) {
	if r.beside != nil {
		r.beside.yields(t)
		return
	}
	r.noteYield(t)
	k := t.core
	r.cores.yield(k)
	r.cores.settle()
	r.yieldStill(t)
}

// endThread tells the end of a thread, while its counters are still there.
func (r *run) endThread(t *thread) {
	if t.ended || t.ctx == nil {
		return
	}
	r.ended(t)
	r.endInMPI(t)
	op, _ := r.cutOp(t, section.OpExit)
	if op.Final = r.end.by == t; op.Final && len(op.Site.Stack) == 0 {
		op.Site.Stack = r.endOfMain()
	}
	op.Loose = t.gopher != nil
	t.ended = true
	r.feed(op)
	r.out.threadEnd(t)
}

// endAll ends all threads; first is the one that ends the process.
func (r *run) endAll(first *thread) {
	if first != nil {
		r.end.by = first.acting()
		r.endThread(r.end.by)
	}
	for _, t := range running(r.threads) {
		r.endThread(t)
	}
	for _, t := range r.threads {
		if !t.gone {
			r.endThread(t)
		}
	}
}

// endOfMain is the return from the program's main function that was run last in its code, for a
// program that ends so.
func (r *run) endOfMain() []section.Frame {
	last := uint64(0)
	blocks := r.blocks.sync()
	for i := range blocks {
		b := &blocks[i]
		if b.End != engine.EndRet || b.LastPC <= last || !r.images.own(b.LastPC) {
			continue
		}
		if name, _ := r.images.function(b.LastPC); name == "main" || name == "main.main" {
			last = b.LastPC
		}
	}
	if last == 0 {
		return nil
	}
	return []section.Frame{r.frame(last, last)}
}

func (r *run) threadGone(t *thread) {
	t.at = t.now()
	t.gone = true
	delete(r.byGuest, t.g)
	r.spins.drop(t)
	r.cores.release(t)
}

// deadlock ends a run in which nobody can ever run again, and says who waits where.
func (r *run) deadlock() {
	r.end.words = append(r.end.words, "deadlock: every thread waits, and nothing can wake any of them")
	texts := map[*guest.Thread]string{}
	for _, w := range r.proc.Waits() {
		texts[w.Thread] = w.Text
	}
	for _, t := range r.threads {
		if t.gone {
			continue
		}
		r.end.words = append(r.end.words, fmt.Sprintf("  thread %d (%s) waits %s: %s", t.id, t.g.Name, r.waitPlace(t), r.waitWhat(t, texts[t.g])))
	}
	r.stop("deadlock", nil)
}

func (r *run) waitWhat(t *thread, text string) string {
	if n := len(t.frames); n > 0 {
		return fmt.Sprintf("%s(%#x)", t.frames[n-1].fn.Name, t.frames[n-1].object)
	}
	if t.spin != nil {
		return "spins until memory changes"
	}
	return text
}

// waitPlace is the program's own place at which t waits.
func (r *run) waitPlace(t *thread) string {
	site := r.site(t.ctx.RIP, r.stack(t))
	if len(site.Stack) == 0 {
		return fmt.Sprintf("at %#x", t.ctx.RIP)
	}
	f := site.Stack[0]
	name, entry := r.images.function(uint64(f.Call))
	if entry == 0 {
		return fmt.Sprintf("at %v", f.Call)
	}
	return fmt.Sprintf("in %s+%#x (%v)", name, uint64(f.Call)-entry, f.Call)
}
