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
	"lime/internal/unit"
)

// output turns instances into rows of the profile. Tables grow as they are needed.
type output struct {
	r          *run
	sink       profile.Sink
	images     map[*image.File]profile.ImageID
	nodes      []profile.NodeID // by BlockID; None: not there yet
	edges      []profile.EdgeID // by EdgeID
	sections   map[sectionKey]profile.SectionID
	events     map[eventKey]profile.EventID
	outside    map[profile.Edge]profile.EdgeID // calls of tasks
	hwKinds    []int32                         // by machine.Kind, when the first event came
	kinds      [waitEvents]int32
	wasteKinds []int32 // by waste.Kind, when the first event came
	threads    []profile.Thread
	goRows     goRows
	instances  int
	paths      paths
	traces     *collect.Traces
	sums       []uint64 // by EdgeID, while a part is added up
	err        error
}

type sectionKey struct {
	kind  section.Kind
	place unit.Addr
}

type eventKey struct {
	kind int32
	addr uint64
}

func newOutput(r *run, sink profile.Sink) *output {
	return &output{
		r: r, sink: sink, paths: newPaths(), traces: collect.NewTraces(r.cfg.Traces), images: map[*image.File]profile.ImageID{},
		sections: map[sectionKey]profile.SectionID{}, events: map[eventKey]profile.EventID{},
		outside: map[profile.Edge]profile.EdgeID{}, kinds: noKinds(),
	}
}

func (o *output) image(im *image.File) {
	o.images[im] = o.sink.AddImage(profile.Image{Path: im.Path, BuildID: im.BuildID(), Base: im.Bias, Lo: im.Lo, Hi: im.Hi})
}

