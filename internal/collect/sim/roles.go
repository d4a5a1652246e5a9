// What the start and the end of a call mean, by the role of the function.

package sim

import "lime/internal/collect/known"

// entering is what the start of a function of the table means.
type entering func(*thread, *fn)

func (r *run) enteringTable() [known.Roles]entering {
	table := [known.Roles]entering{
		known.Barrier:       r.barriers.enterBarrier,
		known.TeamBarrier:   r.barriers.enterTeam,
		known.TeamReduce:    r.regions.enterReduce,
		known.Join:          r.lives.enterJoin,
		known.Create:        r.lives.enterCreate,
		known.Fork:          r.regions.enterFork,
		known.Lock:          r.locks.enterLock,
		known.Unlock:        r.locks.enterUnlock,
		known.TryLock:       r.openCalls.enterPlain,
		known.ReadLock:      r.locks.enterLock,
		known.Turn:          r.openCalls.openSlow,
		known.After:         r.openCalls.openSlow,
		known.CondWait:      r.locks.enterCondWait,
		known.CondWake:      r.locks.enterCondWake,
		known.CondWakeAll:   r.locks.enterCondWake,
		known.SemWait:       r.openCalls.enterPlain,
		known.SectionEnd:    r.mpiCalls.enterSectionEnd,
		known.Gate:          r.barriers.enterCandidate,
		known.Task:          r.tasks.enterTask,
		known.Deal:          r.tasks.enterDeal,
		known.TaskWait:      r.tasks.enterTaskWait,
		known.TaskBody:      r.tasks.enterTaskBody,
		known.TaskObject:    r.tasks.enterTaskObject,
		known.TaskLoop:      r.tasks.enterTaskLoop,
		known.TaskCopy:      r.tasks.enterTaskCopy,
		known.RegionBody:    r.regions.enterBody,
		known.PoolTask:      r.tasks.enterPoolTask,
		known.PoolRun:       r.tasks.enterPoolRun,
		known.Through:       r.waits.enterThrough,
		known.GoMade:        r.goroutines.enterGoMade,
		known.GoIn:          r.goroutines.enterGoIn,
		known.GoOut:         r.goroutines.enterGoOut,
		known.GoEnd:         r.goroutines.enterGoEnd,
		known.GoReady:       r.goroutines.enterGoReady,
		known.GoC:           r.goroutines.enterGoC,
		known.GoLock:        r.locks.enterGoLock,
		known.GoUnlock:      r.locks.enterGoUnlock,
		known.GoCondWait:    r.goroutines.enterGoCondWait,
		known.GoCondList:    r.goroutines.enterGoCondList,
		known.GoCondWakeAll: r.goroutines.enterGoCondWake,
		known.GoCount:       r.goroutines.enterGoCount,
		known.GoAwait:       r.goroutines.enterGoAwait,
		known.GoSleep:       r.goroutines.enterGoSleep,
	}
	for x := known.Meet; x <= known.Message; x++ {
		table[x] = r.mpiCalls.enterMPI
	}
	table[known.MeetDeclared] = r.mpiCalls.enterDeclared
	return table
}

// leaving is what the end of a call means.
type leaving func(*thread, *call)

func (r *run) leavingTable() [known.Roles]leaving {
	table := [known.Roles]leaving{
		known.Barrier:     r.barriers.leaveBarrier,
		known.TeamBarrier: r.barriers.leaveBarrier,
		known.TeamReduce:  r.barriers.leaveBarrier,
		known.Join:        r.lives.leaveJoin,
		known.Create:      r.lives.leaveCreate,
		known.Fork:        r.regions.leaveFork,
		known.Lock:        r.locks.leaveLock,
		known.TryLock:     r.locks.leaveTryLock,
		known.ReadLock:    r.locks.leaveReadLock,
		known.Turn:        r.locks.leaveTurn,
		known.After:       r.locks.leaveAfter,
		known.CondWait:    r.locks.leaveCondWait,
		known.CondWake:    r.locks.leaveCondWake,
		known.CondWakeAll: r.locks.leaveCondWake,
		known.Gate:        r.barriers.leaveCandidate,
		known.TaskWait:    r.tasks.leaveTaskWait,
		known.TaskObject:  r.tasks.leaveTaskObject,
		known.TaskBody:    r.tasks.leaveTaskBody,
		known.GoLock:      r.locks.leaveGoLock,
		known.GoCondWait:  r.goroutines.leaveGoCondWait,
		known.GoAwait:     r.goroutines.leaveGoAwait,
		known.RegionBody:  r.regions.leaveBody,
		known.PoolRun:     r.tasks.leavePoolRun,
	}
	for x := known.Meet; x <= known.Message; x++ {
		table[x] = r.mpiCalls.leaveMPI
	}
	table[known.MeetDeclared] = r.mpiCalls.leaveDeclared
	return table
}
