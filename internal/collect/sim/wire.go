// What a run is made of, from the bottom to the top: each part knows some of those before it.

package sim

import (
	"lime/internal/collect/mpi"
	"lime/internal/collect/spin"
	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/unit"
	"lime/internal/unwind"
)

// wire makes the parts of a run and tells each which others it needs.
func (r *run) wire(data *dataBook) {
	r.wireProgram(data)
	r.wireSegments()
	r.wireCalls()
	r.wireSpinning()
	r.wireLives()
	r.wireExits()
}

// wireProgram makes what looks at the program, and changes nothing.
func (r *run) wireProgram(data *dataBook) {
	r.counting = &counting{beside: r.beside}
	r.clocks = &clocks{perNano: r.meter.Hz() / 1e9, cores: r.cores}
	r.probes = &probes{eng: r.eng, counting: r.counting, placed: map[uint64]bool{}}
	r.roster = &roster{focus: r.focus, byGuest: map[*guest.Thread]*thread{}, byCtx: map[*cpu.Context]*thread{}}
	r.places = &places{memory: r.memory, eng: r.eng, images: r.images, blocks: r.blocks,
		walker: unwind.New(r.images.Unwind)}
	r.tailCalls = &tailCalls{r.places}
	if r.heap != nil {
		r.heap.eng, r.heap.places, r.heap.images, r.heap.blocks = r.eng, r.places, r.images, r.blocks
	}
	r.dataFinder = &dataFinder{memory: r.memory, images: r.images, roster: r.roster, heap: r.heap, data: data}
}

// wireSegments makes what keeps account of the threads' work, and tells the recogniser.
func (r *run) wireSegments() {
	r.operations = &operations{focus: r.focus, counting: r.counting, rec: r.rec, notes: r.notes}
	r.rounds = &rounds{
		clocks: r.clocks, places: r.places, eng: r.eng, images: r.images, blocks: r.blocks, meter: r.meter, waste: r.waste,
		beside: r.beside,
	}
	if r.beside != nil {
		r.rounds.coded = &coded{memory: r.memory, images: r.images, blocks: r.blocks, asked: map[uint64][]*codedLoop{}}
	}
	r.segments = &segments{
		clocks: r.clocks, operations: r.operations, places: r.places, probes: r.probes, roster: r.roster, rounds: r.rounds,
		eng: r.eng, images: r.images, meter: r.meter, rec: r.rec, beside: r.beside, focus: r.focus,
	}
	r.awaiting = newAwaiting(r)
	r.sampling = &sampling{
		focus: r.focus, counting: r.counting, places: r.places, out: r.out,
		amid:    r.beside == nil && r.meter.Mode() == engine.Count,
		sampler: newSampler(r.cfg.Traces, r.cfg.Interval),
	}
	r.spinners = &spinners{}
	r.passPoints = &passPoints{probes: r.probes, points: map[uint64]*point{}}
	r.entrances = &entrances{probes: r.probes, at: map[uint64]*entrance{}}
}

// wireCalls makes what follows the calls of functions of the table.
func (r *run) wireCalls() {
	r.openCalls = &openCalls{
		memory: r.memory, probes: r.probes, passPoints: r.passPoints, entrances: r.entrances, segments: r.segments,
		tailCalls: r.tailCalls, heap: r.heap, focus: r.focus,
		names: byName(r.cfg.SectionEnds, declared(r.cfg.Rank)), mangled: mangled(), entries: map[uint64]*fn{},
		taskBodies: map[uint64]*fn{}, bodies: map[uint64][]*fork{},
	}
	book := &lockBook{
		dataFinder: r.dataFinder, openCalls: r.openCalls, places: r.places, images: r.images, blocks: r.blocks,
		beside: r.beside, focus: r.focus,
		locks: map[uint64]*lockState{}, waits: map[uint64]*lockWaits{}, changes: newLockChanges(r.cfg.Locks, r.openCalls),
	}
	r.turns = &inTurn{places: r.places, roster: r.roster, taken: map[unit.Addr]bool{}}
	r.locks = &locks{
		clocks: r.clocks, openCalls: r.openCalls, operations: r.operations, places: r.places,
		segments: r.segments, awaiting: r.awaiting, lockBook: book, beside: r.beside, turns: r.turns,
		freed: map[uint64]uint64{}, holders: map[uint64]*thread{}, waiters: map[uint64]int{},
	}
	r.barriers = &barriers{
		openCalls: r.openCalls, operations: r.operations, places: r.places, probes: r.probes, roster: r.roster,
		passPoints: r.passPoints, segments: r.segments, images: r.images, beside: r.beside,
		candidates: map[uint64]*candidate{},
		inRound:    map[uint64]bool{},
	}
	r.lineages = newLineages(r)
	r.regions = &regions{
		barriers: r.barriers, openCalls: r.openCalls, operations: r.operations, places: r.places, probes: r.probes,
		roster: r.roster, segments: r.segments, beside: r.beside, lineages: r.lineages,
	}
	r.tasks = &tasks{
		barriers: r.barriers, memory: r.memory, openCalls: r.openCalls, operations: r.operations, places: r.places,
		probes: r.probes, regions: r.regions, segments: r.segments, beside: r.beside, lineages: r.lineages, dealer: newDealer(r.beside),
	}
	r.mpiCalls = &mpiCalls{
		openCalls: r.openCalls, operations: r.operations, places: r.places, segments: r.segments, images: r.images,
		comms: mpi.New(mpi.ByValue),
	}
}

