package sim

import (
	"cmp"
	"encoding/binary"
	"slices"

	"lime/internal/collect/known"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/x86"
)

// Calls of MPI: where this process meets others, of which nothing is seen here. All that is done in
// them is waiting: progress engines spin, and how long depends on processes that run in real time.

// meetObject keeps meetings apart from what has an address.
const meetObject = 1 << 62

// asked is what package mpi asks of a thread that calls.
type asked struct {
	*run
	t *thread
}

func (c asked) Argument(n int) uint64 {
	const inRegisters = 6
	if n < inRegisters {
		return argument(c.t, n)
	}
	v, _ := c.word(c.t.ctx.GPR[rsp] + 8 + 8*uint64(n-inRegisters))
	return v
}

func (c asked) Word(addr uint64, size int) (uint64, bool) {
	b := c.proc.Readable(addr, uint64(size))
	switch {
	case len(b) < size:
		return 0, false
	case size == 4:
		return uint64(binary.LittleEndian.Uint32(b)), true
	}
	return binary.LittleEndian.Uint64(b), true
}

func (c asked) Variable(addr uint64) string {
	im := c.images.at(addr)
	if im == nil {
		return ""
	}
	s, ok := im.Variable(addr - im.Bias)
	if !ok || s.Addr != addr-im.Bias {
		return ""
	}
	return s.Name
}

func (r *run) enterMPI(t *thread, f *fn) {
	said := r.comms.Enter(f, asked{r, t}, t.now())
	c := r.openMPI(t, f)
	c.mpi = &said
	switch {
	case said.Meets:
		r.meetings++
		op := r.arrival(t, c, section.OpArrive)
		outsideOf(t, &op.Site)
		op.Object, op.Meeting = meetObject|r.meetings, &said
		c.object, c.told, c.slow, c.busy = op.Object, true, true, t.busy
		r.feed(op)
	case said.Polls:
		r.enterPoll(t, c)
	case said.Waits:
		r.feed(r.arrival(t, c, section.OpWaitBegin))
		t.waitsOn, t.untyped = waitsTold, false
		c.told, c.slow, c.busy = true, true, t.busy
	}
}

// declared is the role of functions that the user names.
func declared(me profile.RankInfo) known.Role {
	if me.Launcher != "" {
		return known.MeetDeclared
	}
	return known.SectionEnd
}

// enterDeclared is a call of such a function. Processes meet in their first threads; of others it
// ends a section of the process's own.
func (r *run) enterDeclared(t *thread, f *fn) {
	if t.id == 0 {
		r.enterMPI(t, f)
		return
	}
	r.enterSectionEnd(t, f)
}

func (r *run) leaveDeclared(t *thread, c *call) {
	if c.mpi != nil {
		r.leaveMPI(t, c)
	}
}

// openMPI opens the call; what its arguments are is package mpi's affair.
func (r *run) openMPI(t *thread, f *fn) *call {
	row := *f
	row.Object = none
	c := r.open(t, &row)
	c.fn = f
	return c
}

func (r *run) leaveMPI(t *thread, c *call) {
	r.comms.Leave(c.mpi, asked{r, t})
	r.overMPI(t, c)
	if c.mpi.Found {
		r.found(t, c)
	}
}

// enterPoll begins to wait, as far as is known: a piece for each of a million polls would take up
// memory for nothing, so the one under way goes on.
func (r *run) enterPoll(t *thread, c *call) {
	p := &piece{}
	r.drain(t, p)
	t.keepFor(p)
	t.carry = summed(t.carry)
	r.feed(t.simple(section.OpWaitBegin, 0))
	t.waitsOn, t.untyped = waitsTold, false
	c.told, c.slow, c.busy = true, true, t.busy
}

// summed adds up counts of one edge, if there are many.
func summed(list []edgeCount) []edgeCount {
	const few = 256 // below, adding up takes longer than it saves
	if len(list) < few {
		return list
	}
	slices.SortFunc(list, func(a, b edgeCount) int { return cmp.Compare(a.id, b.id) })
	out := list[:1]
	for _, e := range list[1:] {
		if last := &out[len(out)-1]; last.id == e.id {
			last.n += e.n
			continue
		}
		out = append(out, e)
	}
	return out
}

// found ends a section at a poll that has found what it asked for.
func (r *run) found(t *thread, c *call) {
	r.meetings++
	op, p := r.cutOp(t, section.OpArrive)
	if in, at, ok := r.callInst(c.ret); ok && in.Branch == x86.BranchCall && r.images.own(c.ret-1) && len(op.Site.Stack) > 0 {
		op.Site.Stack[0] = r.frame(at, at)
	}
	op.Object, op.Meeting = meetObject|r.meetings, c.mpi
	r.feed(op)
	r.feed(t.simple(section.OpLeave, op.Object))
	r.begin(t, outCall, p.stack)
}

// endInMPI is the end of a thread that may stand in a call of MPI: it has waited there, for a
// process that never came.
func (r *run) endInMPI(t *thread) {
	for i := range t.frames {
		if c := &t.frames[i]; c.mpi != nil && c.told {
			r.overMPI(t, c)
			return
		}
	}
}

func (r *run) overMPI(t *thread, c *call) {
	switch {
	case !c.told:
	case c.mpi.Meets:
		r.feed(t.simple(section.OpLeave, c.object))
		r.begin(t, outCall, r.outside(t, c))
		t.busy = min(t.busy, c.busy)
	default:
		stack := r.outside(t, c)
		t.waitsOn = waitsNot
		op := t.simple(section.OpWaitEnd, 0)
		op.Idle = true
		r.feed(op)
		r.dropSlow(t, c)
		if !c.mpi.Polls {
			r.resume(t, stack)
		}
	}
}
