package native

import (
	"slices"

	"lime/internal/binfile"
	"lime/internal/collect/known"
	"lime/internal/collect/mpi"
	"lime/internal/collect/native/hook"
	"lime/internal/collect/threads"
	"lime/internal/section"
)

// Calls of MPI, where this process meets others: their time is waiting, whatever the library does
// in them.

// mpiCalls are the calls of MPI's library in which this process meets others, or waits for them.
type mpiCalls struct {
	operations *operations
	program    *program

	comms    *mpi.Comms
	meetings threads.Meetings
	worlds   map[uint64]string // variables of MPI's library, by address
}

// mpiRole reports whether a role is of MPI's functions.
func mpiRole(r known.Role) bool { return r >= known.Meet && r <= known.Message }

// picked are the arguments that a record has to tell, as far as they come in registers: the object
// and the second, and of a message the tag behind that; a split's colour for the second.
func picked(row *known.Func) (p [3]hook.Pick) {
	for i, n := range arguments(row) {
		if n >= 0 && n < inRegisters {
			p[i] = hook.Pick(n + 1)
		}
	}
	if p == ([3]hook.Pick{}) {
		p[0] = 1 // what is recorded does not matter
	}
	return p
}

// arguments are the numbers of those that stand in Arg0, and in the halves of Arg1.
func arguments(row *known.Func) [3]int {
	switch row.Role {
	case known.MeetSplit:
		return [3]int{row.Object, int(row.Constant), known.None}
	case known.Send, known.SendAnswered, known.Receive, known.SendStart, known.ReceiveStart, known.SendLater,
		known.ReceiveLater, known.Look:
		return [3]int{row.Object, row.Second, row.Second + 1}
	case known.SendReceive: // the communicator stands on the stack, and with it, mostly, from whom
		return [3]int{int(row.Constant), row.Second, row.Second + 1}
	}
	return [3]int{row.Object, row.Second, known.None}
}

const inRegisters = 6

// asked is what package mpi asks of a hooked call.
type asked struct {
	m   *mpiCalls
	h   *hook.Record
	row *known.Func
}

func (a asked) Argument(n int) uint64 {
	picked := arguments(a.row)
	switch {
	case n >= inRegisters && n-inRegisters < a.h.Words:
		return a.h.Stack[n-inRegisters]
	case n == picked[0]:
		return a.h.Arg0
	case n == picked[2]:
		return a.h.Arg1 >> 32
	}
	return a.h.Arg1
}

// Word is what a call has put where it was told to. A request is known by the variable that it was
// put into, which is given to the wait for it as well: what the variable holds is over when the
// record is read.
func (a asked) Word(addr uint64, size int) (uint64, bool) {
	switch a.row.Role {
	case known.MeetStart, known.MeetFinish, known.SendStart, known.ReceiveStart, known.SendLater, known.ReceiveLater,
		known.Restart:
		return addr, true
	case known.Receive, known.SendReceive, known.Look: // a status has more than one word
		return 0, false
	}
	if a.h.Phase == hook.Enter {
		return addr, a.row.Role == known.FinishOne
	}
	if size == 4 {
		return uint64(uint32(a.h.Arg1)), int32(a.h.Arg0) == 0
	}
	return a.h.Arg1, int32(a.h.Arg0) == 0
}

func (a asked) Variable(addr uint64) string {
	if a.m.worlds == nil {
		a.m.worlds = a.m.program.images.variables("ompi_mpi_comm_world", "ompi_mpi_comm_self")
	}
	return a.m.worlds[addr]
}

// variables finds where the program has variables of some names.
func (m *images) variables(names ...string) map[uint64]string {
	found := map[uint64]string{}
	for _, im := range m.List {
		if im.Bin == nil {
			continue
		}
		for _, s := range im.Bin.Symbols() {
			if s.Kind == binfile.SymObject && slices.Contains(names, s.Name) {
				found[s.Addr+im.Bias] = s.Name
			}
		}
	}
	return found
}

func (m *mpiCalls) enterMPI(t *thread, h *hook.Record, at uint64) {
	row := &m.program.table[h.Func]
	c := call{role: row.Role, sp: h.SP}
	if !t.covered() {
		said := m.comms.Enter(row, asked{m, h, row}, t.cpu.at(at))
		c.mpi = &said
		switch {
		case said.Meets:
			c.object, c.told = m.meetings.Next(), true
			op := m.operations.arrival(t, section.OpArrive, h, at, c.object)
			op.Meeting = c.mpi
			m.operations.feed(op)
		case said.Waits:
			c.told = true
			m.operations.feed(m.operations.arrival(t, section.OpWaitBegin, h, at, 0))
		}
	}
	t.push(c)
}

func (m *mpiCalls) leaveMPI(t *thread, h *hook.Record, at uint64) {
	row := &m.program.table[h.Func]
	c, ok := t.pop(row.Role, false)
	if !ok || c.mpi == nil {
		return
	}
	m.comms.Leave(c.mpi, asked{m, h, row})
	m.overMPI(t, &c, at)
}

// endInMPI is the end of a thread that may stand in a call of MPI: it has waited there, for a
// process that never came.
func (m *mpiCalls) endInMPI(t *thread, at uint64) {
	for i := range t.calls {
		if c := &t.calls[i]; c.mpi != nil {
			m.overMPI(t, c, at)
			return
		}
	}
}

func (m *mpiCalls) overMPI(t *thread, c *call, at uint64) {
	if !c.told {
		return
	}
	m.operations.feed(threads.EndOfCall(c.mpi, t.id, c.object, at))
	t.begin(at)
}
