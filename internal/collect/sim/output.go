// Instances become rows of the profile.

package sim

import (
	"cmp"
	"slices"

	"lime/internal/collect"
	"lime/internal/collect/image"
	"lime/internal/collect/mpi"
	"lime/internal/engine"
	"lime/internal/profile"
	"lime/internal/section"
)

// output turns instances into rows of the profile.
type output struct {
	tables     *tables
	pathTree   *pathTree
	barriers   *barriers
	dataFinder *dataFinder
	goroutines *goroutines
	roster     *roster
	segments   *segments
	lockBook   *lockBook
	eng        *engine.Engine
	meter      Meter
	blocks     *blockIndex
	waste      *wasteMeter
	notes      collect.Notes
	focus      *focus
	passages   *passageCount
	numbers    *numbering // nil: nobody asks
	sink       profile.Sink
	hwKinds    []int32 // by machine.Kind, when the first event came
	wasteKinds []int32 // by waste.Kind, when the first event came
	threads    []profile.Thread
	goRows     goRows
	instances  int
	sums       []uint64 // by EdgeID, while a part is added up
	err        error
}

func newOutput(r *run, sink profile.Sink) *output {
	tb := &tables{
		sink: sink, eng: r.eng, meter: r.meter, blocks: r.blocks, files: r.images, images: map[*image.File]profile.ImageID{},
		sections: map[sectionKey]profile.SectionID{}, events: map[eventKey]profile.EventID{},
		outside: map[profile.Edge]profile.EdgeID{}, kinds: noKinds(),
	}
	pt := &pathTree{
		tables: tb, eng: r.eng, blocks: r.blocks, sink: sink, traces: collect.NewTraces(r.cfg.Traces),
		ids: map[profile.PathNode]profile.PathID{}, given: map[*lineage]profile.PathID{}, sums: map[pathKey]float64{},
	}
	return &output{
		tables: tb, pathTree: pt, eng: r.eng, meter: r.meter, blocks: r.blocks, waste: r.waste, notes: r.notes,
		numbers: r.numbers, sink: sink, focus: r.focus, passages: newPassageCount(r),
	}
}

func (o *output) thread(t *thread) {
	row := profile.Thread{Name: t.g.Name, Parent: profile.None, TID: t.g.Number(), Start: o.focus.at(t.id, t.started),
		End: o.focus.at(t.id, t.started), Entry: profile.None}
	if t.parent != nil {
		row.Parent = o.rowOf(t.parent)
		row.Start = o.focus.at(t.parent.id, t.parent.now())
	}
	t.row = int32(len(o.threads))
	o.threads = append(o.threads, row)
	o.sink.AddThread(row)
}

// rowOf is the row of a thread, or of its nearest ancestor that has one.
func (o *output) rowOf(t *thread) profile.ThreadID {
	for ; t != nil; t = t.parent {
		if t.row != profile.None {
			return profile.ThreadID(t.row)
		}
	}
	return profile.None
}

func (o *output) threadEnd(t *thread) {
	if t.row == profile.None {
		return
	}
	row := &o.threads[t.row]
	row.End, row.Name = max(o.focus.at(t.id, t.now()), row.Start), t.g.Name
	o.sink.SetThread(profile.ThreadID(t.row), *row)
}

// instance writes one instance.
func (o *output) instance(in section.Instance) {
	if o.focus.misses(&in) {
		return
	}
	if !o.passages.same(&in) {
		o.notes.Add("uneven-passages", uneven)
		for _, alone := range in.Apart() {
			o.instance(alone)
		}
		return
	}
	o.rows(&in)
	x := &profile.Instance{Section: o.tables.section(in)}
	for i := range in.Parts {
		o.part(x, &in.Parts[i], i)
	}
	mpi.Write(x, in.Meeting)
	x.Chance = chance(in.Parts)
	if err := o.sink.WriteInstance(x); err != nil && o.err == nil {
		o.err = err
	}
	o.instances++
	o.numbers.add(&in)
}

// part adds up the segments of one part.
func (o *output) part(x *profile.Instance, p *section.Part, i int) {
	row := profile.Part{
		Thread: profile.ThreadID(p.Thread), Start: uint64(p.Start), Arrive: uint64(p.Arrive), Release: uint64(p.Release),
		LockWait: uint64(p.LockWait), OffCPU: uint64(p.OffCPU), Entry: profile.None, Exit: profile.None,
	}
	o.candidateWaits(&row, p)
	row.Host = hostTimes(p)
	first, last := ends(p.Spans)
	if first != nil {
		row.EntryStack, row.ExitStack = o.tables.calls(first.start.stack), o.tables.calls(last.stack)
		row.Entry, row.Exit = o.entry(first), o.exit(last)
		o.pathTree.addIdleness(&row, last, x.Section)
	}
	x.Parts = append(x.Parts, row)
	var touched []engine.EdgeID
	for _, s := range p.Spans {
		touched = o.add(touched, s.(*segment).edges)
		if s != first { // the part begins with that one
			touched = o.add(touched, s.(*segment).start.back)
		}
		o.locks(x, s.(*segment), int32(i))
		o.pathTree.addPaths(s.(*segment), row.Thread, x.Section)
		o.segments.counts(s.(*segment))
	}
	o.hardware(x, p.Spans, int32(i))
	touched = o.parted(touched)
	x.Edges = append(x.Edges, o.givenTo(p, int32(i))...)
	slices.Sort(touched)
	for _, id := range touched {
		if e := o.tables.edge(id); e != profile.None {
			x.Edges = append(x.Edges, profile.Count{Row: int32(e), Part: int32(i), N: o.sums[id]})
		}
		o.sums[id] = 0
	}
}

