// How threads begin and end.

package native

import (
	"cmp"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/collect/threads"
	"lime/internal/section"
	"lime/internal/unit"
)

// lives are the beginnings and ends of threads, and the calls that make them and join them.
type lives struct {
	clocks     *clocks
	episodes   *episodes
	goroutines *goroutines
	mpiCalls   *mpiCalls
	operations *operations
	out        *output
	program    *program
	roster     *roster
	shared     *shared
	tasks      *tasks

	brief   brief
	handles map[uint64]*thread // by pthread_t
}

// thread finds a thread, or makes it known: it may have been there before lime.
func (lv *lives) thread(tid int32, at uint64) *thread {
	if t := lv.roster.byTID[tid]; t != nil {
		return t
	}
	return lv.startThread(tid, lv.roster.main(), at)
}

func (lv *lives) startThread(tid int32, parent *thread, at uint64) *thread {
	t := &thread{id: section.ThreadID(lv.shared.rows), tid: tid, parent: parent, start: at, name: lv.program.name}
	if parent != nil {
		t.name = parent.name
	}
	if !lv.shared.events.switches {
		t.cpu = onCPU{on: true, since: at}
	}
	if parent != nil {
		t.line.beyond = parent.line.at(&parent.cpu, at)
	}
	lv.shared.rows++
	lv.roster.threads = append(lv.roster.threads, t)
	lv.roster.byTID[tid] = t
	lv.clocks.pace.set(&t.paced, false, true)
	lv.out.thread(t)
	if len(lv.roster.threads) == 1 {
		lv.out.main = t
	}
	op := section.Op{Kind: section.OpStart, Thread: t.id, Other: section.NoThread, At: unit.Cycles(at)}
	pool := false
	if parent != nil {
		lv.joinsSiblings(t)
		op.Other = parent.id
		pool = lv.program.golang || lv.created(parent, t, at)
		lv.out.startsBehind(t, at)
	}
	lv.operations.feed(op)
	t.begin(at)
	switch {
	case lv.program.golang:
		lv.goroutines.schedules(t, at)
	case pool:
		t.idle = true
		lv.operations.feed(t.op(section.OpIdle, at))
	}
	return t
}

// joinsSiblings puts a new thread among those that its parent makes until the first of them comes to its
// end. One of those before may yet be on its way out, and is none of them.
func (lv *lives) joinsSiblings(t *thread) {
	p := t.parent
	if lv.episodes.begun[siblings(p, p.batches)] != nil {
		if p.batches > 0 {
			delete(lv.episodes.begun, siblings(p, p.batches-1))
		}
		p.batches++
	}
	t.batch = p.batches
}

// siblings names the end of the threads that a parent made together.
func siblings(parent *thread, batch uint32) uint64 {
	return threads.Children ^ uint64(batch)<<32 ^ uint64(uint32(parent.id))
}

// created tells of a new thread, and whether it belongs to the pool of an OpenMP runtime.
func (lv *lives) created(parent, t *thread, at uint64) (pool bool) {
	parent.child = t
	if parent.ended {
		return false
	}
	for _, c := range parent.calls {
		pool = pool || c.role == known.Fork && !c.body || c.mpi != nil
	}
	if n := len(parent.bodies); pool && n > 0 && parent.calls[len(parent.calls)-1].body {
		pool = false
	}
	if pool || parent.idle {
		return true
	}
	op := parent.create
	if op == nil {
		o, _ := lv.operations.cutOp(parent, section.OpCreate, at)
		op = &o
	}
	parent.create = nil
	op.Other = t.id
	lv.operations.tellOff(parent, op.Span.(*piece))
	lv.operations.feed(*op)
	return false
}

func (lv *lives) endThread(t *thread, at uint64) {
	if t.ended {
		return
	}
	lv.tasks.tasksEnd(t, at)
	lv.goroutines.goneFrom(t, at)
	lv.mpiCalls.endInMPI(t, at)
	op, p := lv.operations.cutOp(t, section.OpExit, at)
	if t.parent != nil { // the first one is compared with nobody
		lv.episodes.comes(t, p, siblings(t.parent, t.batch), at)
		lv.operations.tellOff(t, p)
	}
	t.ended, t.end, t.came = true, at, arrival{}
	lv.clocks.pace.set(&t.paced, false, false)
	t.cpu.ends(at)
	lv.hasLived(t)
	lv.operations.feed(op)
	lv.out.threadEnd(t)
}

func (lv *lives) enterJoin(t *thread, h *hook.Record, at uint64) {
	c := call{role: known.Join, sp: h.SP}
	if !t.covered() {
		c.other = lv.handles[h.Arg0]
	}
	if c.other != nil {
		op := lv.operations.arrival(t, section.OpJoinBegin, h, at, 0)
		op.Other = c.other.id
		lv.awaits(t, op.Span.(*piece), at)
		lv.operations.tellOff(t, op.Span.(*piece))
		lv.operations.feed(op)
	}
	t.push(c)
}

// awaits notes that a thread waits for those that it has made: if one of them has come to its end
// before, it may have worked as one of them.
func (lv *lives) awaits(t *thread, p *piece, at uint64) {
	p.awaits = true
	if children := siblings(t, t.batches); lv.episodes.begun[children] != nil {
		lv.episodes.comes(t, p, children, at)
	}
}

// leaveJoin: the kernel may tell of the thread's end after the one who joins it goes on.
func (lv *lives) leaveJoin(t *thread, h *hook.Record, at uint64) {
	c, ok := t.pop(known.Join, false)
	if !ok || c.other == nil {
		return
	}
	if int32(h.Arg0) == 0 {
		lv.endThread(c.other, at)
		delete(lv.handles, h.Arg1)
	}
	op := t.op(section.OpJoinEnd, at)
	op.Other = c.other.id
	lv.operations.feed(op)
	t.line.meets(&t.cpu, at, c.other.line.at(&c.other.cpu, at))
	lv.out.follows(t, c.other)
	t.begin(at)
}

func (lv *lives) enterCreate(t *thread, h *hook.Record, at uint64) {
	t.child = nil
	if !t.covered() && !t.idle {
		op := lv.operations.arrival(t, section.OpCreate, h, at, 0)
		t.create = &op
	}
	t.push(call{role: known.Create, sp: h.SP, cpu: t.cpu.at(at)})
}

func (lv *lives) leaveCreate(t *thread, h *hook.Record, at uint64) {
	c, ok := t.pop(known.Create, false)
	if int32(h.Arg0) == 0 && t.child != nil {
		lv.handles[h.Arg1] = t.child
	}
	if ok && t.child != nil && t.create == nil { // what it took to make the thread is none of the threads' work
		op := t.op(section.OpOff, at)
		op.N = unit.Cycles(t.cpu.at(at) - min(c.cpu, t.cpu.at(at)))
		lv.operations.feed(op)
	}
	if t.create != nil { // no thread came of it: the piece goes on
		p := t.create.Span.(*piece)
		p.events = append(p.events, t.piece.events...)
		p.samples, p.work, p.spin = append(p.samples, t.piece.samples...), p.work+t.piece.work, p.spin+t.piece.spin
		p.spins, p.spunAt = p.spins+t.piece.spins, cmp.Or(t.piece.spunAt, p.spunAt)
		p.off = append(p.off, t.piece.off...)
		p.cpu = 0
		t.piece, t.create = p, nil
	}
}
