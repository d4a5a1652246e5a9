package native

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/collect"
	"lime/internal/collect/mpi"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// output turns instances into rows of the profile.
type output struct {
	sink       profile.Sink
	code       *code
	sections   map[sectionKey]profile.SectionID
	paths      map[pathKey]float64
	sampled    map[pathKey]float64  // periods of samples of work since the last time, by path
	worked     map[pathKey]*workSum // the same by thread and section, with the time that they stand for
	idle       *idling
	lockKind   int32
	spinEvent  profile.EventID
	coreEvents map[uint32]profile.EventID
	lockEvents map[uint64]profile.EventID // by call
	eventKinds map[string]int32
	eventRows  map[eventKey]profile.EventID
	offEvents  map[offKey]profile.EventID
	handouts   handouts
	singles    singles
	done       doneTasks
	dealt      int // instances whose work went to whoever came first
	main       *thread
	goRows     goRows
	newRow     func(profile.Thread) int32
	traces     *collect.Traces  // of all processes
	virtual    map[int32]uint64 // by thread: where its next part begins
	latest     uint64           // where the last instance ended
	lines      lines            // of all processes; nil: there is one
	instances  int
	closed     bool   // the stretch that is measured has not begun: nothing of what is told counts
	from       uint64 // when it began, ns; 0: with the recording
	widest     int    // most parts of an instance
	sum        partSum
	work       uint64
	err        error
}

// noSection stands for what has no place in one.
const noSection = -1

type sectionKey struct {
	kind  section.Kind
	place unit.Addr
}

type pathKey struct {
	path    int32
	thread  int32
	section profile.SectionID
	metric  string
}

func newOutput(sink profile.Sink, c *code) *output {
	return &output{sink: sink, code: c, sections: map[sectionKey]profile.SectionID{}, paths: map[pathKey]float64{},
		sampled: map[pathKey]float64{}, worked: map[pathKey]*workSum{}, idle: newIdling(cores()),
		traces: collect.NewTraces(-1), virtual: map[int32]uint64{}, lockKind: profile.None, spinEvent: profile.None,
		lockEvents: map[uint64]profile.EventID{}, eventKinds: map[string]int32{},
		eventRows: map[eventKey]profile.EventID{}, offEvents: map[offKey]profile.EventID{}, coreEvents: map[uint32]profile.EventID{}, handouts: handouts{}, singles: singles{}, done: newDoneTasks()}
}

// kinds maps the words of section to those of the profile.
func kinds() map[section.Kind]profile.SectionKind {
	return map[section.Kind]profile.SectionKind{
		section.Barrier: profile.SectionBarrier, section.Join: profile.SectionJoin, section.Region: profile.SectionRegion,
		section.Built: profile.SectionBuilt, section.Custom: profile.SectionCustom, section.Serial: profile.SectionSerial,
		section.Tail: profile.SectionTail, section.Meeting: profile.SectionMeeting,
	}
}

func (o *output) thread(t *thread) {
	row := o.row(t)
	o.sink.AddThread(row)
}

// startsBehind puts a new thread on the time line where the thread that made it is now: behind the
// sections that this one has ended, and what it has worked since it last made one.
func (o *output) startsBehind(t *thread, at uint64) {
	p := t.parent
	if v, now := o.virtual[int32(p.id)], p.cpu.at(at); p.making.at != v || !p.making.on {
		p.making = making{on: true, at: v, cpu: now}
	}
	o.virtual[int32(t.id)] = p.making.at + p.cpu.at(at) - min(p.making.cpu, p.cpu.at(at))
}

// making is when a thread began to make others: on the time line, and of its CPU time.
type making struct {
	on      bool
	at, cpu uint64
}

func (o *output) row(t *thread) profile.Thread {
	row := profile.Thread{Name: t.name, Parent: profile.None, TID: t.tid, Start: t.start, End: max(t.end, t.start), Entry: profile.None}
	if t.parent != nil {
		row.Parent = profile.ThreadID(t.parent.id)
	}
	return row
}

func (o *output) threadEnd(t *thread) { o.sink.SetThread(profile.ThreadID(t.id), o.row(t)) }

