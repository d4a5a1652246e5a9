package native

import (
	"slices"

	"lime/internal/binfile"
	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/section"
)

// Calls of MPI, where this process meets others: their time is waiting, whatever the library does
// in them.

// meetObject keeps meetings apart from what has an address.
const meetObject = 1 << 62

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
	r   *run
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
	if a.r.worlds == nil {
		a.r.worlds = a.r.program.images.variables("ompi_mpi_comm_world", "ompi_mpi_comm_self")
	}
	return a.r.worlds[addr]
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

func (r *run) enterMPI(t *thread, h *hook.Record, at uint64) {
	row := &r.program.table[h.Func]
	c := call{role: row.Role, sp: h.SP}
	if !t.covered() {
		said := r.comms.Enter(row, asked{r, h, row}, t.cpu.at(at))
		c.mpi = &said
		switch {
		case said.Meets:
			r.collectives++
			c.object, c.told = meetObject|r.collectives, true
			op := r.operations.arrival(t, section.OpArrive, h, at, c.object)
			op.Meeting = c.mpi
			r.operations.feed(op)
		case said.Waits:
			c.told = true
			r.operations.feed(r.operations.arrival(t, section.OpWaitBegin, h, at, 0))
		}
	}
	t.push(c)
}

func (r *run) leaveMPI(t *thread, h *hook.Record, at uint64) {
	row := &r.program.table[h.Func]
	c, ok := t.pop(row.Role, false)
	if !ok || c.mpi == nil {
		return
	}
	r.comms.Leave(c.mpi, asked{r, h, row})
	r.overMPI(t, &c, at)
}

// endInMPI is the end of a thread that may stand in a call of MPI: it has waited there, for a
// process that never came.
func (r *run) endInMPI(t *thread, at uint64) {
	for i := range t.calls {
		if c := &t.calls[i]; c.mpi != nil {
			r.overMPI(t, c, at)
			return
		}
	}
}

func (r *run) overMPI(t *thread, c *call, at uint64) {
	if !c.told {
		return
	}
	op := t.op(section.OpLeave, at)
	if op.Object = c.object; c.mpi.Waits {
		op = t.op(section.OpWaitEnd, at)
		op.Idle = true
	}
	r.operations.feed(op)
	t.begin(at)
}
