// Calls of MPI, where this process meets others; ends of sections that the user names.

package sim

import (
	"encoding/binary"

	"lime/internal/collect/known"
	"lime/internal/collect/mpi"
	"lime/internal/collect/threads"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/x86"
)

// Calls of MPI: where this process meets others, of which nothing is seen here. All that is done in
// them is waiting: progress engines spin, and how long depends on processes that run in real time.

// mpiCalls is the calls in which this process meets others.
type mpiCalls struct {
	openCalls  *openCalls
	operations *operations
	places     *places
	segments   *segments
	images     *images
	comms      *mpi.Comms
	meetings   threads.Meetings
}

// asked is what package mpi asks of a thread that calls.
type asked struct {
	*places
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

func (m *mpiCalls) enterMPI(t *thread, f *fn) {
	said := m.comms.Enter(f, asked{m.places, t}, t.now())
	c := m.openMPI(t, f)
	c.mpi = &said
	switch {
	case said.Meets:
		op := m.openCalls.arrival(t, c, section.OpArrive)
		outsideOf(t, &op.Site)
		op.Object, op.Meeting = m.meetings.Next(), &said
		c.object, c.reported, c.slow, c.busy = op.Object, true, true, t.busy
		m.operations.feed(op)
	case said.Polls:
		m.segments.enterPoll(t, c)
	case said.Waits:
		m.operations.feed(m.openCalls.arrival(t, c, section.OpWaitBegin))
		t.waitsOn, t.untyped = waitsReported, false
		c.reported, c.slow, c.busy = true, true, t.busy
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
func (m *mpiCalls) enterDeclared(t *thread, f *fn) {
	if t.id == 0 {
		m.enterMPI(t, f)
		return
	}
	m.enterSectionEnd(t, f)
}

func (m *mpiCalls) leaveDeclared(t *thread, c *call) {
	if c.mpi != nil {
		m.leaveMPI(t, c)
	}
}

// openMPI opens the call; what its arguments are is package mpi's affair.
func (m *mpiCalls) openMPI(t *thread, f *fn) *call {
	row := *f
	row.Object = none
	c := m.openCalls.open(t, &row)
	c.fn = f
	return c
}

func (m *mpiCalls) leaveMPI(t *thread, c *call) {
	m.comms.Leave(c.mpi, asked{m.places, t})
	m.overMPI(t, c)
	if c.mpi.Found {
		m.pollFound(t, c)
	}
}

// pollFound ends a section at a poll that has found what it asked for.
func (m *mpiCalls) pollFound(t *thread, c *call) {
	op, p := m.segments.cutOp(t, section.OpArrive)
	if in, at, ok := m.places.callInst(c.ret); ok && in.Branch == x86.BranchCall && m.images.own(c.ret-1) &&
		len(op.Site.Stack) > 0 {
		op.Site.Stack[0] = m.places.frame(at, at)
	}
	op.Object, op.Meeting = m.meetings.Next(), c.mpi
	m.operations.feed(op)
	m.operations.feed(t.simple(section.OpLeave, op.Object))
	m.segments.begin(t, outCall, p.stack)
}

// endInMPI is the end of a thread that may stand in a call of MPI: it has waited there, for a
// process that never came.
func (m *mpiCalls) endInMPI(t *thread) {
	for i := range t.frames {
		if c := &t.frames[i]; c.mpi != nil && c.reported {
			m.overMPI(t, c)
			return
		}
	}
}

func (m *mpiCalls) overMPI(t *thread, c *call) {
	over := threads.EndOfCall(c.mpi, t.id, c.object, t.now())
	switch {
	case !c.reported:
	case c.mpi.Meets:
		m.operations.feed(over)
		m.segments.begin(t, outCall, m.places.outside(t, c))
		t.busy = min(t.busy, c.busy)
	default:
		stack := m.places.outside(t, c)
		t.waitsOn = waitsNot
		m.operations.feed(over)
		m.segments.dropSlow(t, c)
		if !c.mpi.Polls {
			m.segments.resume(t, stack)
		}
	}
}

func (m *mpiCalls) enterSectionEnd(t *thread, f *fn) {
	c := m.openCalls.open(t, f)
	op := m.openCalls.arrival(t, c, section.OpCut)
	outsideOf(t, &op.Site)
	m.operations.feed(op)
	c.reported = true
}

// outsideOf leaves the function out that begins here, if it is the program's own: the call counts.
func outsideOf(t *thread, s *section.Site) {
	if len(s.Stack) > 1 && uint64(s.Stack[0].Call) == t.ctx.RIP {
		s.Stack = s.Stack[1:]
	}
}
