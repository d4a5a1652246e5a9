// What the instances say of where the time of their parts went: events that cost time, the
// runtime's own code, and waits at the ends.

package analysis

import (
	"maps"
	"slices"

	"lime/internal/profile"
	"lime/internal/unit"
)

// lossParts is what one section's instances say, summed.
type lossParts struct {
	lock, off float64 // of the parts' times: waits for locks and others, time off the core
	late      float64 // of the idleness at the ends: others took longer
	lateLock  float64 // of that: because they waited longer for locks and others
	lateOff   float64 // because they were off the core for longer; the rest: because they had more to do
	dealt     float64 // of late, without these two: by the chance of who took which piece of work
	away      float64 // the rest of it: even who had most to do had nothing
	waits     map[eventThread]float64
	times     map[int32]uint64               // by event of waiting: how often
	spread    map[int32]occurrences          // by event of waiting: over the parts
	lateFor   map[int32]float64              // by event of waiting: what of late is its doing
	runtime   map[profile.FunctionID]float64 // time in a runtime's own code, by function
}

type eventThread struct {
	event  int32
	thread profile.ThreadID
}

// lossTable says of the profile's rows what the account needs.
type lossTable struct {
	tab     *profile.Tables
	family  []profile.Family // by event
	runtime []bool           // by node
	stored  bool             // blocks' times are stored
	sampled bool             // the runtime's time is known from call paths
}

func newLossTable(m *profile.Meta, tab *profile.Tables, runtime func(profile.NodeID) bool, sampled bool) *lossTable {
	t := &lossTable{tab: tab, family: make([]profile.Family, len(tab.Events)), runtime: make([]bool, len(tab.Nodes)),
		stored: m.NodeTime == "stored", sampled: sampled}
	for i := range tab.Events {
		if k := tab.Events[i].Kind; k >= 0 && int(k) < len(tab.Kinds) {
			t.family[i] = tab.Kinds[k].Family()
		}
	}
	for v := range t.runtime {
		t.runtime[v] = runtime(profile.NodeID(v))
	}
	return t
}

// add takes what an instance says of its waits.
func (l *lossParts) add(t *lossTable, in *profile.Instance) {
	longest, was := uint64(0), *l
	for i := range in.Parts {
		longest = max(longest, in.Parts[i].Time())
	}
	for i := range in.Parts {
		p := &in.Parts[i]
		time, lock, off := divided(p)
		idle := uint64(0)
		if p.Release > p.Arrive {
			idle = p.Release - p.Arrive
		}
		late := min(idle, longest-time)
		l.lock, l.off = l.lock+float64(lock), l.off+float64(off)
		l.late, l.away = l.late+float64(late), l.away+float64(idle-late)
	}
	l.addWaits(t, in)
	l.addLate(t, in, l.late-was.late)
	more := l.late - was.late - (l.lateLock - was.lateLock) - (l.lateOff - was.lateOff)
	l.dealt += min(max(0, more), byChance(in)*(l.late-was.late))
}

// divided is a part's time, and what of it is waiting for locks and others, and time off the core.
func divided(p *profile.Part) (time, lock, off uint64) {
	time = p.Time()
	lock = min(p.LockWait, time)
	return time, lock, min(p.OffCPU, time-lock)
}

func (l *lossParts) addWaits(t *lossTable, in *profile.Instance) {
	for _, c := range in.Events {
		if c.Row >= 0 && int(c.Row) < len(t.family) && t.family[c.Row].Waits() {
			if l.times == nil {
				l.times = map[int32]uint64{}
			}
			l.times[c.Row] += c.N
		}
	}
	for _, c := range in.Costs {
		if c.Row < 0 || int(c.Row) >= len(t.family) || !t.family[c.Row].Waits() || c.Part < 0 || int(c.Part) >= len(in.Parts) {
			continue
		}
		if l.waits == nil {
			l.waits, l.spread = map[eventThread]float64{}, map[int32]occurrences{}
		}
		l.spread[c.Row] = l.spread[c.Row].and(float64(c.N))
		l.waits[eventThread{c.Row, in.Parts[c.Part].Thread}] += float64(c.N)
	}
}

