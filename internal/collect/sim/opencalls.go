// Functions of the table that threads are in: they are opened where they begin, and closed where
// they return.

package sim

import (
	"strings"

	"lime/internal/collect/known"
	"lime/internal/section"
)

// openCalls knows the functions of the table, by address, and opens calls of them.
type openCalls struct {
	memory     *memory
	probes     *probes
	passPoints *passPoints
	entrances  *entrances
	segments   *segments
	tailCalls  *tailCalls
	heap       *heapBook
	focus      *focus
	names      map[string]*fn
	mangled    []*fn
	entries    map[uint64]*fn     // functions of the table, by address
	scopes     bool               // in one of them threads say that they are through
	taskBodies map[uint64]*fn     // functions that tasks were made of, by address
	bodies     map[uint64][]*fork // bodies of parallel regions, by address
}

// open notes the call and sets a probe where it returns to.
func (cs *openCalls) open(t *thread, f *fn) *call {
	sp, _ := cs.height(t)
	ret, _ := cs.memory.word(t.ctx.GPR[rsp])
	c := call{fn: f, ret: ret, rsp: sp, object: cs.object(t, f, f.Object), at: t.now()}
	cs.probes.setProbe(ret)
	t.frames = append(t.frames, c)
	return &t.frames[len(t.frames)-1]
}

// openSlow opens a call in which the thread will do nothing but wait: what it does for that
// (spinning, going to sleep) is no work.
func (cs *openCalls) openSlow(t *thread, f *fn) {
	cs.segments.keep(t)
	c := cs.open(t, f)
	c.slow, c.busy = true, t.busy
}

func (cs *openCalls) object(t *thread, f *fn, arg int) uint64 {
	if arg == none {
		return f.Constant
	}
	return argument(t, arg)
}

// height is where a thread's stack pointer stands. A goroutine's stack moves as it grows, so it is
// counted from its end: as a number without sign that is above all addresses, and so above those of
// calls in C that the goroutine has made. ok is false if it is on the scheduler's stack.
func (cs *openCalls) height(t *thread) (at uint64, ok bool) {
	sp := t.ctx.GPR[rsp]
	if t.goroutine == nil {
		return sp, true
	}
	lo, _ := cs.memory.word(t.goroutine.g) // runtime.g: stack.lo, stack.hi
	hi, _ := cs.memory.word(t.goroutine.g + 8)
	if sp < lo || sp > hi {
		return sp, t.in(known.GoC) != nil
	}
	return sp - hi, true
}

// arrival is an operation at a call of the table: the segment ends at the true place of the call.
func (cs *openCalls) arrival(t *thread, c *call, kind section.OpKind) section.Op {
	op, p := cs.segments.cutOp(t, kind)
	op.Object = c.object
	cs.tailCalls.trueSite(&op.Site, p, t.ctx.RIP, c.ret)
	c.site, c.segment = op.Site, p
	return op
}

func (cs *openCalls) enterPlain(t *thread, f *fn) { cs.open(t, f) }

// meaning is the row of a function with a symbol, nil if it has none.
func (cs *openCalls) meaning(symbol string) *fn {
	if f := cs.names[symbol]; f != nil {
		return f
	}
	if !strings.HasPrefix(symbol, "_ZN3std") && !strings.HasPrefix(symbol, "_R") {
		return nil
	}
	for _, f := range cs.mangled {
		if f.Mangles(symbol) {
			return f
		}
	}
	return nil
}

// othersProbe reports whether the probe at which t stands means nothing to it: others returned
// here, or came home from a wait.
func (cs *openCalls) othersProbe(t *thread) bool {
	pc, sp := t.ctx.RIP, t.ctx.GPR[rsp]
	// a function that goes round from its very beginning is entered once
	if f := cs.entries[pc]; f != nil && (inside(f.Role) || !t.covered()) && !goesRound(t, f, sp) {
		return false
	}
	if cs.focus.looks(pc) || t.hosts != nil || t.goroutine != nil || cs.bodies[pc] != nil || cs.taskBodies[pc] != nil ||
		cs.passPoints.points[pc] != nil || cs.entrances.at[pc] != nil {
		return false
	}
	if cs.heap != nil && cs.heap.probes[pc] || t.restart != nil && t.restart.ret == pc || t.meet == pc {
		return false
	}
	n := len(t.frames)
	return n == 0 || t.frames[n-1].rsp >= sp && !t.frames[n-1].ends(pc, sp)
}

// handedOver reports whether a function is one that the program has given to a runtime to be
// called: the body of a task or of a region.
func (cs *openCalls) handedOver(entry uint64) bool {
	_, body := cs.bodies[entry]
	return body || cs.taskBodies[entry] != nil
}
