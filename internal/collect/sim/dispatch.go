// Threads that stand at probes: what it means, to whom.

package sim

import "lime/internal/collect/known"

// dispatcher tells those whom it concerns that a thread stands at a probe.
type dispatcher struct {
	goroutines *goroutines
	openCalls  *openCalls
	parking    *parking
	passPoints *passPoints
	passes     *passes
	precedence *precedence
	queues     *queues
	probes     *probes
	regions    *regions
	segments   *segments
	waking     *waking
	heap       *heapBook
	cores      *cores
	focus      *focus
	end        *end
	enterings  [known.Roles]entering
	leavings   [known.Roles]leaving
}

// probe handles a thread that stands at a probe; false means that it must wait
// there until the cores behind it have caught up.
func (d *dispatcher) probe(t *thread) bool {
	carrier, pc := t, t.ctx.RIP
	if d.heap != nil && d.heap.probes[pc] {
		d.heap.probe(t)
		if !d.probes.placed[pc] {
			return true
		}
	}
	if t.hosts != nil && !d.goroutines.goProbe(t) {
		t.probed = pc
		return false
	}
	t = t.acting()
	if !d.focus.passes(carrier, t, pc) {
		return false
	}
	if !d.inOrder(carrier, t, pc) {
		return false
	}
	d.queues.passes(t, pc)
	if t.touches && d.openCalls.othersProbe(t) {
		return true
	}
	d.waking.wakeSpinners(t)
	if sp, ok := d.openCalls.height(t); ok && !d.returned(t, sp) {
		return false
	}
	d.segments.restartAt(t, pc, t.ctx.GPR[rsp])
	if d.passes.passing(t, pc) {
		carrier.probed = pc
		return false
	}
	f := d.openCalls.entries[pc]
	if f == nil {
		f = d.regions.body(t, pc)
	}
	if f == nil || !inside(f.Role) && t.covered() || goesRound(t, f, t.ctx.GPR[rsp]) {
		return true
	}
	if !d.cores.first(carrier.core) {
		carrier.probed = pc
		return false
	}
	d.enterings[f.Role](t, f)
	return !d.end.over
}

// inside reports whether the function is one that is of interest also inside of other functions of
// the table.
func inside(x known.Role) bool {
	return x == known.RegionBody || x == known.TaskBody || x == known.PoolTask || x == known.PoolRun ||
		x == known.GoCondList || x == known.GoReady || switches(x)
}

// returned handles the returns of the calls that are open below a height of the stack.
func (d *dispatcher) returned(t *thread, sp uint64) bool {
	for n := len(t.frames); n > 0 && (t.frames[n-1].rsp < sp || t.frames[n-1].ends(t.ctx.RIP, sp)); n-- {
		t.returned = t.frames[n-1]
		t.frames = t.frames[:n-1]
		d.leave(t, &t.returned)
		if d.end.over {
			return false
		}
	}
	return true
}

// leave handles the return from a function of the table, or its end by a
// longjmp or an exception.
func (d *dispatcher) leave(t *thread, c *call) {
	if do := d.leavings[c.fn.Role]; do != nil {
		do(t, c)
	}
}

// inOrder has a thread that stands at such an instruction wait until its turn has come; false means
// that it does not go on from here.
func (d *dispatcher) inOrder(carrier, t *thread, pc uint64) bool {
	g := d.precedence.order.places[pc]
	if g == nil || !d.precedence.orders(t) {
		return true
	}
	if !g.worth() {
		if d.openCalls.othersProbe(t) { // nothing else is at that place
			d.probes.clearProbe(pc)
		}
		return true
	}
	if !d.cores.first(carrier.core) {
		carrier.probed = pc
		return false
	}
	g.passes++
	if d.passPoints.points[pc] == nil && d.precedence.goesRound(t, pc) { // what a passage means is told first
		d.parking.tryPark(t)
		if t.blocked || t.core == nil || d.end.over {
			return false
		}
		if q := &t.visits; t.ctx.RIP != pc {
			q.fails = min(q.fails+1, maxSkip)
			q.skip = 1 << q.fails
			return false
		}
	}
	t.touches = true
	return true
}
