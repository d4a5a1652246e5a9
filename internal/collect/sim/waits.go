// Waits in the system: who waits for what, and who wakes whom.

package sim

import (
	"slices"

	"lime/internal/collect/known"
	"lime/internal/guest"
	"lime/internal/section"
	"lime/internal/unit"
)

// waits is the waits in the system: who waits for what, and who wakes whom.
type waits struct {
	barriers   *barriers
	counting   *counting
	operations *operations
	places     *places
	precedence *precedence
	roster     *roster
	segments   *segments
	awaiting   *awaiting
	images     *images
	cores      *cores
	beside     *beside
	handing    *handing
	openCalls  *openCalls
	turns      *inTurn
	wakes      []*thread // that the call just handled has woken
}

// blockedOn takes a thread off its core.
func (ws *waits) blockedOn(t *thread, w guest.Wait) {
	t.at, t.waitAt, t.blocked, t.awaits = t.now(), t.now(), true, outsideWait(w.Kind)
	t.wake.object = w.Addr
	switch {
	case ws.counting.over():
	case t.waitsOn == waitsReported: // in a condition wait
	case t.schedules():
		t.waitsOn = waitsOff
	case t.covered():
		t.waitsOn = waitsInner
	case w.Kind == guest.WaitSignal:
		t.waitsOn = waitsIdle
		ws.operations.feed(t.acting().simple(section.OpLull, 0))
	case w.Kind != guest.WaitFutex || ws.places.runtimeWait(t):
		t.waitsOn = waitsOff
	case ws.places.lockWait(t):
		t.waitsOn = waitsLock
	case ws.beside.waitsInCandidate(t):
		t.waitsOn = waitsWatched
	default:
		ws.reportWait(t, w.Addr)
		ws.precedence.waitsInSystem(t, w.Addr)
	}
	ws.cores.release(t)
}

// reportWait tells the recogniser of a wait for a futex.
func (ws *waits) reportWait(t *thread, object uint64) {
	op, p := ws.segments.cutOp(t, section.OpWaitBegin)
	op.Object = object
	op.Site.Library = ws.places.inLibrary(&op.Site)
	op.Untyped = t.in(known.SemWait) == nil && !ws.places.known(p)
	ws.barriers.suspect(t, &op)
	ws.operations.feed(op)
	ws.handing.comes(t, &op, p)
	t.noteWaitAt(op.Site.Place())
	t.waitsOn, t.object, t.untyped = waitsReported, object, op.Untyped
}

// reportWakes tells whom the call just handled has woken; by is nil for time and
// the outside world.
func (ws *waits) reportWakes(by *thread) {
	if ws.counting.over() {
		ws.wakes = nil
	}
	for len(ws.wakes) > 0 {
		woken := ws.wakes
		ws.wakes = nil
		ws.reportRelease(by, woken)
		for _, t := range woken {
			t.wake.others = by != nil
			ws.reportWake(t)
		}
	}
}

// reportRelease tells that by has ended the waits of others.
func (ws *waits) reportRelease(by *thread, woken []*thread) {
	if by == nil || by.gone || by.ended {
		return
	}
	ws.handing.lets(by, woken)
	ws.awaiting.lets(by, woken)
	if c := by.in(known.CondWake, known.CondWakeAll); c != nil {
		ws.condRelease(by, c, woken)
		return
	}
	if by.covered() {
		return
	}
	if ws.beside == nil {
		ws.refuteFor(by, woken)
	}
	byObject, order := map[uint64][]section.ThreadID{}, []uint64{}
	for _, t := range woken {
		if t.waitsOn == waitsReported && t.in(known.CondWait) == nil {
			if byObject[t.object] == nil {
				order = append(order, t.object)
			}
			byObject[t.object] = append(byObject[t.object], t.id)
		}
	}
	for _, object := range order {
		late := ws.aboutToWait(by, byObject[object], object)
		op, _ := ws.segments.cutOp(by, section.OpRelease)
		op.Object, op.Woken = object, append(byObject[object], ids(late)...)
		op.Handed, op.Peer = ws.handing.hands(by, woken, object)
		op.One = wakesOne(by) && !ws.inWith(by, op.Woken)
		op.Peer = op.Peer || op.One && ws.waitsWith(by, op.Woken)
		op.Through = ws.through(by, op.Woken)
		ws.segments.reportOpening(by, op)
		for _, t := range late {
			ws.awaiting.waitOver(t, t.segment.stack)
		}
	}
}

// wakesOne reports whether a thread that has just come out of a system call asked it to wake one
// thread that waits for a futex, however many wait. Who opens a barrier asks for all.
func wakesOne(by *thread) bool {
	const futexWake, futexWakeBitset, flags = 1, 10, 128 | 256 // linux/futex.h
	op := by.ctx.GPR[rsi] &^ flags
	return (op == futexWake || op == futexWakeBitset) && by.ctx.GPR[rdx] == 1
}