// wireSpinning makes what proves waits, and orders what threads wait for.
func (r *run) wireSpinning() {
	r.queues = &queues{memory: r.memory, images: r.images, places: r.places, eng: r.eng, entrances: r.entrances,
		searched: map[uint64]int{}, locks: map[uint64]bool{}}
	r.precedence = &precedence{memory: r.memory, probes: r.probes, spinners: r.spinners, eng: r.eng, beside: r.beside}
	r.loops = &loops{memory: r.memory, rounds: r.rounds, eng: r.eng, images: r.images, blocks: r.blocks}
	r.loops.follow = spin.New(r.loops)
	r.passes = &passes{
		loops: r.loops, memory: r.memory, operations: r.operations, passPoints: r.passPoints, spinners: r.spinners,
		segments: r.segments, cores: r.cores, eng: r.eng,
	}
	r.waits = &waits{
		barriers: r.barriers, counting: r.counting, operations: r.operations, places: r.places, precedence: r.precedence,
		roster: r.roster, segments: r.segments, awaiting: r.awaiting, images: r.images, cores: r.cores, beside: r.beside,
		turns: r.turns, openCalls: r.openCalls,
		handing: &handing{
			barriers: r.barriers, beside: r.beside, memory: r.memory, eng: r.eng, contended: map[unit.Addr]bool{},
		},
	}
	r.parking = &parking{
		handed:   map[uint64]bool{},
		barriers: r.barriers, counting: r.counting, loops: r.loops, operations: r.operations, passPoints: r.passPoints,
		passes: r.passes, places: r.places, roster: r.roster, rounds: r.rounds, spinners: r.spinners, segments: r.segments,
		eng: r.eng, images: r.images, cores: r.cores, beside: r.beside, queues: r.queues, end: r.end,
	}
	r.trials = &trials{
		clocks: r.clocks, loops: r.loops, memory: r.memory, openCalls: r.openCalls, parking: r.parking,
		passPoints: r.passPoints, places: r.places, rounds: r.rounds, segments: r.segments,
		eng: r.eng, images: r.images, blocks: r.blocks,
	}
	r.waking = &waking{
		barriers: r.barriers, handed: r.parking.handed, clocks: r.clocks, locks: r.locks, loops: r.loops,
		memory: r.memory, operations: r.operations, passPoints: r.passPoints, precedence: r.precedence,
		rounds: r.rounds, spinners: r.spinners, segments: r.segments, trials: r.trials,
		waits: r.waits, eng: r.eng, cores: r.cores, rec: r.rec, end: r.end,
		tickets: newTickets(r.memory, r.images), queues: r.queues,
	}
}

// wireLives makes what begins and ends threads.
func (r *run) wireLives() {
	r.lives = &lives{
		counting: r.counting, mpiCalls: r.mpiCalls, openCalls: r.openCalls, operations: r.operations, places: r.places,
		roster: r.roster, spinners: r.spinners, segments: r.segments, tasks: r.tasks, waking: r.waking,
		images: r.images, cores: r.cores, beside: r.beside, focus: r.focus, out: r.out, end: r.end,
	}
	r.goroutines = &goroutines{
		awaiting: r.awaiting,
		clocks:   r.clocks, lives: r.lives, memory: r.memory, openCalls: r.openCalls, operations: r.operations,
		places: r.places, seats: newGoSeats(r.beside, r.images, r.memory),
		probes: r.probes, segments: r.segments, images: r.images, cores: r.cores, rec: r.rec, lineages: r.lineages,
	}
}

// wireExits makes what runs threads and acts on what they do.
func (r *run) wireExits() {
	r.ending = &ending{memory: r.memory, places: r.places, roster: r.roster, cfg: &r.cfg, end: r.end}
	r.dispatcher = &dispatcher{
		goroutines: r.goroutines, openCalls: r.openCalls, parking: r.parking, passPoints: r.passPoints, passes: r.passes,
		precedence: r.precedence, queues: r.queues, probes: r.probes, regions: r.regions, segments: r.segments,
		waking: r.waking,
		focus:  r.focus, heap: r.heap, cores: r.cores, end: r.end, enterings: r.enteringTable(), leavings: r.leavingTable(),
	}
	r.exits = &exits{
		clocks: r.clocks, counting: r.counting, dispatcher: r.dispatcher, ending: r.ending, lives: r.lives, loops: r.loops,
		memory: r.memory, openCalls: r.openCalls, parking: r.parking, precedence: r.precedence, sampling: r.sampling, segments: r.segments,
		waits: r.waits, waking: r.waking, eng: r.eng, meter: r.meter, cores: r.cores, rec: r.rec, even: r.even,
		waste: r.waste, beside: r.beside, end: r.end, changes: r.locks.lockBook.changes,
	}
	r.out.barriers, r.out.dataFinder, r.out.goroutines = r.barriers, r.dataFinder, r.goroutines
	r.out.roster, r.out.segments, r.out.lockBook = r.roster, r.segments, r.locks.lockBook
	r.loops.run, r.trials.run = r.exits, r.exits // what spins is run to see whether it does
	r.loader = &loader{
		memory: r.memory, openCalls: r.openCalls, places: r.places, probes: r.probes, heap: r.heap,
		images: r.images, out: r.out, focus: r.focus,
	}
}