// givenTo counts the tasks that a part was given.
func (o *output) givenTo(p *section.Part, part int32) (n []profile.Count) {
	for _, s := range p.Spans {
		for _, pc := range s.(*segment).given {
			if e := o.tables.fromOutside(pc); e != profile.None {
				n = addCount(n, e, part, 1)
			}
		}
	}
	return n
}

// ends are the segments in which a part begins and ends: those of its own way through the section,
// not of tasks that it was given at the end.
func ends(spans []any) (first, last *segment) {
	for _, s := range spans {
		switch p := s.(*segment); {
		case first == nil || first.task && !p.task:
			first, last = p, p
		case !p.task || first.task:
			last = p
		}
	}
	return first, last
}

func (o *output) add(touched []engine.EdgeID, list []edgeCount) []engine.EdgeID {
	for _, e := range list {
		touched = o.sum(touched, e.id, e.n)
	}
	return touched
}

func (o *output) sum(touched []engine.EdgeID, id engine.EdgeID, n uint64) []engine.EdgeID {
	if int(id) >= len(o.sums) {
		o.sums = append(o.sums, make([]uint64, int(id)+1024-len(o.sums))...)
	}
	if o.sums[id] == 0 {
		touched = append(touched, id)
	}
	o.sums[id] += n
	return touched
}

// parted gives what was counted for blocks that were split meanwhile to their parts.
func (o *output) parted(touched []engine.EdgeID) []engine.EdgeID {
	if o.tables.whole() {
		return touched
	}
	for i := range touched {
		id := touched[i]
		if !o.eng.Parted(id) {
			continue
		}
		n := o.sums[id]
		o.sums[id] = 0
		o.eng.Parts(id, func(id engine.EdgeID) { touched = o.sum(touched, id, n) })
	}
	return slices.DeleteFunc(touched, func(id engine.EdgeID) bool { return o.sums[id] == 0 })
}

// candidateWaits takes waits that turned out to be a barrier's out of the part's time: it is
// idleness.
func (o *output) candidateWaits(row *profile.Part, p *section.Part) {
	var units uint64
	for _, s := range p.Spans {
		for _, l := range s.(*segment).locks {
			if o.barriers.atCandidate(&l) {
				units += l.wait
			}
		}
	}
	units = min(units, row.LockWait, row.Arrive-row.Start)
	row.LockWait, row.Arrive = row.LockWait-units, row.Arrive-units
}

// locks adds the segment's waits for locks.
func (o *output) locks(x *profile.Instance, p *segment, part int32) {
	for _, l := range p.locks {
		if o.barriers.atCandidate(&l) {
			continue
		}
		id := int32(o.tables.event(o.tables.kind(l.kind), l.call))
		x.Events = addCount(x.Events, id, part, l.n)
		x.Costs = addCount(x.Costs, id, part, l.wait)
	}
}

func addCount(m []profile.Count, row, part int32, n uint64) []profile.Count {
	for i := range m {
		if m[i].Row == row && m[i].Part == part {
			m[i].N += n
			return m
		}
	}
	return append(m, profile.Count{Row: row, Part: part, N: n})
}

// entry is the block in which a segment starts. Several may begin there, if one was split
// meanwhile; it is the one that was left more often than it was come to.
func (o *output) entry(p *segment) profile.NodeID {
	best, ok := o.blocks.startingAt(p.start.pc)
	if !ok {
		return profile.None
	}
	edges, blocks := o.eng.Edges(), o.eng.Blocks()
	surplus := map[engine.BlockID]int64{}
	for _, e := range p.edges {
		d := &edges[e.id]
		if d.From >= 0 && d.Kind != engine.EdgeReturn && blocks[d.From].PC == p.start.pc {
			surplus[d.From] += int64(e.n)
		}
		if d.To >= 0 && blocks[d.To].PC == p.start.pc {
			surplus[d.To] -= int64(e.n)
		}
	}
	for id, n := range surplus {
		if n > surplus[best] || n == surplus[best] && id < best && n > 0 {
			best = id
		}
	}
	if o.tables.whole() {
		return o.tables.node(best)
	}
	return o.tables.node(o.eng.First(best))
}

// exit is the last block that ran in a segment: the one from which an edge leads to where
// the segment ended.
func (o *output) exit(p *segment) profile.NodeID {
	edges := o.eng.Edges()
	for _, e := range p.edges {
		d := &edges[e.id]
		if p.ends(d.Target) && d.From >= 0 && d.Kind != engine.EdgeReturn && d.Kind != engine.EdgeEnd {
			return o.tables.last(d.From)
		}
	}
	if id, ok := o.blocks.endingAt(p.pc); ok {
		return o.tables.last(id)
	}
	return profile.None
}

// ends reports whether an edge to an address left the segment.
func (p *segment) ends(target uint64) bool {
	return target == p.pc || p.loop != nil && p.loop.own[target]
}

// close writes what there is to say of the whole run.
func (o *output) close(m profile.Meta) error {
	o.account()
	o.pathTree.writePaths()
	o.pathTree.traces.Write(o.sink, o.notes)
	o.writeWaste()
	o.lockDetails()
	lockWriter{o, o.lockBook}.write()
	if mm, ok := o.meter.(*machineMeter); ok {
		o.details(mm.m)
	}
	o.closeRows()
	m.Notes = o.notes.List()
	slices.SortStableFunc(m.Notes, func(a, b profile.Note) int { return cmp.Compare(a.Code, b.Code) })
	return o.sink.UpdateMeta(m)
}
