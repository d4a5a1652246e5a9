// Calls of MPI in which a process meets others, or waits for them.

package threads

import (
	"lime/internal/collect/mpi"
	"lime/internal/section"
	"lime/internal/unit"
)

// Meetings are those of a process with others, of which nothing is seen here.
type Meetings struct{ met uint64 }

// Next names the next meeting.
func (m *Meetings) Next() (object uint64) {
	m.met++
	return Meeting | m.met
}

// EndOfCall is the operation with which a call ends that the recogniser knows: that of a meeting,
// or of a wait for work.
func EndOfCall(c *mpi.Call, t section.ThreadID, object, at uint64) section.Op {
	op := section.Op{
		Kind: section.OpLeave, Thread: t, Other: section.NoThread, At: unit.Cycles(at), Object: object,
	}
	if !c.Meets {
		op.Kind, op.Object, op.Idle = section.OpWaitEnd, 0, true
	}
	return op
}
