// Regions of TBB, whose threads are given tasks.

package sim

import (
	"lime/internal/collect/known"
	"lime/internal/section"
	"lime/internal/unit"
)

// TBB has threads of its own, which are given tasks: objects of a C++ class whose virtual function
// execute does the work. A region lasts from the first task that a thread outside of any makes, or
// from the call with which it has one run, to the end of the call in which it waits for all of
// them. Whoever is given a task takes part; like OpenMP's tasks, these are work, and all that the
// runtime does between them is idleness. A wait within a task is a wait for tasks.

// poolRegion is such a region.
type poolRegion struct {
	id     uint64
	master *thread
	in     map[*thread]bool // who takes part
	at     uint64           // the clock at which it begins
	last   uint64           // threads in parallel: the clock at which the last task was done
}

// pools are the regions that are open, the latest last, and the threads that TBB made, or has ever
// given a task.
type pools struct {
	open    []*poolRegion
	workers []*thread
}

// makes reports whether TBB makes a thread for its tasks: where its own code runs in one that makes
// tasks or waits for them, or in one that it has made.
func (ps *pools) makes(by *thread) bool {
	f := by.inRuntime()
	return f != nil && (f.fn.Role == known.PoolTask || f.fn.Role == known.PoolRun) || by.pooled && by.idle
}

func (ps *pools) add(t *thread) {
	if !t.pooled {
		t.pooled = true
		ps.workers = append(ps.workers, t)
	}
}

// executeSlot is where execute stands in the table of virtual functions of a task: behind two
// destructors (Itanium C++ ABI, 2.5.2; oneTBB, detail/_task.h).
const executeSlot = 2 * 8

// noteTask notes the function of a task object, and where it is given away.
func (ts *tasks) noteTask(object uint64, from *lineage) {
	table, ok := ts.memory.word(object)
	if !ok {
		return
	}
	body, ok := ts.memory.word(table + executeSlot)
	ts.barriers.noCandidate(body)
	if !ok || body == 0 {
		return
	}
	ts.lineages.object(object, handed{body: body, from: from}, 0)
	if ts.openCalls.taskBodies[body] == nil && ts.openCalls.entries[body] == nil {
		ts.openCalls.taskBodies[body] = &fn{Name: "task body", Role: known.TaskBody, Object: none, Source: known.TBB}
		ts.probes.setProbe(body)
	}
}

// enterPoolTask: a task is made. Outside of any, that begins a region.
func (ts *tasks) enterPoolTask(t *thread, f *fn) {
	ts.noteTask(argument(t, f.Object), ts.lineages.of(t))
	c := ts.openCalls.open(t, f)
	if t.outside() {
		ts.openPool(t, c)
	}
	ts.dealer.notes(t, dealMakes)
}

// outside reports whether t stands outside of all regions and tasks.
func (t *thread) outside() bool {
	return !t.idle && len(t.regions) == 0 && t.in(known.TaskBody) == nil
}

// openPool begins a region at a call of t, which works on in it.
func (ts *tasks) openPool(t *thread, c *call) {
	ts.regions.forks++
	k := &poolRegion{id: ts.regions.forks, master: t, in: map[*thread]bool{t: true}, at: t.now()}
	ts.pools.open = append(ts.pools.open, k)
	op := ts.openCalls.arrival(t, c, section.OpFork)
	op.Site.Library, op.Object = ts.places.inLibrary(&op.Site), k.id
	ts.operations.feed(op)
	t.regions = append(t.regions, k.id)
	ts.operations.feed(section.Op{Kind: section.OpMember, Thread: t.id, At: unit.Cycles(t.now()), Object: k.id})
	ts.segments.begin(t, outWay, ts.places.stack(t))
}

// poolOf is the region whose master t is, nil if none.
func (ts *tasks) poolOf(t *thread) *poolRegion {
	for _, k := range ts.pools.open {
		if k.master == t {
			return k
		}
	}
	return nil
}

// enterPoolRun begins a wait for tasks.
func (ts *tasks) enterPoolRun(t *thread, f *fn) {
	if f.Object != none {
		ts.noteTask(argument(t, f.Object), ts.lineages.of(t))
	}
	if t.in(known.TaskBody) != nil {
		if f.Object != none {
			ts.dealer.notes(t, dealMakes)
		}
		ts.enterTaskWait(t, &fn{Name: f.Name, Role: known.TaskWait, Object: none, Source: known.TBB})
		return
	}
	k := ts.poolOf(t)
	if k == nil && !t.outside() {
		return
	}
	c := ts.openCalls.open(t, f)
	if k == nil {
		ts.openPool(t, c)
		k = ts.poolOf(t)
	}
	if f.Object != none {
		ts.dealer.notes(t, dealMakes)
	}
	op := ts.openCalls.arrival(t, c, section.OpMemberEnd)
	op.Object, c.object, c.reported = k.id, k.id, true
	ts.operations.feed(op)
	t.idle = true
}

// leavePoolRun ends the region. Threads of the pool that were given nothing in it were idle all the
// time, be there too few tasks or none for them ever.
func (ts *tasks) leavePoolRun(t *thread, c *call) {
	k := ts.poolOf(t)
	if !c.reported || k == nil {
		return
	}
	ts.beside.since(t, max(t.rests, c.at), k.last)
	for _, w := range ts.pools.workers {
		if w.idle && !w.gone && !w.ended && !k.in[w] {
			ts.joinPool(w, k, t.now())
		}
	}
	for i := range ts.pools.open {
		if ts.pools.open[i] == k {
			ts.pools.open = append(ts.pools.open[:i:i], ts.pools.open[i+1:]...)
			break
		}
	}
	t.regions, t.idle = t.regions[:len(t.regions)-1], false
	op := t.simple(section.OpRegionEnd, k.id)
	ts.operations.feed(op)
	ts.segments.begin(t, outCall, ts.places.outside(t, c))
}

// joinPool makes t one of those who take part in a region: it comes to its end at once, and does
// its tasks there.
func (ts *tasks) joinPool(t *thread, k *poolRegion, at uint64) {
	k.in[t] = true
	ts.operations.feed(section.Op{Kind: section.OpMember, Thread: t.id, At: unit.Cycles(at), Object: k.id})
	ts.segments.begin(t, outIdle, nil)
	op, p := ts.segments.cutOp(t, section.OpMemberEnd)
	p.start.pc, p.pc, p.stack = 0, 0, nil // it is in no code of its own
	op.At, op.Object = unit.Cycles(at), k.id
	ts.operations.feed(op)
}

// latestPool is t's own region, or the one that was begun last; nil if there is none.
func (ts *tasks) latestPool(t *thread) *poolRegion {
	k := ts.poolOf(t)
	if n := len(ts.pools.open); k == nil && n > 0 {
		k = ts.pools.open[n-1]
	}
	return k
}

// givenTask takes t, which was given a task of a pool, into its region; false if there is none.
func (ts *tasks) givenTask(t *thread) bool {
	k := ts.latestPool(t)
	if k == nil {
		return false
	}
	if !k.in[t] {
		if t.idle { // it has only waited since it did its last task, or was made
			ts.beside.since(t, max(t.rests, t.started), k.at)
		}
		ts.joinPool(t, k, t.now())
	}
	if k.master != t {
		ts.pools.add(t)
	}
	return true
}
