// How threads begin and end, and who waits for their end.

package sim

import (
	"lime/internal/collect/known"
	"lime/internal/guest"
	"lime/internal/section"
	"lime/internal/unit"
)

// lives is how threads begin and end.
type lives struct {
	counting   *counting
	mpiCalls   *mpiCalls
	openCalls  *openCalls
	operations *operations
	places     *places
	roster     *roster
	spinners   *spinners
	segments   *segments
	tasks      *tasks
	waking     *waking
	images     *images
	cores      *cores
	beside     *beside
	focus      *focus
	out        *output
	end        *end
}

// enterCreate ends the segment; which thread it is is known later.
func (lv *lives) enterCreate(t *thread, f *fn) {
	c := lv.openCalls.open(t, f)
	if f.Second != none {
		c.start = argument(t, f.Second)
	}
	op := lv.openCalls.arrival(t, c, section.OpCreate)
	op.Site.Library = lv.places.inLibrary(&op.Site)
	c.create = &op
}

// leaveCreate: if no thread came of it, the segment goes on.
func (lv *lives) leaveCreate(t *thread, c *call) {
	switch {
	case c.create != nil:
		lv.segments.reopen(t, c.create.Span.(*segment))
	case c.created:
		op, _ := lv.segments.cutOp(t, section.OpCreated)
		op.Site = c.site
		lv.operations.feed(op)
	}
}

// created takes in a new thread.
func (lv *lives) created(t *thread, g *guest.Thread) {
	carrier := t
	t = t.acting()
	c := lv.roster.addThread(g, t)
	c.fsBase = g.Ctx.FSBase
	c.readyAt, c.at, c.started = t.now(), t.now(), t.now()
	if lv.counting.over() {
		lv.beside.joins(c)
		return
	}
	pool := t.idle || t.forking()
	if lv.makesHost(carrier, t) {
		c.hosts, pool = &hosting{}, true
	} else {
		lv.out.thread(c)
	}
	if !pool {
		lv.reportCreate(t, c.id)
	}
	lv.operations.feed(section.Op{Kind: section.OpStart, Thread: c.id, Other: t.id, At: unit.Cycles(c.at)})
	if pool {
		if lv.tasks.pools.makes(t) {
			lv.tasks.pools.add(c)
		}
		c.idle = true
		lv.operations.feed(c.simple(section.OpIdle, 0))
	}
	lv.segments.begin(c, outWay, nil)
	if !pool {
		c.birth = bornOutside
	}
	lv.cores.place(c)
}

// reportCreate tells of a new thread. The segment ended where the creating function was entered.
func (lv *lives) reportCreate(t *thread, child section.ThreadID) {
	var op section.Op
	if c := t.in(known.Create); c != nil && c.create != nil {
		op, c.create, c.created = *c.create, nil, true
	} else {
		op, _ = lv.segments.cutOp(t, section.OpCreate)
	}
	op.Other = child
	lv.operations.feed(op)
}

// makesHost reports whether a new thread is one of Go's scheduler: the program's own are made by
// code in C.
func (lv *lives) makesHost(carrier, by *thread) bool {
	c := by.in(known.Create)
	if carrier.hosts == nil || by.in(known.GoC) == nil || c == nil {
		return carrier.hosts != nil
	}
	name, _ := lv.images.function(c.start)
	return name == "threadentry" // runtime/cgo, gcc_linux_amd64.c
}

func (lv *lives) enterJoin(t *thread, f *fn) {
	c := lv.openCalls.open(t, f)
	c.other = lv.roster.byControlBlock(c.object)
	if c.other == nil {
		return
	}
	op := lv.openCalls.arrival(t, c, section.OpJoinBegin)
	op.Site.Library = lv.places.inLibrary(&op.Site)
	op.Other = c.other.id
	lv.operations.feed(op)
	c.reported = true
}

func (lv *lives) leaveJoin(t *thread, c *call) {
	if !c.reported {
		return
	}
	lv.beside.since(t, c.at, c.other.at)
	op := t.simple(section.OpJoinEnd, 0)
	op.Other = c.other.id
	lv.operations.feed(op)
	lv.segments.begin(t, outCall, lv.places.outside(t, c))
}

// endThread tells the end of a thread, while its counters are still there.
func (lv *lives) endThread(t *thread) {
	if t.ended || t.ctx == nil {
		return
	}
	lv.waking.wakeSpinners(t)
	lv.mpiCalls.endInMPI(t)
	op, _ := lv.segments.cutOp(t, section.OpExit)
	if op.Final = lv.end.by == t; op.Final && len(op.Site.Stack) == 0 {
		op.Site.Stack = lv.places.endOfMain()
	}
	op.Loose = t.goroutine != nil
	t.ended = true
	lv.operations.feed(op)
	lv.out.threadEnd(t)
	lv.focus.gone(t)
}

// endAll ends all threads; first is the one that ends the process.
func (lv *lives) endAll(first *thread) {
	if first != nil {
		lv.end.by = first.acting()
		lv.endThread(lv.end.by)
	}
	for _, t := range running(lv.roster.threads) {
		lv.endThread(t)
	}
	for _, t := range lv.roster.threads {
		if !t.gone {
			lv.endThread(t)
		}
	}
}

func (lv *lives) threadGone(t *thread) {
	t.at = t.now()
	t.gone = true
	delete(lv.roster.byGuest, t.g)
	lv.spinners.drop(t)
	lv.cores.release(t)
}