// noteWaitAt notes where t waits.
func (t *thread) noteWaitAt(place unit.Addr) {
	if t.waited == nil {
		t.waited = map[unit.Addr]bool{}
	}
	t.waited[place], t.waitsAt = true, place
}

// waitsWith reports whether a thread waits at times where those wait whom it wakes: they take turns.
func (ws *waits) waitsWith(by *thread, woken []section.ThreadID) bool {
	return slices.ContainsFunc(woken, func(id section.ThreadID) bool { return by.waited[ws.roster.threads[id].waitsAt] })
}

// inWith reports whether a thread is in the function in which those wait whom it wakes, and
// which may be a barrier.
func (ws *waits) inWith(by *thread, woken []section.ThreadID) bool {
	return !slices.ContainsFunc(woken, func(id section.ThreadID) bool {
		g := ws.roster.threads[id].watchedCandidate()
		return g == nil || !g.holds() || !by.inside(g)
	})
}

// refuteFor refutes the functions in which some wait whom a thread wakes that is not in them: it
// gives something back, and has come out before those who wait.
func (ws *waits) refuteFor(by *thread, woken []*thread) {
	for _, t := range woken {
		for i := range t.frames {
			if g := t.frames[i].candidate; g != nil && g.state != candidateRefuted && !by.inside(g) {
				g.given = true
				ws.barriers.refute(g)
			}
		}
	}
}

// aboutToWait finds the threads that have come to the call in which those who are woken wait, and
// still look whether they must wait, too. They wait from now on, as far as the recogniser is told.
func (ws *waits) aboutToWait(by *thread, woken []section.ThreadID, object uint64) (late []*thread) {
	if len(woken) < 2 || ws.beside != nil { // nobody can look where a thread stands that runs
		return nil
	}
	at := ws.places.ownReturn(ws.roster.threads[woken[0]].segment.stack)
	for _, t := range ws.roster.threads {
		if at == nil || t == by || t.gone || t.ended || t.blocked || t.waitsOn != waitsNot || t.covered() ||
			ws.images.own(t.ctx.RIP) {
			continue
		}
		if h := ws.places.ownReturn(ws.places.stack(t)); h != nil && h.ret == at.ret {
			t.waitAt = t.now()
			ws.reportWait(t, object)
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
func (ws *waits) condRelease(by *thread, c *call, woken []*thread) {
	op := by.simple(section.OpRelease, c.object)
	op.At = unit.Cycles(c.at)
	all := c.fn.Role == known.CondWakeAll
	for _, t := range ws.roster.threads {
		if w := t.in(known.CondWait); w != nil && w.object == c.object && !t.gone && (all || contains(woken, t)) {
			op.Woken = append(op.Woken, t.id)
		}
	}
	if len(op.Woken) > 0 {
		op.Handed, op.Peer = ws.turns.lets(by, op.Woken)
		ws.segments.reportOpening(by, op)
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

// reportWake tells the end of one thread's wait.
func (ws *waits) reportWake(t *thread) {
	ws.handing.letGo(t)
	waited := t.at - t.waitAt
	switch t.waitsOn {
	case waitsReported:
		if t.in(known.CondWait) == nil {
			ws.awaiting.waitOver(t, t.segment.stack)
		}
		return // else at the return of the condition wait
	case waitsIdle:
		ws.operations.feed(t.acting().simple(section.OpLullEnd, 0))
	case waitsOff:
		ws.segments.reportOffAt(t.acting(), t.awaits, waited)
	case waitsLock:
		ws.segments.reportLock(t, waited)
	case waitsWatched:
		ws.segments.reportWatched(t, waited)
	case waitsInner:
		if n := len(t.frames); n > 0 {
			t.frames[n-1].waited += waited
		}
	}
	t.waitsOn = waitsNot
}

// reportLock tells of a wait for a lock that is no function of the table.
func (sg *segments) reportLock(t *thread, waited uint64) {
	sg.operations.reportSpun(t, waited)
	if call := sg.places.ownCall(t); call != 0 {
		t.noteLock(call, waited)
	}
}

// reportWatched tells of a wait in a function that may be a barrier: if it turns out to be one, the
// wait is idleness, and else a wait for what another thread does.
func (sg *segments) reportWatched(t *thread, waited uint64) {
	sg.operations.reportSpun(t, waited)
	if call := sg.places.ownCall(t); call != 0 {
		t.note(workWait, call, waited)
	}
}

// reportOffAt tells that a thread has waited for something outside of the program, where it stands.
func (sg *segments) reportOffAt(t *thread, kind waitEvent, units uint64) {
	if t.schedules() {
		return // with no goroutine on it
	}
	sg.operations.reportOff(t, units)
	if call := sg.places.ownCall(t); call != 0 {
		t.note(kind, call, units)
	}
}
