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
}

// pools are the regions that are open, the latest last, and the threads that were ever given a
// task.
type pools struct {
	open    []*poolRegion
	workers []*thread
}

// executeSlot is where execute stands in the table of virtual functions of a task: behind two
// destructors (Itanium C++ ABI, 2.5.2; oneTBB, detail/_task.h).
const executeSlot = 2 * 8

// noteTask notes the function of a task object.
func (r *run) noteTask(object uint64) {
	table, ok := r.word(object)
	if !ok {
		return
	}
	body, ok := r.word(table + executeSlot)
	r.noGate(body)
	if ok && body != 0 && r.tasks[body] == nil && r.entries[body] == nil {
		r.tasks[body] = &fn{Name: "task body", Role: known.TaskBody, Object: none, Source: known.TBB}
		r.setProbe(body)
	}
}

// enterPoolTask: a task is made. Outside of any, that begins a region.
func (r *run) enterPoolTask(t *thread, f *fn) {
	r.noteTask(argument(t, f.Object))
	c := r.open(t, f)
	if t.outside() {
		r.openPool(t, c)
	}
}

// outside reports whether t stands outside of all regions and tasks.
func (t *thread) outside() bool {
	return !t.idle && len(t.regions) == 0 && t.in(known.TaskBody) == nil
}

// openPool begins a region at a call of t, which works on in it.
func (r *run) openPool(t *thread, c *call) {
	r.forks++
	k := &poolRegion{id: r.forks, master: t, in: map[*thread]bool{t: true}}
	r.pools.open = append(r.pools.open, k)
	op := r.arrival(t, c, section.OpFork)
	op.Site.Library, op.Object = r.inLibrary(&op.Site), k.id
	r.feed(op)
	t.regions = append(t.regions, k.id)
	r.feed(section.Op{Kind: section.OpMember, Thread: t.id, At: unit.Cycles(t.now()), Object: k.id})
	r.begin(t, outWay, r.stack(t))
}

// poolOf is the region whose master t is, nil if none.
func (r *run) poolOf(t *thread) *poolRegion {
	for _, k := range r.pools.open {
		if k.master == t {
			return k
		}
	}
	return nil
}

// enterPoolRun begins a wait for tasks.
func (r *run) enterPoolRun(t *thread, f *fn) {
	if f.Object != none {
		r.noteTask(argument(t, f.Object))
	}
	if t.in(known.TaskBody) != nil {
		r.enterTaskWait(t, &fn{Name: f.Name, Role: known.TaskWait, Object: none, Source: known.TBB})
		return
	}
	k := r.poolOf(t)
	if k == nil && !t.outside() {
		return
	}
	c := r.open(t, f)
	if k == nil {
		r.openPool(t, c)
		k = r.poolOf(t)
	}
	op := r.arrival(t, c, section.OpMemberEnd)
	op.Object, c.object, c.told = k.id, k.id, true
	r.feed(op)
	t.idle = true
}

// leavePoolRun ends the region. Threads of the pool that were given nothing in it were idle all the
// time.
func (r *run) leavePoolRun(t *thread, c *call) {
	k := r.poolOf(t)
	if !c.told || k == nil {
		return
	}
	for _, w := range r.pools.workers {
		if w.idle && !w.gone && !w.ended && !k.in[w] {
			r.joinPool(w, k, t.now())
		}
	}
	for i := range r.pools.open {
		if r.pools.open[i] == k {
			r.pools.open = append(r.pools.open[:i:i], r.pools.open[i+1:]...)
			break
		}
	}
	t.regions, t.idle = t.regions[:len(t.regions)-1], false
	op := t.simple(section.OpRegionEnd, k.id)
	r.feed(op)
	r.begin(t, outCall, r.outside(t, c))
}

// joinPool makes t one of those who take part in a region: it comes to its end at once, and does
// its tasks there.
func (r *run) joinPool(t *thread, k *poolRegion, at uint64) {
	k.in[t] = true
	r.feed(section.Op{Kind: section.OpMember, Thread: t.id, At: unit.Cycles(at), Object: k.id})
	r.begin(t, outIdle, nil)
	op, p := r.cutOp(t, section.OpMemberEnd)
	p.start.pc, p.pc, p.stack = 0, 0, nil // it is in no code of its own
	op.At, op.Object = unit.Cycles(at), k.id
	r.feed(op)
}

// givenTask takes t, which was given a task of a pool, into its region; false if there is none.
func (r *run) givenTask(t *thread) bool {
	k := r.poolOf(t)
	if n := len(r.pools.open); k == nil && n > 0 {
		k = r.pools.open[n-1]
	}
	if k == nil {
		return false
	}
	if !k.in[t] {
		r.joinPool(t, k, t.now())
	}
	if k.master != t && !t.pooled {
		t.pooled = true
		r.pools.workers = append(r.pools.workers, t)
	}
	return true
}
