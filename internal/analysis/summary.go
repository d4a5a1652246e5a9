package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lime/internal/profile"
)

// summary is what one pass over a section's instances keeps: times, no counts.
type summary struct {
	id        profile.SectionID
	kind      profile.SectionKind
	instances int
	points    []timing // one for each instance, by Seq
	threads   map[profile.ThreadID]*ThreadTotal
	time      float64 // sum of T_max
	span      float64 // sum of n x T_max
	lost      float64 // sum of waits
	win       float64 // sum of T_max - mean
	own       float64 // sum of t_i
	lock, off float64
	whole     float64                      // sum of n x (last release - first release)
	length    float64                      // sum of last release - first release
	away      float64                      // of whole: what is more than n x T_max, in which even who worked longest had nothing to do
	min, max  int                          // threads
	together  crews                        // how many were there until an instance's end
	cores     int                          // that the run had, 0 = one for each thread
	helpers   map[profile.ThreadID]float64 // that are no member of it: for how long they ran
	helping   spanPacker
	worst     InstanceDetail
	spans     spanPacker
	runs      []spanRun         // of spans, when all have been read
	helped    []spanRun         // of helping, likewise
	begins    bool              // its instances may begin as parallel regions do (opening.go), and then:
	parts     spanPacker        // the spans, those of an instance side by side
	costs     map[int32]float64 // by event
	alone     float64           // of a serial one: without the time in which others worked
	loss      lossParts
	luck      luck
	samples   float64 // of recorded profiles
	wasted    map[wastedKey]uint64
	stretches cover // from the first release to the last one of each instance of two or more threads
}

// timing is one instance's figures.
type timing struct {
	seq, n     int // n: cores that its threads can keep busy
	lost, time float64
}

func (t *timing) mean() float64 { return t.time - t.lost/float64(t.n) }

func (t *timing) imbalance() float64 {
	if t.time == 0 {
		return 0
	}
	return t.lost / (t.time * float64(t.n))
}

// summarise reads the times of all instances of a section.
func summarise(r *runner, id profile.SectionID) (*summary, error) {
	src := r.raw
	s := &summary{id: id, kind: src.Tables().Sections[id].Kind, cores: r.meta.Cores,
		threads: map[profile.ThreadID]*ThreadTotal{}, helpers: map[profile.ThreadID]float64{}}
	s.worst.Seq = -1
	s.begins = mayOpen(src.Tables(), s.kind)
	s.parts.asTheyCome = true
	s.points = make([]timing, 0, src.InstanceCount(id))
	for in, err := range src.Instances(id) {
		if err != nil {
			return nil, fmt.Errorf("section %d: instance %d: %w", id, s.instances, err)
		}
		if err := checkParts(in, len(src.Tables().Threads)); err != nil {
			return nil, fmt.Errorf("section %d: instance %d: %w", id, in.Seq, err)
		}
		if len(in.Parts) > 0 {
			s.read(r, in)
		}
	}
	s.runs, s.helped = s.spans.finish(), s.helping.finish()
	return s, nil
}

// read takes an instance.
func (s *summary) read(r *runner, in *profile.Instance) {
	helpers := r.sharing.helpers(s.kind, in)
	s.help(in, helpers)
	s.loss.addRuntime(r.lossTab, in)
	s.addCosts(in.Costs, len(r.tab.Events))
	s.addWasted(r.lossTab, in)
	s.addSamples(r.tab, in)
	in = without(in, helpers)
	s.add(in)
	s.loss.add(r.lossTab, in)
}

// help notes the helpers of an instance. They run now and then until its end, and no core is kept
// for them.
func (s *summary) help(in *profile.Instance, helpers []bool) {
	end := uint64(0)
	for i := range in.Parts {
		end = max(end, in.Parts[i].Arrive)
	}
	for i, is := range helpers {
		if is {
			p := &in.Parts[i]
			s.helpers[p.Thread] += ran(p)
			s.helping.add(span{thread: p.Thread, section: s.id, lo: p.Start, hi: end, end: end, useful: ran(p), helper: true})
		}
	}
}

// checkParts refuses times that run backwards and threads that do not exist.
func checkParts(in *profile.Instance, threads int) error {
	for i := range in.Parts {
		p := &in.Parts[i]
		if p.Arrive < p.Start {
			return fmt.Errorf("part %d arrives at %d, before its start at %d", i, p.Arrive, p.Start)
		}
		if p.Thread < 0 || int(p.Thread) >= threads {
			return fmt.Errorf("part %d: there is no thread %d", i, p.Thread)
		}
	}
	return nil
}

func (s *summary) add(in *profile.Instance) {
	t := times(in)
	tm := timed(in, t, s.cores)
	s.instances++
	s.points = append(s.points, tm)
	s.time, s.lost, s.win = s.time+tm.time, s.lost+tm.lost, s.win+tm.time-tm.mean()
	s.span += float64(tm.n) * tm.time
	s.luck.add(in, tm)
	s.min = cmp.Or(s.min, len(t))
	s.min, s.max = min(s.min, len(t)), max(s.max, len(t))
	if s.worst.Seq < 0 || tm.lost > s.worst.LostTime {
		s.worst = detail(in, t, tm)
	}
	whole := stretch{lo: in.Parts[0].Start}
	for i := range in.Parts {
		p := &in.Parts[i]
		whole.lo, whole.hi = min(whole.lo, p.Start), max(whole.hi, p.Arrive, p.Release)
		s.addPart(p, t[i], tm.time)
	}
	s.together.add(stayed(in, s.kind), tm.time)
	length := float64(whole.hi - whole.lo)
	s.length += length
	s.whole, s.away = s.whole+float64(tm.n)*length, s.away+float64(tm.n)*(length-tm.time)
	if len(t) > 1 {
		s.stretches.add(whole)
	}
}