// addRuntime adds the time of blocks that are a runtime's own, without what their memory events
// cost.
func (l *lossParts) addRuntime(t *lossTable, in *profile.Instance) {
	if t.sampled {
		return
	}
	charge := func(v profile.NodeID, time float64) {
		if v < 0 || int(v) >= len(t.runtime) || !t.runtime[v] {
			return
		}
		if l.runtime == nil {
			l.runtime = map[profile.FunctionID]float64{}
		}
		l.runtime[t.tab.Nodes[v].Function] += time
	}
	if !t.stored {
		for _, c := range in.Edges {
			if c.Row >= 0 && int(c.Row) < len(t.tab.Edges) {
				if v := t.tab.Edges[c.Row].To; v >= 0 && int(v) < len(t.tab.Nodes) {
					charge(v, float64(c.N)*float64(t.tab.Nodes[v].Instrs))
				}
			}
		}
		return
	}
	for _, c := range in.Times {
		charge(profile.NodeID(c.Row), float64(c.N))
	}
	for _, c := range in.Costs {
		if c.Row >= 0 && int(c.Row) < len(t.family) && t.family[c.Row] == profile.FamilyMemory {
			charge(t.tab.Events[c.Row].Node, -float64(c.N))
		}
	}
}

// sectionFlow is what the time line says of a section.
type sectionFlow struct {
	flow
	idlers, alone map[profile.ThreadID]float64
}

// account makes the whole account of a profile.
func (r *runner) lossAccount(t *timeline, sums []*summary, res *Result) *Loss {
	b := &lossBuilder{r: r, rows: map[string]map[lossKey]*LossPlace{}, own: map[profile.SectionID]LossShares{},
		awaited: map[awaits]float64{}, times: map[lossKey]uint64{}, byName: map[lossKey]map[profile.ThreadID]float64{}, closing: closing(res, r.isSampled()),
		alone: map[profile.SectionID]bool{}, absent: map[bool]float64{}, idles: readIdleWaits(r)}
	over := 0.0
	if e := res.Effort; e != nil {
		over = ratio(e.Overhead, e.Overhead+e.Work)
	}
	flows := t.sections(len(r.tab.Sections))
	for _, s := range sums {
		b.section(s, flows[s.id], over)
	}
	b.await(t, flows, sums)
	if e := res.Effort; e != nil {
		b.effort(e, t.busy*over)
	}
	b.outside(t)
	b.unused(res.Whole.Unused, res.Whole.RunTime)
	l := b.loss(t, &res.Whole)
	for _, list := range [][]Section{res.Sections, res.Serial} {
		for i := range list {
			list[i].Loss = b.own[list[i].ID]
			list[i].AllLost = list[i].Loss.lost()
		}
	}
	b.tellIdle(l, res)
	b.tellAwaited(l, res)
	b.tellBarriers(res, sums)
	return l
}

// sections sums the flows by section, in one pass and in the order of the threads.
func (t *timeline) sections(n int) []*sectionFlow {
	out := make([]*sectionFlow, n)
	for i := range out {
		out[i] = &sectionFlow{idlers: map[profile.ThreadID]float64{}, alone: map[profile.ThreadID]float64{}}
	}
	keys := slices.SortedFunc(maps.Keys(t.flows), func(a, b flowKey) int { return int(a.thread) - int(b.thread) })
	for _, k := range keys {
		f, s := t.flows[k], out[k.section]
		s.flow.add(f)
		s.idlers[k.thread], s.alone[k.thread] = f.idle, f.absent
	}
	return out
}

func (f *flow) add(g *flow) {
	f.busy, f.held, f.idle = f.busy+g.busy, f.held+g.held, f.idle+g.idle
	f.opening, f.absent = f.opening+g.opening, f.absent+g.absent
}

// section charges what is known of a section's parts.
func (b *lossBuilder) section(s *summary, f *sectionFlow, over float64) {
	end := b.r.prog.sectionPlace(&b.r.tab.Sections[s.id])
	at := func(term string) lossKey {
		return lossKey{term: term, section: s.id, name: end.Function, at: lineKey{file: profile.None}}
	}
	uneven := b.unevenTerm(s)
	meets := (b.closing[s.id] || uneven == TermOverhead) && s.kind == profile.SectionBarrier
	place := func(term string) func() LossPlace {
		return func() LossPlace { return LossPlace{Place: end, Section: s.id, Meets: meets && term == TermOverhead} }
	}
	charge := func(term string, time float64, threads map[profile.ThreadID]float64) {
		b.add(at(term), time, place(term), threads)
		b.of(s.id, term, time)
	}
	charge(TermSerial, f.absent, f.alone)
	b.alone[s.id] = s.serial()
	b.absent[s.serial()] += f.absent
	late := f.idle * ratio(s.loss.late, s.loss.late+s.loss.away)
	lock, off := late*ratio(s.loss.lateLock, s.loss.late), late*ratio(s.loss.lateOff, s.loss.late)
	work := max(0, late-lock-off)
	dealt := min(work, late*ratio(s.loss.dealt, s.loss.late))
	charge(uneven, work-dealt, scaled(f.idlers, ratio(work-dealt, f.idle)))
	charge(TermUnproved, dealt, scaled(f.idlers, ratio(dealt, f.idle)))
	b.behind(s, lock, off)
	rest := TermWait
	if b.closing[s.id] {
		rest = TermOverhead
	}
	away := f.idle - late
	if rest == TermWait {
		away -= b.idle(s, f.idle, away)
	}
	charge(rest, away, scaled(f.idlers, ratio(away, f.idle)))
	b.add(at(TermOverhead), f.opening, place(TermOverhead), nil) // before its parts begin
	b.held(s, f.held)
	b.of(s.id, TermOverhead, f.busy*over)
	busy := f.busy*(1-over) - b.runtime(s, f.busy)
	busy -= b.memory(s, busy)
	charge(TermUseful, busy, nil)
}