func (o *output) thread(t *thread) {
	row := profile.Thread{Name: t.g.Name, Parent: profile.None, TID: t.g.Number(), Start: t.started, End: t.started, Entry: profile.None}
	if t.parent != nil {
		row.Parent = o.rowOf(t.parent)
		row.Start = t.parent.now()
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
	row.End, row.Name = max(t.now(), row.Start), t.g.Name
	o.sink.SetThread(profile.ThreadID(t.row), *row)
}

// kinds maps the words of section to those of the profile.
func kinds() map[section.Kind]profile.SectionKind {
	return map[section.Kind]profile.SectionKind{
		section.Barrier: profile.SectionBarrier, section.Join: profile.SectionJoin, section.Region: profile.SectionRegion,
		section.Built: profile.SectionBuilt, section.Custom: profile.SectionCustom, section.Serial: profile.SectionSerial,
		section.Tail: profile.SectionTail, section.Meeting: profile.SectionMeeting,
	}
}

// instance writes one instance.
func (o *output) instance(in section.Instance) {
	o.rows(&in)
	x := &profile.Instance{Section: o.section(in)}
	for i := range in.Parts {
		o.part(x, &in.Parts[i], i)
	}
	mpi.Write(x, in.Meeting)
	x.Chance = chance(in.Parts)
	if err := o.sink.WriteInstance(x); err != nil && o.err == nil {
		o.err = err
	}
	o.instances++
	o.r.numbers.add(&in)
}

func (o *output) section(in section.Instance) profile.SectionID {
	key := sectionKey{in.Kind, in.Place}
	if id, ok := o.sections[key]; ok {
		return id
	}
	row := profile.Section{Kind: mpi.Kind(kinds()[in.Kind], in.Meeting), EndAddr: uint64(in.Place), EndNode: o.nodeOf(uint64(in.Place))}
	id := o.sink.AddSection(row)
	o.sections[key] = id
	return id
}

// nodeOf finds the block whose last instruction, or any, is at an address.
func (o *output) nodeOf(addr uint64) profile.NodeID { return o.node(o.r.blocks.holding(addr)) }

// part adds up the segments of one part.
func (o *output) part(x *profile.Instance, p *section.Part, i int) {
	row := profile.Part{
		Thread: profile.ThreadID(p.Thread), Start: uint64(p.Start), Arrive: uint64(p.Arrive), Release: uint64(p.Release),
		LockWait: uint64(p.LockWait), OffCPU: uint64(p.OffCPU), Entry: profile.None, Exit: profile.None,
	}
	o.candidateWaits(&row, p)
	row.Host = hostTimes(p)
	if first, last := ends(p.Spans); first != nil {
		row.EntryStack, row.ExitStack = o.calls(first.start.stack), o.calls(last.stack)
		row.Entry, row.Exit = o.entry(first), o.exit(last)
		o.addIdleness(&row, last, x.Section)
	}
	x.Parts = append(x.Parts, row)
	var touched []engine.EdgeID
	for _, s := range p.Spans {
		touched = o.add(touched, s.(*segment))
		o.locks(x, s.(*segment), int32(i))
		o.addPaths(s.(*segment), row.Thread, x.Section)
		o.r.segments.counts(s.(*segment))
	}
	o.hardware(x, p.Spans, int32(i))
	touched = o.parted(touched)
	x.Edges = append(x.Edges, o.givenTo(p, int32(i))...)
	slices.Sort(touched)
	for _, id := range touched {
		if e := o.edge(id); e != profile.None {
			x.Edges = append(x.Edges, profile.Count{Row: int32(e), Part: int32(i), N: o.sums[id]})
		}
		o.sums[id] = 0
	}
}

// givenTo counts the tasks that a part was given.
func (o *output) givenTo(p *section.Part, part int32) (n []profile.Count) {
	for _, s := range p.Spans {
		for _, pc := range s.(*segment).given {
			if e := o.fromOutside(pc); e != profile.None {
				n = addCount(n, e, part, 1)
			}
		}
	}
	return n
}

// fromOutside is the edge by which a task's function is called, from code that is not counted.
func (o *output) fromOutside(pc uint64) int32 {
	id, ok := o.r.blocks.startingAt(pc)
	if !ok {
		return profile.None
	}
	if !o.whole() {
		id = o.r.eng.First(id)
	}
	e := profile.Edge{From: profile.None, To: o.node(id), Kind: profile.EdgeCallInd}
	row, ok := o.outside[e]
	if !ok {
		row = o.sink.AddEdge(e)
		o.outside[e] = row
	}
	return int32(row)
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

func (o *output) add(touched []engine.EdgeID, p *segment) []engine.EdgeID {
	for _, e := range p.edges {
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

// whole reports whether blocks that have been split count as what they were: their times are known
// for the whole only.
func (o *output) whole() bool { return o.r.meter.Mode() == engine.Trace }

// parted gives what was counted for blocks that were split meanwhile to their parts.
func (o *output) parted(touched []engine.EdgeID) []engine.EdgeID {
	if o.whole() {
		return touched
	}
	for i := range touched {
		id := touched[i]
		if !o.r.eng.Parted(id) {
			continue
		}
		n := o.sums[id]
		o.sums[id] = 0
		o.r.eng.Parts(id, func(id engine.EdgeID) { touched = o.sum(touched, id, n) })
	}
	return slices.DeleteFunc(touched, func(id engine.EdgeID) bool { return o.sums[id] == 0 })
}

// candidateWaits takes waits that turned out to be a barrier's out of the part's time: it is
// idleness.
func (o *output) candidateWaits(row *profile.Part, p *section.Part) {
	var units uint64
	for _, s := range p.Spans {
		for _, l := range s.(*segment).locks {
			if o.r.barriers.atCandidate(&l) {
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
		if o.r.barriers.atCandidate(&l) {
			continue
		}
		id := int32(o.event(o.kind(l.kind), l.call))
		x.Events = addCount(x.Events, id, part, l.n)
		x.Costs = addCount(x.Costs, id, part, l.wait)
	}
}

// noKinds are the rows of kinds of which there is no event yet.
func noKinds() (rows [waitEvents]int32) {
	for k := range rows {
		rows[k] = profile.None
	}
	return rows
}

// kind gives a kind of event its row.
func (o *output) kind(k waitEvent) int32 {
	if o.kinds[k] == profile.None {
		o.kinds[k] = o.sink.AddKind(waitKinds()[k])
	}
	return o.kinds[k]
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

func (o *output) event(kind int32, addr uint64) profile.EventID {
	key := eventKey{kind, addr}
	id, ok := o.events[key]
	if !ok {
		id = o.sink.AddEvent(profile.Event{Kind: kind, Node: o.nodeOf(addr), Addr: addr})
		o.events[key] = id
	}
	return id
}

// calls turns a stack into the nodes of the calls, outermost first.
func (o *output) calls(stack []frameRef) []profile.NodeID {
	out := make([]profile.NodeID, 0, len(stack))
	for i := len(stack) - 1; i >= 0; i-- {
		if id, ok := o.r.blocks.endingAt(stack[i].ret); ok {
			out = append(out, o.last(id))
		}
	}
	return out
}

// entry is the block in which a segment starts. Several may begin there, if one was split
// meanwhile; it is the one that was left more often than it was come to.
func (o *output) entry(p *segment) profile.NodeID {
	best, ok := o.r.blocks.startingAt(p.start.pc)
	if !ok {
		return profile.None
	}
	edges, blocks := o.r.eng.Edges(), o.r.eng.Blocks()
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
	if o.whole() {
		return o.node(best)
	}
	return o.node(o.r.eng.First(best))
}

// last is the row of a block's last part.
func (o *output) last(id engine.BlockID) profile.NodeID {
	if !o.whole() {
		id = o.r.eng.Last(id)
	}
	return o.node(id)
}

// exit is the last block that ran in a segment: the one from which an edge leads to where
// the segment ended.
func (o *output) exit(p *segment) profile.NodeID {
	edges := o.r.eng.Edges()
	for _, e := range p.edges {
		d := &edges[e.id]
		if p.ends(d.Target) && d.From >= 0 && d.Kind != engine.EdgeReturn && d.Kind != engine.EdgeEnd {
			return o.last(d.From)
		}
	}
	if id, ok := o.r.blocks.endingAt(p.pc); ok {
		return o.last(id)
	}
	return profile.None
}

// ends reports whether an edge to an address left the segment.
func (p *segment) ends(target uint64) bool {
	return target == p.pc || p.loop != nil && p.loop.own[target]
}

// node gives a block its row.
func (o *output) node(id engine.BlockID) profile.NodeID {
	if id < 0 {
		return profile.None
	}
	for len(o.nodes) <= int(id) {
		o.nodes = append(o.nodes, profile.None)
	}
	if o.nodes[id] == profile.None {
		o.nodes[id] = o.addNode(&o.r.eng.Blocks()[id])
	}
	return o.nodes[id]
}

func (o *output) addNode(b *engine.Block) profile.NodeID {
	row := profile.Node{
		Image: profile.None, Addr: b.PC, Size: b.Size, Instrs: b.Instrs, LastAddr: b.LastPC,
		Kind: nodeKinds()[b.End], Function: profile.None,
	}
	if im := o.r.images.at(b.PC); im != nil {
		row.Image = o.images[im]
	}
	return o.sink.AddNode(row)
}

func nodeKinds() [9]profile.NodeKind {
	return [9]profile.NodeKind{
		engine.EndFall: profile.EndFall, engine.EndCond: profile.EndCond, engine.EndJump: profile.EndJump,
		engine.EndCall: profile.EndCall, engine.EndRet: profile.EndRet, engine.EndJumpInd: profile.EndJumpInd,
		engine.EndCallInd: profile.EndCallInd, engine.EndSyscall: profile.EndSyscall, engine.EndOther: profile.EndOther,
	}
}

func edgeKinds() [9]profile.EdgeKind {
	return [9]profile.EdgeKind{
		engine.EdgeTaken: profile.EdgeTaken, engine.EdgeFall: profile.EdgeFall, engine.EdgeJump: profile.EdgeJump,
		engine.EdgeJumpInd: profile.EdgeJumpInd, engine.EdgeCall: profile.EdgeCall, engine.EdgeCallInd: profile.EdgeCallInd,
		engine.EdgeReturn: profile.EdgeReturn, engine.EdgeEnd: profile.EdgeEnd, engine.EdgeOdd: profile.EdgeOdd,
	}
}

// edge gives an edge its row. The block it leads to may not have been run yet.
func (o *output) edge(id engine.EdgeID) profile.EdgeID {
	for len(o.edges) <= int(id) {
		o.edges = append(o.edges, profile.None)
	}
	if o.edges[id] != profile.None {
		return o.edges[id]
	}
	e := o.r.eng.Edges()[id]
	to := e.To
	if to < 0 && e.Kind != engine.EdgeEnd {
		if b, ok := o.r.blocks.startingAt(e.Target); ok {
			to = b
		}
	}
	row := profile.Edge{From: o.node(e.From), To: o.node(to), Kind: edgeKinds()[e.Kind]}
	if row.From != profile.None || row.To != profile.None {
		o.edges[id] = o.sink.AddEdge(row)
	}
	return o.edges[id]
}

// close writes how the run ended.
func (o *output) close() error {
	r := o.r
	m := r.meta()
	m.Cores = r.beside.width(m.Cores)
	m.EndState, m.ExitStatus = r.end.state, r.end.status
	if r.end.signal != 0 {
		m.ExitStatus = r.end.signal
	}
	o.account()
	o.writePaths()
	o.traces.Write(o.sink, r.notes)
	o.writeWaste()
	o.lockDetails()
	lockWriter{o, o.r.locks.lockBook}.write()
	if mm, ok := r.meter.(*machineMeter); ok {
		o.details(mm.m)
	}
	o.closeRows()
	m.RunTime, m.CoreTime, m.Complete = r.clocks.latest, r.roster.work(), r.end.exec == nil
	m.Notes = r.notes.List()
	slices.SortStableFunc(m.Notes, func(a, b profile.Note) int { return cmp.Compare(a.Code, b.Code) })
	return o.sink.UpdateMeta(m)
}

// meta describes the run.
func (r *run) meta() profile.Meta {
	m := profile.Meta{
		Tool: r.cfg.Tool, Collector: "simulate", Model: r.cfg.Model, Machine: r.cfg.Machine,
		Command: append([]string{r.cfg.Cmd}, r.cfg.Args[min(1, len(r.cfg.Args)):]...), Cores: r.cfg.Cores,
		ClockUnit: r.meter.Unit(), ClockHz: r.meter.Hz(), TimeLabel: profile.Measured, CountLabel: profile.Measured,
		NodeTime: "visits", EndState: "running", RankInfo: r.cfg.Rank,
	}
	if r.cfg.Parallel {
		m.Collector = "count"
	}
	if r.meter.Mode() == engine.Trace {
		m.NodeTime, m.TimeLabel = "stored", profile.Modelled
	}
	return m
}