// crews says for how long how many threads met at the ends of a section's instances.
type crews map[int]float64

func (c *crews) add(n int, time float64) {
	if *c == nil {
		*c = crews{}
	}
	(*c)[n] += time
}

// width is the largest number that met for more than a moment: who comes once, as main does that
// starts the others, is none of them.
func (c crews) width() int {
	all, most := 0.0, 0.0
	for _, t := range c {
		all += t
	}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(c))) {
		if most += c[n]; most >= briefly*all {
			return n
		}
	}
	return 0
}

// stayed counts the threads that met at an instance's end. The end of the program is none where
// those meet that ended long before.
func stayed(in *profile.Instance, kind profile.SectionKind) (n int) {
	if kind != profile.SectionTail {
		return len(in.Parts)
	}
	last := uint64(0)
	for i := range in.Parts {
		last = max(last, in.Parts[i].Arrive)
	}
	for i := range in.Parts {
		if in.Parts[i].Release >= last {
			n++
		}
	}
	return n
}

func (s *summary) addPart(p *profile.Part, t, longest float64) {
	tt := s.threads[p.Thread]
	if tt == nil {
		tt = &ThreadTotal{Thread: p.Thread}
		s.threads[p.Thread] = tt
	}
	tt.Instances++
	tt.Time, tt.Wait = tt.Time+t, tt.Wait+longest-t
	tt.LockWait, tt.OffCPU = tt.LockWait+float64(p.LockWait), tt.OffCPU+float64(p.OffCPU)
	if t == longest && longest > 0 {
		tt.Last++
	}
	s.own, s.lock, s.off = s.own+t, s.lock+float64(p.LockWait), s.off+float64(p.OffCPU)
	x := partSpan(s.id, p)
	s.spans.add(x)
	if s.begins {
		s.parts.add(x)
	}
}

// times returns the execution times of an instance's parts.
func times(in *profile.Instance) []float64 {
	t := make([]float64, len(in.Parts))
	for i := range in.Parts {
		t[i] = float64(in.Parts[i].Time())
	}
	return t
}

// timed is what an instance's threads lose because they differ: what could be won by giving the same
// work out evenly to the cores that there are. With more threads than cores, that is no more than
// what keeps the cores from being busy all the time.
func timed(in *profile.Instance, t []float64, cores int) timing {
	tm := timing{seq: in.Seq, n: len(t), time: slices.Max(t)}
	for _, x := range t {
		tm.lost += tm.time - x
	}
	if cores <= 0 || cores >= len(t) {
		return tm
	}
	win := tm.lost / float64(tm.n)
	tm.n = cores
	spare := tm.time * float64(cores)
	for i := range in.Parts {
		spare -= ran(&in.Parts[i])
	}
	tm.lost = max(0, min(win*float64(cores), spare))
	return tm
}

func detail(in *profile.Instance, t []float64, tm timing) InstanceDetail {
	d := InstanceDetail{Seq: in.Seq, Imbalance: tm.imbalance(), LostTime: tm.lost, Times: t}
	for i := range in.Parts {
		d.Threads = append(d.Threads, in.Parts[i].Thread)
		d.Waits = append(d.Waits, tm.time-t[i])
	}
	return d
}

// serial reports whether there is nobody to balance with.
func (s *summary) serial() bool { return s.kind == profile.SectionSerial || s.max < 2 }

// section turns the summary into the section's figures.
func (s *summary) section(r *runner, w *Whole) Section {
	row := &r.tab.Sections[s.id]
	sec := Section{
		ID: s.id, Kind: string(s.kind), EndsAt: r.prog.sectionPlace(row), Starts: r.prog.framesPlace(row.Starts),
		LostTime: s.lost, TimeToWin: s.win, Time: s.time, ThreadsMin: s.min, ThreadsMax: s.max,
		InstanceCount: s.instances, Worst: s.worst, Threads: s.threadTotals(r.tab),
	}
	if s.serial() {
		sec.Time = s.alone // others may have worked at the same time
	}
	sec.Imbalance = ratio(s.lost, s.span)
	sec.LostShare = s.lostShare(w)
	sec.WinShare, sec.TimeShare = ratio(s.win, w.RunTime), ratio(sec.Time, w.RunTime)
	sec.Speedup = ratio(s.time, s.time-s.win)
	sec.LockShare, sec.OffCPUShare = ratio(s.lock, s.own), ratio(s.off, s.own)
	sec.AwayShare, sec.IdleShare = ratio(s.away, s.whole), ratio(s.away+s.lost, s.whole)
	sec.Chance, sec.chanceLost, sec.Host = s.luck.win, s.luck.lost, s.luck.times()
	sec.helpers = s.helpers
	sec.Course, sec.Wasted = course(s.points), s.wastes(r.tab.Kinds)
	return sec
}

// lostShare is the lost time as a share of what the processors could have done. More threads than
// processors lose no more than there is.
func (s *summary) lostShare(w *Whole) float64 {
	return ratio(s.lost, w.RunTime*w.cores(s))
}

func (s *summary) threadTotals(tab *profile.Tables) []ThreadTotal {
	out := make([]ThreadTotal, 0, len(s.threads))
	for _, t := range s.threads {
		t.Name = threadName(tab, t.Thread)
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b ThreadTotal) int { return cmp.Compare(a.Thread, b.Thread) })
	return out
}

func threadName(tab *profile.Tables, id profile.ThreadID) string {
	if id >= 0 && int(id) < len(tab.Threads) {
		return tab.Threads[id].Name
	}
	return ""
}

// ratio is a/b, 0 if there is no b.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}