// unevenTerm is the term of what the threads of a section wait at its ends for those who take
// longer. Where nothing proves that the program makes them take longer, and they meet again before
// they have done more than it takes to meet, it is what meeting so often costs.
func (b *lossBuilder) unevenTerm(s *summary) string {
	switch {
	case !b.r.unproved[s.id]:
		return TermImbalance
	case s.time < shortSection*float64(s.instances) && (s.kind == profile.SectionBarrier || s.kind == profile.SectionRegion):
		return TermOverhead
	}
	return TermUnproved
}

func scaled(times map[profile.ThreadID]float64, by float64) map[profile.ThreadID]float64 {
	out := make(map[profile.ThreadID]float64, len(times))
	for id, x := range times {
		out[id] = x * by
	}
	return out
}

// held divides the waits within a section's parts among their places.
func (b *lossBuilder) held(s *summary, time float64) {
	factor := ratio(time, s.loss.lock+s.loss.off)
	if factor == 0 {
		return
	}
	sum := map[bool]float64{} // by whether the time is off the core
	for k, x := range s.loss.waits {
		sum[b.r.lossTab.family[k.event] == profile.FamilyOffCore] += x
	}
	share := map[bool]float64{ // events can be known better than parts, or tell of more than counts
		true:  factor * min(1, ratio(s.loss.off, sum[true])),
		false: factor * min(1, ratio(s.loss.lock, sum[false])),
	}
	keys := slices.SortedFunc(maps.Keys(s.loss.waits), func(a, b eventThread) int {
		if a.event != b.event {
			return int(a.event) - int(b.event)
		}
		return int(a.thread) - int(b.thread)
	})
	for _, k := range keys {
		x := s.loss.waits[k] * share[b.r.lossTab.family[k.event] == profile.FamilyOffCore]
		b.event(s.id, b.termOf(s, k.event), k.event, x, map[profile.ThreadID]float64{k.thread: x})
	}
	for e, n := range s.loss.times {
		b.times[b.eventKey(b.termOf(s, e), e)] += n
	}
	b.of(s.id, TermLock, factor*max(0, s.loss.lock-sum[false]))
	b.of(s.id, TermOffCore, factor*max(0, s.loss.off-sum[true]))
	b.unknown(TermLock, factor*max(0, s.loss.lock-sum[false]), locksUnseen)
	b.unknown(TermOffCore, factor*max(0, s.loss.off-sum[true]), offUnseen)
}

// familyTerms gives each family that takes time its term.
var familyTerms = map[profile.Family]string{
	profile.FamilyLock: TermLock, profile.FamilyWait: TermWait, profile.FamilyOffCore: TermOffCore,
	profile.FamilyMemory: TermMemory, profile.FamilyOverhead: TermOverhead,
}

// event charges time to an event's line.
func (b *lossBuilder) event(section profile.SectionID, term string, row int32, time float64, threads map[profile.ThreadID]float64) {
	b.of(section, term, time)
	e := &b.r.tab.Events[row]
	b.add(b.eventKey(term, row), time, func() LossPlace {
		return LossPlace{Place: b.r.prog.eventPlace(e), Section: profile.None, Subject: subject(e.Detail)}
	}, threads)
}

// eventKey names the row of a term that an event belongs to.
func (b *lossBuilder) eventKey(term string, row int32) lossKey {
	e := &b.r.tab.Events[row]
	return lossKey{term: term, event: b.r.prog.kindName(e.Kind), at: frameKey(e.Frames, e.Addr), section: profile.None}
}

// memory charges what the machine took beyond the instructions, and returns how much that was: no
// more than the threads ran.
func (b *lossBuilder) memory(s *summary, most float64) float64 {
	rows := slices.Sorted(maps.Keys(s.costs))
	rows = slices.DeleteFunc(rows, func(e int32) bool { return b.r.lossTab.family[e] != profile.FamilyMemory })
	sum := 0.0
	for _, e := range rows {
		sum += s.costs[e]
	}
	factor := min(1, ratio(most, sum))
	for _, e := range rows {
		b.event(s.id, TermMemory, e, s.costs[e]*factor, nil)
	}
	return sum * factor
}