// instance writes one instance. A part's length is the thread's time on a CPU, so that waiting for
// one of too few cores counts for nobody; the parts stand on the time line that the program would
// have with a core for every thread.
func (o *output) instance(in section.Instance) {
	if o.closed {
		return
	}
	if o.from != 0 {
		for i := range in.Parts {
			o.drop(in.Parts[i].Spans)
		}
	}
	o.rows(&in)
	x := &profile.Instance{Section: o.section(in), Parts: make([]profile.Part, 0, len(in.Parts))}
	sum := &o.sum
	lengths := o.lengths(&in)
	cpu, done := workOf(&in), o.done.take(&in)
	whole := undivided(cpu, done)
	even := asWhole(cpu, o.handedOut(&in, int32(x.Section), cpu), done, whole)
	if even != nil {
		o.dealt++
		for i := range lengths { // nobody was idle
			lengths[i] = math.MaxUint64
		}
	}
	permits, semaphores := heldIn(&in)
	for i := range in.Parts {
		p := &in.Parts[i]
		sum.reset()
		if n := len(p.Spans); n > 0 {
			last := p.Spans[n-1].(*piece)
			last.forgetLock(last.tail)
			last.forgetOff(last.spunBefore)
		}
		for _, s := range p.Spans {
			sum.add(s.(*piece))
		}
		sum.within(together(p.Spans))
		long := sum.time()
		if even != nil {
			long = long - sum.onCPU() + even[i]
		}
		x.Parts = append(x.Parts, profile.Part{Thread: profile.ThreadID(p.Thread), Arrive: long,
			LockWait: min(sum.wait, long), OffCPU: sum.blocked, Entry: o.entry(p.Spans), Exit: profile.None})
		o.counts(x, sum, int32(i))
		o.iterations(x, sum, int32(i))
		o.lockWaits(x, sum, int32(i))
		forPermits(sum.off, permits[i])
		o.offCore(x, sum, int32(i))
		o.events(x, sum, int32(i))
		o.spun(x, sum, int32(i))
		o.onCores(x, sum, int32(i))
		o.charge(p.Spans, x.Section, lengths)
	}
	o.undivided(x, done, whole)
	o.permits(x, permits, semaphores)
	if in.Kind == section.Built {
		o.exits(x, in.Parts)
	}
	o.place(x, in.Kind, gone(&in))
	for _, id := range in.Awaiting {
		o.virtual[int32(id)] = max(o.virtual[int32(id)], o.latest)
	}
	o.trace(x, &in)
	mpi.Write(x, in.Meeting)
	if err := o.sink.WriteInstance(x); err != nil && o.err == nil {
		o.err = err
	}
	o.instances++
	o.widest = max(o.widest, len(x.Parts))
}

// workOf is how long each part's thread was on a CPU for it.
func workOf(in *section.Instance) []uint64 {
	out := make([]uint64, len(in.Parts))
	for i := range in.Parts {
		for _, s := range in.Parts[i].Spans {
			out[i] += s.(*piece).working()
		}
	}
	return out
}

// exits tells where the parts end, if all of them are known to end in the program's own code.
func (o *output) exits(x *profile.Instance, parts []section.Part) {
	for i := range parts {
		if exit(parts[i].Spans) == nil {
			return
		}
	}
	for i := range parts {
		p := &x.Parts[i]
		p.ExitStack = []profile.NodeID{}
		for k, f := range slices.Backward(exit(parts[i].Spans)) {
			if id := o.code.at(uint64(f.Call)).b.id; k > 0 {
				p.ExitStack = append(p.ExitStack, id)
			} else {
				p.Exit = id
			}
		}
	}
}

func exit(spans []any) []section.Frame {
	if len(spans) == 0 {
		return nil
	}
	return spans[len(spans)-1].(*piece).exit
}

// gone tells of each part whether its thread had ended before another's part began: the two never
// met.
func gone(in *section.Instance) []bool {
	out, latest := make([]bool, len(in.Parts)), uint64(0)
	for i := range in.Parts {
		if spans := in.Parts[i].Spans; len(spans) > 0 {
			latest = max(latest, spans[0].(*piece).from)
		}
	}
	for i := range in.Parts {
		if spans := in.Parts[i].Spans; len(spans) > 0 {
			t := spans[len(spans)-1].(*piece).thread
			out[i] = t.ended && t.end <= latest
		}
	}
	return out
}

// entry is the block with which a part begins.
func (o *output) entry(spans []any) profile.NodeID {
	if len(spans) == 0 || spans[0].(*piece).entry == 0 {
		return profile.None
	}
	return o.code.at(spans[0].(*piece).entry).b.id
}

// place puts the parts, whose Arrive is their length so far, on the time line.
func (o *output) place(x *profile.Instance, kind section.Kind, gone []bool) {
	var last uint64
	behind := o.lines.others(o)
	start := behind
	for i := range x.Parts {
		start = max(start, o.virtual[int32(x.Parts[i].Thread)])
	}
	for i := range x.Parts {
		p := &x.Parts[i]
		p.Start = max(o.virtual[int32(p.Thread)], behind)
		if kind == section.Region { // its threads were idle before
			p.Start = start
		}
		p.Arrive += p.Start
		last = max(last, p.Arrive)
	}
	o.latest = last
	for i := range x.Parts {
		x.Parts[i].Release = last
		if kind == section.Tail && gone[i] { // it does not wait for the program's end
			x.Parts[i].Release = x.Parts[i].Arrive
		}
		o.virtual[int32(x.Parts[i].Thread)] = last
	}
	if o.lines != nil {
		o.lines[o] = max(o.lines[o], last)
	}
}

