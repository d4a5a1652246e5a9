package sim

import (
	"lime/internal/collect/known"
	"lime/internal/section"
	"lime/internal/unit"
)

// leave handles the return from a function of the table, or its end by a
// longjmp or an exception.
func (r *run) leave(t *thread, c *call) {
	if do := leavings()[c.fn.Role]; do != nil {
		do(r, t, c)
	}
}

// leaving is what the end of a call means.
type leaving func(*run, *thread, *call)

func leavings() [known.Roles]leaving {
	table := [known.Roles]leaving{
		known.Barrier:     (*run).leaveBarrier,
		known.TeamBarrier: (*run).leaveBarrier,
		known.TeamReduce:  (*run).leaveBarrier,
		known.Join:        (*run).leaveJoin,
		known.Create:      (*run).leaveCreate,
		known.Fork:        (*run).leaveFork,
		known.Lock:        (*run).leaveLock,
		known.TryLock:     (*run).leaveTryLock,
		known.ReadLock:    (*run).leaveReadLock,
		known.Turn:        (*run).leaveTurn,
		known.CondWait:    (*run).leaveCondWait,
		known.Gate:        (*run).leaveGate,
		known.TaskWait:    (*run).leaveTaskWait,
		known.TaskBody:    (*run).leaveTaskBody,
		known.GoLock:      (*run).leaveGoLock,
		known.GoCondWait:  (*run).leaveGoCondWait,
		known.GoAwait:     (*run).leaveAwait,
		known.RegionBody:  (*run).leaveBody,
		known.PoolRun:     (*run).leavePoolRun,
	}
	for x := known.Meet; x <= known.Message; x++ {
		table[x] = (*run).leaveMPI
	}
	table[known.MeetDeclared] = (*run).leaveDeclared
	return table
}

// simple is an operation without a piece.
func (t *thread) simple(kind section.OpKind, object uint64) section.Op {
	return section.Op{Kind: kind, Thread: t.id, Other: section.NoThread, At: unit.Cycles(t.now()), Object: object}
}
