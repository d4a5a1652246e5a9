// What a thread does from one operation to the next: where that begins and ends, what it holds.

package sim

import (
	"slices"

	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// segments begins and ends what threads do from one operation to the next, and keeps account of
// every instruction.
type segments struct {
	clocks     *clocks
	operations *operations
	places     *places
	probes     *probes
	roster     *roster
	rounds     *rounds
	eng        *engine.Engine
	images     *images
	meter      Meter
	rec        *section.Recogniser
	beside     *beside
	focus      *focus
	drained    []edgeCount // of one thread, before there is memory for as many as they are
}

// segmentStart is where a segment began.
type segmentStart struct {
	at    uint64
	pc    uint64
	host  hostClock
	stack []frameRef  // innermost first
	back  []edgeCount // how the thread came there, where what it did before that may belong to the same part
}

// segment is what a thread did from one operation to the next.
type segment struct {
	start     segmentStart
	at        uint64 // when it ended
	pc        uint64 // where
	stack     []frameRef
	base      base // of its stack
	edges     []edgeCount
	hw        hardware
	locks     []lockEvent
	samples   []pathSample
	loop      *spinner // it ended in this spin loop
	given     []uint64 // where the tasks begin that the thread was given
	task      bool     // it is a task that was run at the end of the section
	left      bool     // of a goroutine: it has left its processor to others behind it
	off       uint64
	earlier   []*segment // of a goroutine: what it did before it left its processor to others
	candidate *candidate // it ended in this function, which may be a barrier
	by        *thread
	written   bool // it is in a section
	host      profile.HostTime
	deals     []deal // threads in parallel: when it came for pieces of work
}

type edgeCount struct {
	id engine.EdgeID
	n  uint64
}

// waitEvent is a kind of event that the simulated system sees.
type waitEvent uint8

const (
	lockWait   waitEvent = iota
	spinWait             // in a loop, for what another thread stores: no lock, as far as is proved
	workWait             // asleep, until another thread has done something
	permitWait           // asleep, until one of those who take turns there gives back what it holds
	sleepWait            // asleep until a time; from here on for what no thread of the program does
	ioWait               // for a file
	offCPU               // for something else
	waitEvents
)

// waitKinds describes them for the profile.
func waitKinds() [waitEvents]profile.EventKind {
	return [waitEvents]profile.EventKind{
		lockWait:   profile.NewKind(profile.Measured, profile.KindLockWait),
		spinWait:   profile.NewKind(profile.Measured, profile.KindSpinWait),
		workWait:   profile.NewKind(profile.Measured, profile.KindWorkWait),
		permitWait: profile.NewKind(profile.Measured, profile.KindPermitWait),
		sleepWait:  profile.NewKind(profile.Measured, profile.KindSleep),
		ioWait:     profile.NewKind(profile.Measured, profile.KindIO),
		offCPU:     profile.NewKind(profile.Measured, profile.KindOffCPU),
	}
}

// outside reports whether nothing that a thread of the program does ends such a wait.
func (k waitEvent) outside() bool { return k >= sleepWait }

// outsideWait is what a thread waits for in a system call.
func outsideWait(w guest.WaitKind) waitEvent {
	switch w {
	case guest.WaitTime:
		return sleepWait
	case guest.WaitFD:
		return ioWait
	}
	return offCPU
}

// lockEvent is the waits of one kind at one place.
type lockEvent struct {
	kind      waitEvent
	call      uint64 // the call that waits
	n         uint64
	wait      uint64
	candidate *candidate // in which it happened, which may be a barrier
}

// begin starts a segment here and now; what was counted since the last one is dropped.
func (sg *segments) begin(t *thread, why outOf, stack []frameRef) {
	sg.forget(t, why)
	sg.without(t, why, t.carry)
	t.yielded = nil
	t.fresh()
	sg.resume(t, stack)
}

// fresh forgets what belonged to the segment that has ended.
func (t *thread) fresh() {
	t.locks, t.carry, t.carryHW, t.samples = nil, nil, hardware{}, nil
	t.pass, t.restart, t.meet = nil, nil, 0
	t.earlier, t.off, t.given, t.deals = nil, 0, nil, dealList{}
}

// resume starts a segment here and now; what was counted since the last one counts for it.
func (sg *segments) resume(t *thread, stack []frameRef) {
	t.segment = segmentStart{at: t.now(), pc: t.ctx.RIP, host: sg.beside.clocks(t), stack: stack}
}

// cut ends t's segment here, and starts the next one.
func (sg *segments) cut(t *thread) *segment {
	t.joinPass()
	p := &segment{start: t.segment, at: t.now(), pc: t.ctx.RIP, stack: sg.places.stack(t), base: t.base(), locks: t.locks, edges: t.carry,
		hw: t.carryHW, samples: t.samples,
		off: t.off, earlier: t.earlier, candidate: t.watchedCandidate(), task: t.doesTask(), given: t.given,
		host: sg.beside.took(t, t.segment.host), deals: t.deals.all}
	sg.drain(t, p)
	if units := sg.rounds.takeSpinning(t, p); units > 0 {
		sg.operations.reportSpun(t, units)
	}
	if sg.rounds.now == nil {
		sg.reportYields(t, p)
	}
	t.did(p)
	sg.closed(t, p)
	t.fresh()
	sg.resume(t, p.stack)
	return p
}

// reopen lets a segment of t's that has ended go on after all, with all that it holds.
func (sg *segments) reopen(t *thread, p *segment) {
	if len(t.earlier) > 0 { // a goroutine, which has left its processor since: that is no time of its own
		t.earlier, p.earlier = slices.Concat(p.earlier, []*segment{p}, t.earlier), nil
		return
	}
	t.book.cut -= sg.places.instrs(p.edges)
	if notes(t) {
		t.doing.from += len(p.edges) // they are in what it has done already
	}
	hw := p.hw
	hw.add(t.carryHW)
	t.carry, t.carryHW, t.samples = slices.Concat(p.edges, t.carry), hw, slices.Concat(p.samples, t.samples)
	t.locks, t.given = slices.Concat(p.locks, t.locks), slices.Concat(p.given, t.given)
	t.off, t.earlier = p.off+t.off, slices.Concat(p.earlier, t.earlier)
	t.deals.follow(p.deals)
	t.segment = p.start
}

// cameBack is the edge by which a goroutine has returned to where it stands, if it has been on a
// thread before: what was counted on the way, by the scheduler, is not its own.
func (sg *segments) cameBack(t *thread) []edgeCount {
	if id, ok := engine.Returned(sg.eng, t.ctx.RIP); ok && t.goroutine.leftAt > 0 && !sg.focus.closed() {
		return []edgeCount{{id, 1}}
	}
	return nil
}

// drain adds what t's counters hold to a segment, and makes them nil.
func (sg *segments) drain(t *thread, p *segment) {
	if sg.focus.closed() {
		p, t.wake.told = &segment{}, true // nobody will know what it did
		defer func() { sg.without(t.acting(), outRegion, p.edges) }()
	}
	before := len(p.edges)
	sg.drained = sg.drained[:0]
	sg.eng.Drain(t.ctx, func(id engine.EdgeID, n uint64) {
		sg.drained = append(sg.drained, edgeCount{id, n})
	})
	p.edges = append(p.edges, sg.drained...)
	p.hw.add(sg.meter.Drain(t.ctx, p.edges[before:]))
}

// forget makes t's counters nil.
func (sg *segments) forget(t *thread, why outOf) {
	p := &segment{}
	sg.drain(t, p)
	sg.without(t, why, p.edges)
}

// keepFor lets a segment's counts go on in the segment under way.
func (t *thread) keepFor(p *segment) {
	t.carries(p.edges...)
	t.carryHW.add(p.hw)
}

// cutOp is an operation that ends a segment at the thread's place.
func (sg *segments) cutOp(t *thread, kind section.OpKind) (section.Op, *segment) {
	p := sg.cut(t)
	site := sg.places.site(p.pc, p.stack)
	site.Kept = sg.places.kept(p)
	return section.Op{
		Kind: kind, Thread: t.id, Other: section.NoThread, At: unit.Cycles(p.at), Site: site, Span: p,
	}, p
}

// noteLock remembers a wait for a lock.
func (t *thread) noteLock(call, wait uint64) { t.note(lockWait, call, wait) }

func (p *segment) note(kind waitEvent, call, wait uint64) {
	p.locks = noted(p.locks, lockEvent{kind, call, 1, wait, p.candidate})
}

// note remembers a wait of some kind.
func (t *thread) note(kind waitEvent, call, wait uint64) {
	if f := t.focus; f != nil {
		if wait = f.lasts(t, wait); wait == 0 && f.closed() {
			return
		}
	}
	t.atHome()
	t.locks = noted(t.locks, lockEvent{kind, call, 1, wait, t.watchedCandidate()})
}

func noted(list []lockEvent, e lockEvent) []lockEvent {
	for i := range list {
		if l := &list[i]; l.call == e.call && l.kind == e.kind && l.candidate == e.candidate {
			l.n += e.n
			l.wait += e.wait
			return list
		}
	}
	return append(list, e)
}

// reportQueued tells for how long a thread that could run had no core.
func (sg *segments) reportQueued(t *thread) {
	units := t.queued
	t.queued = 0
	if a := t.acting(); units > 0 && t.waitsOn == waitsNot && !a.covered() {
		sg.operations.reportOff(a, units)
	}
}