// follows sets a thread's time behind that of one for which it has waited.
func (o *output) follows(t, other *thread) {
	o.virtual[int32(t.id)] = max(o.virtual[int32(t.id)], o.virtual[int32(other.id)])
}

// end is the end of the time line.
func (o *output) end() (last uint64) {
	for _, v := range o.virtual {
		last = max(last, v)
	}
	return last
}

// partSum adds up the pieces of a part.
type partSum struct {
	cpu, spin, work uint64
	spins           uint64 // samples in which it spun, the last of them here
	spunAt          *block
	lockOff, wait   uint64 // blocked on locks; waited for locks in all
	locks           []lockWait
	off             []offWait
	blocked         uint64 // the sum of off
	events          map[eventKey]uint64
	blocks          map[*block]blockSum
	order           []*block
	trips           map[*block]blockSum // n samples, and what was left in all
	cores           []coreTime
	tested          []*block
}

// blockSum is a number of samples, and the sum of what they stand for.
type blockSum struct{ n, sum uint64 }

// reset keeps the room of its lists and maps: most parts have no sample.
func (s *partSum) reset() {
	clear(s.blocks)
	clear(s.trips)
	clear(s.events)
	*s = partSum{locks: s.locks[:0], off: s.off[:0], events: s.events, blocks: s.blocks, order: s.order[:0],
		trips: s.trips, tested: s.tested[:0], cores: s.cores[:0]}
}

func (s *partSum) add(p *piece) {
	s.cpu += p.cpu
	s.spin += p.spin
	s.spins, s.spunAt = s.spins+p.spins, cmp.Or(p.spunAt, s.spunAt)
	s.work += p.work
	for _, l := range p.locks {
		s.lockOff, s.wait = s.lockOff+l.off, s.wait+l.time
	}
	s.locks = append(s.locks, p.locks...)
	for _, w := range p.off {
		if profile.FamilyOf(w.kind) == profile.FamilyOffCore {
			s.blocked += w.wait
		} else { // they wait for one another
			s.lockOff, s.wait = s.lockOff+w.wait, s.wait+w.wait
		}
	}
	s.off = append(s.off, p.off...)
	for _, c := range p.cores {
		s.cores = addCore(s.cores, c)
	}
	if s.events == nil && len(p.events) > 0 {
		s.events = map[eventKey]uint64{}
	}
	for i := range p.events {
		s.events[p.events[i].eventKey] += p.events[i].n
	}
	if s.blocks == nil && len(p.samples) > 0 {
		s.blocks, s.trips = map[*block]blockSum{}, map[*block]blockSum{}
	}
	for _, w := range p.samples {
		b, ok := s.blocks[w.b]
		if !ok {
			s.order = append(s.order, w.b)
		}
		b.n++
		b.sum += w.nanos
		s.blocks[w.b] = b
		s.addTrips(w.trips)
	}
}

func (s *partSum) addTrips(list []trip) {
	for _, t := range list {
		b, ok := s.trips[t.test]
		if !ok {
			s.tested = append(s.tested, t.test)
		}
		b.n++
		b.sum += t.left
		s.trips[t.test] = b
	}
}

// time is the part's time: on a CPU but for the share in which it spun, and blocked on locks or for
// anything else but a core.
func (s *partSum) time() uint64 { return s.onCPU() + s.lockOff + s.blocked }

func (s *partSum) onCPU() uint64 {
	if s.spin == 0 {
		return s.cpu
	}
	return uint64(float64(s.cpu) * float64(s.work) / float64(s.work+s.spin))
}

// counts writes a part's samples by block, and the time that they stand for, which in a short part
// may be longer than itself.
func (o *output) counts(x *profile.Instance, s *partSum, part int32) {
	slices.SortFunc(s.order, func(a, b *block) int { return int(a.id) - int(b.id) })
	for _, b := range s.order {
		sum := s.blocks[b]
		x.Edges = append(x.Edges, profile.Count{Row: int32(o.code.visit(b)), Part: part, N: sum.n})
		x.Times = append(x.Times, profile.Count{Row: int32(b.id), Part: part, N: sum.sum})
	}
}

// working is the piece's time on a CPU but for the share in which it spun.
func (p *piece) working() uint64 {
	s := partSum{cpu: p.cpu, spin: p.spin, work: p.work}
	return s.time()
}

