// Call paths, sampled.

package sim

import (
	"cmp"
	"slices"

	"lime/internal/collect"
	"lime/internal/engine"
	"lime/internal/profile"
)

// sampling notes call paths, now and then: at the block at which they are due, as at the ends of
// slices many threads stand where they are kept in order, whatever they worked at. At the ends they
// are noted nevertheless where a slice leaves one trace, and where threads run in parallel.
type sampling struct {
	focus    *focus
	counting *counting
	places   *places
	out      *output
	amid     bool // also within slices
	sampler  sampler
}

// Call paths are sampled by the simulated clock: a thread's open calls are noted whenever it has
// worked for another interval. The interval doubles when there are many samples, so their number
// grows with the logarithm of the run; the traces then keep every second one, so that they are as
// dense at the beginning as at the end.
const (
	firstInterval = 20_000
	fewSamples    = 4_000
	// bytes of the budget for one: its open calls are kept until the section has ended, and to look
	// at them costs as much as running 6,000 instructions
	pendingSample = 2048
)

// sampler decides when a thread's path is noted.
type sampler struct {
	first       uint64
	interval    uint64
	taken, many int // since the interval is what it is; after so many it doubles
}

func newSampler(budget int64, first uint64) sampler {
	if budget == 0 {
		budget = collect.DefaultTraceBudget
	}
	if first == 0 {
		first = firstInterval
	}
	return sampler{first: first, interval: first, many: max(fewSamples, int(budget/pendingSample))}
}

// pathSample is the work of a segment between two samples, at the path of the second; or a wait for
// others' work.
type pathSample struct {
	stack []frameRef // innermost first
	base  base
	pc    uint64
	units uint64
	at    uint64
	n     uint64 // first intervals that it was taken after

	waits  bool
	awaits awaited
}

// sample notes t's path if it has worked long enough since the last time; so much of that has not
// been charged yet.
func (sm *sampling) sample(t *thread, uncharged uint64) {
	if sm.counting.over() {
		return
	}
	busy := t.busy + uncharged
	if sm.focus.closed() {
		t.sampled = busy
		return
	}
	s := &sm.sampler
	since := busy - min(busy, t.sampled)
	a := t.acting()
	if since < s.interval || t.ctx == nil || a.covered() || t.blocked {
		return
	}
	t.sampled = busy
	a.samples = append(a.samples, pathSample{stack: sm.places.stack(t), base: a.base(), pc: t.ctx.RIP, units: since,
		at: sm.focus.at(a.id, t.now()+uncharged), n: s.interval / s.first})
	if s.taken++; s.taken >= s.many {
		s.taken, s.interval = 0, s.interval*2
		sm.out.pathTree.traces.Thin()
	}
}

// piece is how far t runs of what is left of its slice until its path is to be noted; one that could
// not be when it should have been is noted at the end of some slice.
func (sm *sampling) piece(t *thread, uncharged uint64, left int64) int64 {
	busy := t.busy + uncharged
	since := busy - min(busy, t.sampled)
	if !sm.amid || since >= sm.sampler.interval {
		return left
	}
	return int64(min(sm.sampler.interval-since, uint64(left)))
}

// pathTree builds the tree of call paths, in the profile, and adds the samples up.
type pathTree struct {
	tables *tables
	eng    *engine.Engine
	blocks *blockIndex
	sink   profile.Sink
	traces *collect.Traces
	ids    map[profile.PathNode]profile.PathID
	given  map[*lineage]profile.PathID
	sums   map[pathKey]float64
}

type pathKey struct {
	path    profile.PathID
	thread  profile.ThreadID
	section profile.SectionID
	metric  string
}

// addPaths attributes the samples of a segment, once: a segment may belong to nested sections.
func (pt *pathTree) addPaths(p *segment, thread profile.ThreadID, section profile.SectionID) {
	for i := range p.samples {
		s := &p.samples[i]
		id := pt.path(s.stack, s.base)
		if s.waits {
			pt.addWait(pathKey{id, thread, section, profile.MetricIdleWait}, s)
			continue
		}
		if b, ok := pt.blocks.startingAt(s.pc); ok {
			id = pt.step(id, pt.tables.node(b), s.pc)
		}
		pt.add(pathKey{id, thread, section, "time"}, float64(s.units))
		pt.traces.Add(thread, profile.TraceSample{At: s.at, Length: s.units, Path: id}, s.n)
	}
	p.samples = nil
}

// addWait attributes a wait for others' work to where it was waited, and below that to what for.
func (pt *pathTree) addWait(key pathKey, s *pathSample) {
	pt.add(key, float64(s.units))
	if key.path == profile.None {
		return
	}
	at := key.path
	for _, d := range s.awaits.deeds {
		if b, ok := pt.blocks.startingAt(d.pc); ok {
			key.path, key.metric = pt.step(at, pt.tables.node(b), d.pc), profile.MetricAwaited
			pt.add(key, d.share*float64(s.units))
			key.metric = profile.MetricAwaitedWork
			pt.add(key, d.share*float64(s.awaits.worked))
		}
	}
}

// addIdleness attributes the wait at the end of a part to the path on which it waited.
func (pt *pathTree) addIdleness(p *profile.Part, last *segment, section profile.SectionID) {
	pt.add(pathKey{pt.path(last.stack, last.base), p.Thread, section, "idleness"}, float64(p.Release-p.Arrive))
}

func (pt *pathTree) add(key pathKey, units float64) {
	if key.path != profile.None && units > 0 {
		pt.sums[key] += units
	}
}

// path is the node of the tree for a stack, as far as its base, and what that goes on from.
func (pt *pathTree) path(stack []frameRef, b base) profile.PathID {
	id := pt.lineage(b.from)
	for _, f := range slices.Backward(stack) {
		if f.cfa <= b.top {
			id = pt.call(id, f.ret)
		}
	}
	return id
}

// lineage is the node for calls that are not on the stack.
func (pt *pathTree) lineage(l *lineage) profile.PathID {
	if l == nil {
		return profile.None
	}
	id, ok := pt.given[l]
	if !ok {
		id = pt.call(pt.lineage(l.out), l.ret)
		pt.given[l] = id
	}
	return id
}

// call is the node for a call that returns to ret.
func (pt *pathTree) call(id profile.PathID, ret uint64) profile.PathID {
	if b, ok := pt.blocks.endingAt(ret); ok {
		return pt.step(id, pt.tables.node(b), pt.eng.Blocks()[b].LastPC)
	}
	return id
}

func (pt *pathTree) step(parent profile.PathID, node profile.NodeID, addr uint64) profile.PathID {
	row := profile.PathNode{Parent: parent, Node: node, Addr: addr}
	id, ok := pt.ids[row]
	if !ok {
		id = pt.sink.AddPath(row)
		pt.ids[row] = id
	}
	return id
}

// writePaths writes the sums, in order.
func (pt *pathTree) writePaths() {
	keys := make([]pathKey, 0, len(pt.sums))
	for k := range pt.sums {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b pathKey) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.thread, b.thread), cmp.Compare(a.section, b.section),
			cmp.Compare(a.metric, b.metric))
	})
	for _, k := range keys {
		pt.sink.AddPathSample(profile.PathSample{Path: k.path, Thread: k.thread, Section: k.section,
			Metric: k.metric, Value: pt.sums[k]})
	}
}
