// Call paths, sampled.

package sim

import (
	"cmp"
	"slices"

	"lime/internal/collect"
	"lime/internal/profile"
)

// sampling notes call paths, now and then.
type sampling struct {
	counting *counting
	places   *places
	out      *output
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
	interval    uint64
	taken, many int // since the interval is what it is; after so many it doubles
}

func newSampler(budget int64) sampler {
	if budget == 0 {
		budget = collect.DefaultTraceBudget
	}
	return sampler{interval: firstInterval, many: max(fewSamples, int(budget/pendingSample))}
}

// pathSample is the work of a segment between two samples, at the path of the second.
type pathSample struct {
	stack []frameRef // innermost first
	pc    uint64
	units uint64
	at    uint64
	n     uint64 // first intervals that it was taken after
}

// sample notes t's path if it has worked long enough since the last time.
func (sm *sampling) sample(t *thread) {
	if sm.counting.over() {
		return
	}
	s := &sm.sampler
	since := t.busy - min(t.busy, t.sampled)
	a := t.acting()
	if since < s.interval || t.ctx == nil || a.covered() || t.blocked {
		return
	}
	t.sampled = t.busy
	a.samples = append(a.samples, pathSample{sm.places.stack(t), t.ctx.RIP, since, t.now(), s.interval / firstInterval})
	if s.taken++; s.taken >= s.many {
		s.taken, s.interval = 0, s.interval*2
		sm.out.traces.Thin()
	}
}

// paths builds the tree of call paths and adds the samples up.
type paths struct {
	ids  map[profile.PathNode]profile.PathID
	sums map[pathKey]float64
}

type pathKey struct {
	path    profile.PathID
	thread  profile.ThreadID
	section profile.SectionID
	metric  string
}

func newPaths() paths {
	return paths{ids: map[profile.PathNode]profile.PathID{}, sums: map[pathKey]float64{}}
}

// addPaths attributes the samples of a segment, once: a segment may belong to nested sections.
func (o *output) addPaths(p *segment, thread profile.ThreadID, section profile.SectionID) {
	for i := range p.samples {
		s := &p.samples[i]
		id := o.path(s.stack)
		if b, ok := o.r.blocks.startingAt(s.pc); ok {
			id = o.step(id, o.node(b), s.pc)
		}
		o.paths.add(pathKey{id, thread, section, "time"}, s.units)
		o.traces.Add(thread, profile.TraceSample{At: s.at, Length: s.units, Path: id}, s.n)
	}
	p.samples = nil
}

// addIdleness attributes the wait at the end of a part to the path on which it waited.
func (o *output) addIdleness(p *profile.Part, last *segment, section profile.SectionID) {
	o.paths.add(pathKey{o.path(last.stack), p.Thread, section, "idleness"}, p.Release-p.Arrive)
}

func (p *paths) add(key pathKey, units uint64) {
	if key.path != profile.None && units > 0 {
		p.sums[key] += float64(units)
	}
}

// path is the node of the tree for a stack.
func (o *output) path(stack []frameRef) profile.PathID {
	id := profile.PathID(profile.None)
	for i := len(stack) - 1; i >= 0; i-- {
		if b, ok := o.r.blocks.endingAt(stack[i].ret); ok {
			id = o.step(id, o.node(b), o.r.eng.Blocks()[b].LastPC)
		}
	}
	return id
}

func (o *output) step(parent profile.PathID, node profile.NodeID, addr uint64) profile.PathID {
	row := profile.PathNode{Parent: parent, Node: node, Addr: addr}
	id, ok := o.paths.ids[row]
	if !ok {
		id = o.sink.AddPath(row)
		o.paths.ids[row] = id
	}
	return id
}

// writePaths writes the sums, in order.
func (o *output) writePaths() {
	keys := make([]pathKey, 0, len(o.paths.sums))
	for k := range o.paths.sums {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b pathKey) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.thread, b.thread), cmp.Compare(a.section, b.section),
			cmp.Compare(a.metric, b.metric))
	})
	for _, k := range keys {
		o.sink.AddPathSample(profile.PathSample{Path: k.path, Thread: k.thread, Section: k.section, Metric: k.metric, Value: o.paths.sums[k]})
	}
}