// runtime charges a section's time in a runtime's own code, and returns it.
func (b *lossBuilder) runtime(s *summary, most float64) float64 {
	sum := 0.0
	ids := slices.Sorted(maps.Keys(s.loss.runtime))
	for _, id := range ids {
		sum += max(0, s.loss.runtime[id])
	}
	factor := min(1, ratio(most, sum))
	b.of(s.id, TermOverhead, sum*factor)
	for _, id := range ids {
		p := b.functionPlace(id)
		b.add(lossKey{term: TermOverhead, section: profile.None, name: p.Function, at: lineKey{file: profile.None}},
			max(0, s.loss.runtime[id])*factor,
			func() LossPlace { return LossPlace{Place: p, Section: profile.None} }, nil)
	}
	return sum * factor
}

func (b *lossBuilder) functionPlace(id profile.FunctionID) Place {
	tab := b.r.tab
	if id < 0 || int(id) >= len(tab.Functions) {
		return Place{}
	}
	f := &tab.Functions[id]
	p := Place{Function: f.Name, Address: unit.Addr(f.Entry).String()}
	if f.Image >= 0 && int(f.Image) < len(tab.Images) {
		p.Image = tab.Images[f.Image].Path
	}
	return p
}

// effort charges the overhead that samples of call paths tell, to the program's own code for which
// it was made.
func (b *lossBuilder) effort(e *Effort, time float64) {
	left := time
	for i := range e.Overheads {
		c := &e.Overheads[i]
		x := min(left, time*c.Share)
		left -= x
		b.add(lossKey{term: TermOverhead, section: profile.None, name: c.Function, event: c.Runtime,
			at: lineKey{file: profile.None, line: int32(c.Line)}}, x,
			func() LossPlace { return LossPlace{Place: c.Place, Section: profile.None} }, nil)
	}
	b.unknown(TermOverhead, left, overheadElsewhere)
}

// Why nothing is known of the places of some time.
const (
	locksUnseen       = "the threads waited for locks or for one another; the collector did not see where"
	offUnseen         = "the threads were off their cores; the collector did not see where or why"
	ranElsewhere      = "code ran that is part of no section: in threads that give work out or wait for its end, or in a runtime"
	nobodyThere       = "no thread was in any section: the program's start and end, and what the profile does not hold"
	overheadElsewhere = "spread over other places"
)

// LoadingLibraries is why no line of the program has some time in which one thread is alone.
const LoadingLibraries = "the dynamic linker loads the program's libraries"

// NeverUsed is why no line of the program has the time of cores that were asked for, and for which it
// never had a thread.
const NeverUsed = "the program never had a thread for these cores"

// unused charges the cores that were asked for beyond those that the run could use.
func (b *lossBuilder) unused(cores int, run float64) {
	if cores <= 0 {
		return
	}
	b.add(lossKey{term: TermSerial, section: profile.None, name: NeverUsed}, float64(cores)*run,
		func() LossPlace { return LossPlace{Section: profile.None, Why: NeverUsed, Cores: cores} }, nil)
}

// outside charges core time that no section holds. Code that ran, but is part of no section, ran
// while threads were on their way into regions, and while no thread was in a section, as far as
// there was such a time; then, while those of parallel sections left cores over; and only then
// beside a thread that worked alone.
func (b *lossBuilder) outside(t *timeline) {
	left := max(0, b.ranElsewhere(t)-t.opening)
	ran := min(left, t.nobody)
	for _, alone := range []bool{false, true} {
		ran += b.takeBack(left-ran, alone)
	}
	b.unknown(TermSerial, ran, ranElsewhere)
	b.unknown(TermSerial, t.nobody-min(left, t.nobody), nobodyThere)
}

// ranElsewhere is for how long code ran that is part of no section: by the account of the threads'
// instructions, or what the collector counted beyond the sections' parts.
func (b *lossBuilder) ranElsewhere(t *timeline) float64 {
	time := float64(b.r.meta.CoreTime)
	if sums := b.r.tab.Account(); sums[profile.Executed] > 0 {
		return min(t.absent+t.opening, time*ratio(float64(sums[profile.OutNoSection]), float64(sums[profile.Executed])))
	}
	return min(t.absent+t.opening, max(0, time-t.busy))
}

// takeBack takes so much from the cores that had no thread while those of parallel sections, or of
// stretches of one thread alone, were there: as much of each, and no more than there is.
func (b *lossBuilder) takeBack(time float64, alone bool) float64 {
	taken := min(time, b.absent[alone])
	left := 1 - ratio(taken, b.absent[alone])
	for k, p := range b.rows[TermSerial] {
		if b.alone[k.section] != alone {
			continue
		}
		p.Time *= left
		for id := range b.byName[k] {
			b.byName[k][id] *= left
		}
	}
	return taken
}
