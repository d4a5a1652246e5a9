// Parallel regions.

package sim

import (
	"lime/internal/collect/known"
	"lime/internal/section"
	"lime/internal/unit"
)

// regions is the parallel regions that are open.
type regions struct {
	barriers   *barriers
	openCalls  *openCalls
	operations *operations
	places     *places
	probes     *probes
	roster     *roster
	segments   *segments
	beside     *beside
	lineages   *lineages
	forks      uint64 // so far, TBB's included
}

// fork is a parallel region that is open.
type fork struct {
	id     uint64
	master *thread
	body   uint64
	data   uint64
	byData bool
	fn     *fn // the row for its body
	from   *lineage
	at     uint64 // when it was opened
	last   uint64 // when the last member so far reached its end
	team   team
}

func (rs *regions) enterFork(t *thread, f *fn) {
	c := rs.openCalls.open(t, f)
	rs.forks++
	k := &fork{id: rs.forks, master: t, body: c.object, byData: f.Second != none,
		fn: &fn{Name: "region body", Role: known.RegionBody, Source: f.Source}, from: rs.lineages.of(t)}
	if k.byData {
		k.data = argument(t, f.Second)
	}
	c.object = k.id
	op := rs.openCalls.arrival(t, c, section.OpFork)
	rs.operations.feed(op)
	c.reported = true
	k.at = t.now()
	t.regions = append(t.regions, k.id)
	rs.barriers.noCandidate(k.body)
	rs.openCalls.bodies[k.body] = append(rs.openCalls.bodies[k.body], k)
	rs.probes.setProbe(k.body)
}

// body finds the region whose body starts at pc for t.
func (rs *regions) body(t *thread, pc uint64) *fn {
	if k := rs.forkOf(t, pc); k != nil {
		return k.fn
	}
	if t.covered() {
		return rs.openCalls.taskBodies[pc]
	}
	return nil
}

// forkOf picks the region: the thread's own, or the latest one that was given the same data.
func (rs *regions) forkOf(t *thread, pc uint64) *fork {
	open := rs.openCalls.bodies[pc]
	for i := len(open) - 1; i >= 0; i-- {
		k := open[i]
		if k.byData && k.data != argument(t, 0) {
			continue
		}
		if k.master == t || t.idle {
			return k
		}
	}
	return nil
}

func (rs *regions) enterBody(t *thread, f *fn) {
	k := rs.forkOf(t, t.ctx.RIP)
	c := rs.openCalls.open(t, f)
	c.object, c.reported, c.from = k.id, true, k.from
	if k.master != t {
		t.regions = append(t.regions, k.id)
		rs.beside.since(t, max(t.rests, t.started), k.at)
	}
	t.idle = false
	k.team.members++
	rs.operations.feed(section.Op{Kind: section.OpMember, Thread: t.id, At: unit.Cycles(t.now()), Object: k.id})
	rs.segments.begin(t, outWay, rs.places.stack(t))
}

func (rs *regions) leaveBody(t *thread, c *call) {
	op, p := rs.segments.cutOp(t, section.OpMemberEnd)
	op.Object, p.base = c.object, c.base()
	rs.operations.feed(op)
	t.rests, t.host.region = t.now(), c.object
	if k := rs.forkWith(c.object); k != nil {
		k.last = max(k.last, t.rests)
	}
	if f := t.in(known.Fork); f != nil && f.object == c.object {
		f.done = true
		return
	}
	if n := len(t.regions); n > 0 {
		t.regions = t.regions[:n-1]
	}
	t.idle = true
}

func (rs *regions) leaveFork(t *thread, c *call) {
	if k := rs.forkWith(c.object); k != nil && t.rests >= k.at {
		rs.beside.since(t, t.rests, k.last)
	}
	rs.closeFork(c.object)
	if n := len(t.regions); n > 0 && t.regions[n-1] == c.object {
		t.regions = t.regions[:n-1]
	}
	rs.operations.feed(t.simple(section.OpRegionEnd, c.object))
	rs.segments.begin(t, outCall, rs.places.outside(t, c))
}

// forkWith is the open region with an id.
func (rs *regions) forkWith(id uint64) *fork {
	for _, open := range rs.openCalls.bodies {
		for _, k := range open {
			if k.id == id {
				return k
			}
		}
	}
	return nil
}

// closeFork forgets a region.
func (rs *regions) closeFork(id uint64) {
	for body, open := range rs.openCalls.bodies {
		for i, k := range open {
			if k.id == id {
				k.master.lastTeam = k.team.members
				rs.openCalls.bodies[body] = append(open[:i:i], open[i+1:]...)
				return
			}
		}
	}
}
