// What the recording of a process is made of, from the bottom to the top: each part knows some of
// those before it.

package native

import (
	"lime/internal/collect/mpi"
	"lime/internal/collect/native/hook"
	"lime/internal/section"
	"lime/internal/unit"
)

func newProcess(of *shared) *process {
	p := &process{shared: of}
	p.wire()
	p.stream.hooks = func(number uint64) hook.Record { return p.program.ring.At(number) }
	return p
}

// wire makes the parts and tells each which others it needs.
func (p *process) wire() {
	p.wireProgram()
	p.wireOperations()
	p.wireCalls()
	p.wireThreads()
}

// wireProgram makes what looks at the program, and changes nothing.
func (p *process) wireProgram() {
	sink := p.shared.o.Out
	images := newImages(0)
	code := newCode(images, sink)
	p.program = &program{table: watchedFunctions(), images: images, code: code, sampler: newSampler(images, code, sink)}
	p.roster = &roster{byTID: map[int32]*thread{}}
	p.shared.rosters = append(p.shared.rosters, p.roster)
	p.clocks = &clocks{}
	p.places = &places{
		program: p.program, roster: p.roster, shared: p.shared, sites: map[siteKey]site{}, left: map[unit.Addr]int{},
	}
}

// wireOperations makes what keeps account of the threads' work, and tells the recogniser.
func (p *process) wireOperations() {
	p.out = newOutput(p.shared.o.Out, p.program.code)
	p.out.newRow, p.out.lines, p.out.traces = p.shared.newRow, p.shared.lines, p.shared.traces
	p.rec = section.New(p.out.instance)
	p.rec.Ran = func(span any) unit.Cycles { return unit.Cycles(span.(*piece).working()) }
	p.operations = &operations{places: p.places, rec: p.rec, shared: p.shared}
	p.absences = &absences{
		clocks: p.clocks, out: p.out, program: p.program, scheduler: scheduler{threads: map[int32]*turns{}},
	}
	p.episodes = &episodes{out: p.out, roster: p.roster, shared: p.shared, begun: map[uint64]*episode{}}
	p.tasks = &tasks{
		clocks: p.clocks, operations: p.operations, out: p.out, places: p.places, program: p.program, roster: p.roster, shared: p.shared,
	}
}

// wireCalls makes what follows the calls of functions of the table.
func (p *process) wireCalls() {
	p.locks = &locks{
		absences: p.absences, operations: p.operations, out: p.out, places: p.places, program: p.program,
		shared: p.shared, unlocks: releases{}, table: lockTable{},
	}
	p.conditions = &conditions{
		clocks: p.clocks, locks: p.locks, out: p.out, operations: p.operations, places: p.places, program: p.program, rec: p.rec,
		waiters: map[uint64][]*thread{}, meetings: map[uint64]*meeting{}, heard: hearings{}, byTurns: map[waitPlace]bool{},
	}
	p.permits = &permits{places: p.places, semaphores: map[uint64]*semaphore{}}
	p.barriers = &barriers{
		episodes: p.episodes, operations: p.operations, program: p.program, tasks: p.tasks, came: map[uint64]int64{},
	}
	p.regions = &regions{
		episodes: p.episodes, operations: p.operations, tasks: p.tasks, open: map[uint64]openRegion{},
	}
	p.mpiCalls = &mpiCalls{operations: p.operations, program: p.program, comms: mpi.New(mpi.ByVariable)}
	p.candidates = &candidates{episodes: p.episodes, operations: p.operations, program: p.program, roster: p.roster}
}

// wireThreads makes what begins and ends threads, and what takes what happens to them.
func (p *process) wireThreads() {
	p.goroutines = &goroutines{
		absences: p.absences, locks: p.locks, operations: p.operations, out: p.out, places: p.places,
		program: p.program, rec: p.rec, roster: p.roster, shared: p.shared,
	}
	p.lives = &lives{
		clocks: p.clocks, episodes: p.episodes, goroutines: p.goroutines, mpiCalls: p.mpiCalls,
		operations: p.operations, out: p.out, program: p.program, roster: p.roster, shared: p.shared, tasks: p.tasks,
		handles: map[uint64]*thread{},
	}
	p.sampling = &sampling{
		absences: p.absences, candidates: p.candidates, clocks: p.clocks, goroutines: p.goroutines, lives: p.lives,
		out: p.out, program: p.program, roster: p.roster, shared: p.shared, tasks: p.tasks,
	}
	p.stretch = &stretch{
		absences: p.absences, clocks: p.clocks, locks: p.locks, out: p.out, roster: p.roster, sampling: p.sampling,
		shared: p.shared,
	}
	p.dispatcher = &dispatcher{
		absences: p.absences, barriers: p.barriers, candidates: p.candidates, clocks: p.clocks,
		conditions: p.conditions, goroutines: p.goroutines, lives: p.lives, locks: p.locks, mpiCalls: p.mpiCalls,
		permits: p.permits, places: p.places, program: p.program, regions: p.regions, roster: p.roster, sampling: p.sampling,
		shared: p.shared, stretch: p.stretch, tasks: p.tasks, aliens: map[int32]bool{},
	}
	p.dispatcher.kernel, p.dispatcher.hooked = p.dispatcher.applying(), p.dispatcher.hooking()
}