// lockWaits writes a part's waits for locks, by the calls that took them.
func (o *output) lockWaits(x *profile.Instance, s *partSum, part int32) {
	for _, l := range s.locks {
		if l.n == 0 { // taken back
			continue
		}
		if o.lockKind == profile.None {
			o.lockKind = o.sink.AddKind(profile.NewKind(profile.Measured, profile.KindLockWait))
		}
		id, ok := o.lockEvents[l.call]
		if !ok {
			id = o.sink.AddEvent(profile.Event{Kind: o.lockKind, Node: o.code.at(l.call).b.id, Addr: l.call})
			o.lockEvents[l.call] = id
		}
		x.Events, x.Costs = addCount(x.Events, int32(id), part, l.n), addCount(x.Costs, int32(id), part, l.time)
	}
}

func addCount(m []profile.Count, row, part int32, n uint64) []profile.Count {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i].Row == row && m[i].Part == part {
			m[i].N += n
			return m
		}
	}
	return append(m, profile.Count{Row: row, Part: part, N: n})
}

// iterations writes what a part's samples tell of loops.
func (o *output) iterations(x *profile.Instance, s *partSum, part int32) {
	for _, b := range s.tested {
		o.code.tripEvents(b)
		sum := s.trips[b]
		x.Events = append(x.Events, profile.Count{Row: int32(b.trips[0]), Part: part, N: sum.n},
			profile.Count{Row: int32(b.trips[1]), Part: part, N: sum.sum})
	}
}

// lengths are the parts' times in order; nil where the threads' waits are not known.
func (o *output) lengths(in *section.Instance) []uint64 {
	if in.Kind == section.Tail {
		return nil
	}
	out := make([]uint64, 0, len(in.Parts))
	for i := range in.Parts {
		var t uint64
		for _, s := range in.Parts[i].Spans {
			t += s.(*piece).working()
		}
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

// workSum is what a thread worked in a section.
type workSum struct{ time, period float64 }

// charge adds the samples of pieces to the call paths of a section, each piece once. A sample
// stands for its period, not for the piece that it was taken in: of pieces that are shorter than a
// period most have no sample, and those that have one speak for them.
func (o *output) charge(spans []any, s profile.SectionID, lengths []uint64) {
	var before uint64
	for _, x := range spans {
		p := x.(*piece)
		at := before
		before += p.working()
		if p.charged {
			continue
		}
		o.idle.charge(p, at, lengths)
		p.charged = true
		o.work += p.working()
		sum := o.worked[workKey(p.row, s)]
		if sum == nil {
			sum = &workSum{}
			o.worked[workKey(p.row, s)] = sum
		}
		sum.time += float64(p.working())
		for _, w := range p.samples {
			o.sampled[pathKey{w.path, p.row, s, "time"}] += float64(w.period)
			sum.period += float64(w.period)
		}
	}
}

// workKey names a thread's work in a section.
func workKey(thread int32, s profile.SectionID) pathKey {
	return pathKey{path: profile.None, thread: thread, section: s}
}

// settle divides the time that the threads worked in the sections among the call paths, by their
// samples.
func (o *output) settle() {
	for k, period := range o.sampled {
		sum := o.worked[workKey(k.thread, k.section)]
		o.paths[k] += period * sum.time / sum.period
	}
	clear(o.sampled)
	for _, sum := range o.worked {
		if sum.period > 0 { // where there was no sample yet, the next ones speak for it
			*sum = workSum{}
		}
	}
}

func (o *output) section(in section.Instance) profile.SectionID {
	key := sectionKey{in.Kind, in.Place}
	if id, ok := o.sections[key]; ok {
		return id
	}
	row := profile.Section{Kind: mpi.Kind(kinds()[in.Kind], in.Meeting), EndAddr: uint64(in.Place), EndNode: profile.None}
	if in.Place != 0 {
		row.EndNode = o.code.at(uint64(in.Place)).b.id
	}
	id := o.sink.AddSection(row)
	o.sections[key] = id
	return id
}

// close writes the metrics of the call paths since the last time.
func (o *output) close() {
	if o.closed {
		return
	}
	o.settle()
	o.idle.corrections(func(k pathKey, change float64) { o.paths[k] += change })
	keys := make([]pathKey, 0, len(o.paths))
	for k := range o.paths {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, comparePaths)
	for _, k := range keys {
		o.sink.AddPathSample(profile.PathSample{Path: profile.PathID(k.path), Thread: profile.ThreadID(k.thread), Section: k.section,
			Metric: k.metric, Value: o.paths[k]})
	}
	clear(o.paths)
}

func comparePaths(a, b pathKey) int {
	return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.section, b.section), cmp.Compare(a.thread, b.thread),
		cmp.Compare(a.path, b.path))
}
