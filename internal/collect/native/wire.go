// What the recording of a process is made of, from the bottom to the top: each part knows some of
// those before it.

package native

import (
	"lime/internal/collect/mpi"
	"lime/internal/collect/native/hook"
	"lime/internal/section"
	"lime/internal/unit"
)

func newProcess(of *shared) *run {
	r := &run{shared: of, keepAt: firstKeep}
	r.wire()
	r.stream.hooks = func(number uint64) hook.Record { return r.program.ring.At(number) }
	return r
}

// wire makes the parts and tells each which others it needs.
func (r *run) wire() {
	images := newImages(0)
	code := newCode(images, r.o.Out)
	r.program = &program{table: watchedFunctions(), images: images, code: code, sampler: newSampler(images, code, r.o.Out)}
	r.out = newOutput(r.o.Out, code)
	r.out.newRow, r.out.lines, r.out.traces = r.newRow, r.lines, r.traces
	r.rec = section.New(r.out.instance)
	r.roster = &roster{byTID: map[int32]*thread{}}
	r.rosters = append(r.rosters, r.roster)
	r.clocks = &clocks{}
	r.places = &places{
		program: r.program, roster: r.roster, shared: r.shared, sites: map[siteKey]site{},
		left: map[unit.Addr]int{},
	}
	r.operations = &operations{places: r.places, rec: r.rec, shared: r.shared}
	r.absences = &absences{
		clocks: r.clocks, out: r.out, program: r.program,
		scheduler: scheduler{threads: map[int32]*turns{}},
	}
	r.locks = &locks{
		absences: r.absences, operations: r.operations, out: r.out, places: r.places,
		program: r.program, shared: r.shared, unlocks: releases{}, table: lockTable{},
	}
	r.conditions = &conditions{
		clocks: r.clocks, locks: r.locks, operations: r.operations, places: r.places,
		program: r.program, rec: r.rec, waiters: map[uint64][]*thread{},
		meetings: map[uint64]*meeting{},
	}
	r.episodes = &episodes{
		out: r.out, roster: r.roster, shared: r.shared, begun: map[uint64]*episode{},
	}
	r.tasks = &tasks{operations: r.operations, roster: r.roster, shared: r.shared}
	r.barriers = &barriers{
		episodes: r.episodes, operations: r.operations, program: r.program, tasks: r.tasks,
	}
	r.regions = &regions{
		episodes: r.episodes, operations: r.operations, tasks: r.tasks, open: map[uint64]openRegion{},
	}
	r.mpiCalls = &mpiCalls{
		operations: r.operations, program: r.program, comms: mpi.New(mpi.ByVariable),
	}
	r.candidates = &candidates{operations: r.operations, program: r.program, roster: r.roster}
	r.goroutines = &goroutines{
		absences: r.absences, locks: r.locks, operations: r.operations, out: r.out, places: r.places,
		program: r.program, rec: r.rec, roster: r.roster, shared: r.shared,
	}
	r.lives = &lives{
		clocks: r.clocks, episodes: r.episodes, goroutines: r.goroutines, mpiCalls: r.mpiCalls,
		operations: r.operations, out: r.out, program: r.program, roster: r.roster, shared: r.shared,
		tasks: r.tasks, handles: map[uint64]*thread{},
	}
	r.sampling = &sampling{
		absences: r.absences, candidates: r.candidates, clocks: r.clocks, goroutines: r.goroutines,
		lives: r.lives, out: r.out, program: r.program, roster: r.roster, shared: r.shared,
		tasks: r.tasks,
	}
	r.stretch = &stretch{
		absences: r.absences, clocks: r.clocks, locks: r.locks, out: r.out, roster: r.roster, sampling: r.sampling,
		shared: r.shared,
	}
	r.dispatcher = &dispatcher{
		absences: r.absences, barriers: r.barriers, candidates: r.candidates, clocks: r.clocks, conditions: r.conditions,
		goroutines: r.goroutines, lives: r.lives, locks: r.locks, mpiCalls: r.mpiCalls, places: r.places,
		program: r.program, regions: r.regions, roster: r.roster, sampling: r.sampling, shared: r.shared,
		stretch: r.stretch, aliens: map[int32]bool{},
	}
	r.dispatcher.kernel, r.dispatcher.hooked = r.dispatcher.applying(), r.dispatcher.hooking()
}
