package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

// isSampled reports whether a profile knows samples and call paths instead of counts.
func (r *runner) isSampled() bool {
	return r.meta.CountLabel == profile.Sampled && r.meta.NodeTime == "stored"
}

func sumOf(t []float64) (s float64) {
	for _, x := range t {
		s += x
	}
	return s
}

// pathTimes is the time of each call path of a section, by thread.
func (r *runner) pathTimes(id profile.SectionID, of *teams) (map[profile.PathID]map[profile.ThreadID]float64, []profile.PathID) {
	out, order := map[profile.PathID]map[profile.ThreadID]float64{}, []profile.PathID(nil)
	for i := range r.tab.PathSamples {
		s := &r.tab.PathSamples[i]
		if s.Section != id || s.Metric != "time" && s.Metric != profile.MetricHeld || s.Path < 0 {
			continue
		}
		if out[s.Path] == nil {
			out[s.Path] = map[profile.ThreadID]float64{}
			order = append(order, s.Path)
		}
		out[s.Path][of.of(s.Thread)] += s.Value
	}
	slices.Sort(order)
	return out, order
}

// explainSampled looks for a section's causes in samples: it goes inwards from where all threads
// pass to where the uneven time is spent, through calls, loops and branches, and names the boundary
// at which it begins to be uneven.
func (r *runner) explainSampled(sec *Section) error {
	w, err := r.gather(sec.ID)
	if err != nil {
		return err
	}
	sec.AnalysedCount, sec.AnalysedShare = sec.InstanceCount, 1
	if w.tasks.cause(r, sec) {
		return nil
	}
	if w.n < leastSamples && len(w.waits) == 0 || w.s2 == 0 || w.doubtful() {
		r.tooFew = append(r.tooFew, sec.ID)
		r.unproved[sec.ID] = !w.proof().any()
		return nil
	}
	ps := r.procs()
	root := &part{ends: true}
	r.fill(ps, root, w, sec.ID)
	ps.markEnd(root, r.tab.Sections[sec.ID].EndNode)
	steady := w.steady()
	if r.wanders(sec.ID) {
		return nil
	}
	defer func(all []ThreadTotal) { sec.Threads = all; w.teams.verdict(sec) }(sec.Threads)
	sec.Threads = w.teams.totals(sec.Threads)
	proof := w.proof()
	blocked := r.lockCauses(sec, w, proof)
	walk := &walker{ps: ps, total: root.m, once: w.parts == len(w.threads), sums: steady,
		loop: func(b boundary) length { return w.trips.judge(b.node, ps.exits(b), steady, w) }}
	if root.m.cov > 0 && blocked < 1-worthOf {
		walk.walk(root, nil)
	}
	walk.onCPU = 1 - blocked
	if steady && w.steadyShare() < mostlySteady { // only what is steady has been looked at
		walk.onCPU *= w.steadyLoss()
	}
	if walk.found, err = proof.proved(r, sec.ID, walk); err != nil {
		return err
	}
	if len(walk.found)+len(sec.Causes) == 0 && !proof.any() {
		r.noisy[sec.ID], r.unproved[sec.ID] = w.unproved(), true
		return nil
	}
	if blocked < 1-worthOf { // else it is not what runs that is uneven
		sec.Balance = r.balance(sec, ps, root, ratio(w.time, w.n))
	}
	if walk.price >= worthOf*max(root.m.cov, 0) && walk.price > 0 && proof.any() {
		r.dear[sec.ID] = dearCode{share: min(1, walk.price/root.m.cov*walk.onCPU), unsure: walk.unsure, at: dearest(r.prog, walk.prices)}
		if steady {
			r.eventCauses(sec, w, walk, r.dear[sec.ID].share)
		}
	}
	r.sampledCauses(sec, walk)
	return nil
}

// wanders reports whether the section is only what each thread did in all, and the program's work
// wandered between the threads.
func (r *runner) wanders(id profile.SectionID) bool {
	return r.tab.Sections[id].Kind == profile.SectionTail &&
		slices.ContainsFunc(r.meta.Notes, func(n profile.Note) bool { return n.Code == profile.NoteGoroutines })
}

// leastSamples in all threads and instances of a section are too few to look for causes.
const leastSamples = 24

func (r *runner) procs() *procs {
	if r.graphs == nil {
		r.graphs = newProcs(r.tab)
	}
	return r.graphs
}

// fill puts the section's samples into the tree of parts. Where the threads keep their roles over
// the instances, the call paths of each thread say exactly what is uneven; where the roles change,
// a block's unevenness is divided among the paths that lead to it.
func (r *runner) fill(ps *procs, root *part, w *rows, id profile.SectionID) {
	times, order := r.pathTimes(id, w.teams)
	period := ratio(w.time, w.n)
	leaf := map[profile.NodeID]float64{}
	for _, p := range order {
		leaf[r.tab.Paths[p].Node] += sum(times[p])
	}
	steady := w.steady()
	for _, p := range order {
		v := r.tab.Paths[p].Node
		m, share := w.blocks[v], ratio(sum(times[p]), leaf[v])
		if steady {
			m, share = w.ofThreads(times[p], period), 1
		}
		if m.n > 0 {
			ps.insert(root, ps.rooted(ps.frames(p)), m, share, times[p])
		}
	}
}

func sum(m map[profile.ThreadID]float64) float64 {
	s := 0.0
	for _, id := range slices.Sorted(maps.Keys(m)) {
		s += m[id]
	}
	return s
}

// ofThreads is the mass of a path from its time in each thread, by the threads' mean deviation.
func (w *rows) ofThreads(times map[profile.ThreadID]float64, period float64) mass {
	var m mass
	for _, id := range slices.Sorted(maps.Keys(times)) {
		n, x := ratio(times[id], period), w.thread(id).dev/w.instances()*period
		m.add(mass{n: n, cov: x * n, vari: x * x * n}, 1)
	}
	return m
}

// markEnd marks the parts that hold the section's end: all threads come there.
func (ps *procs) markEnd(root *part, end profile.NodeID) {
	if end < 0 || int(end) >= len(ps.tab.Nodes) {
		return
	}
	f := ps.tab.Nodes[end].Function
	var mark func(q *part)
	mark = func(q *part) {
		for _, k := range q.kids {
			if k.b.node >= 0 && k.b.kind != boundLeaf && ps.holds(k, f, end) {
				k.ends = true
				for u := k.up; u != nil; u = u.up {
					u.ends = true
				}
			}
			mark(k)
		}
	}
	mark(root)
}

// holds reports whether a loop or branch of the function in which the section ends lies around its
// end.
func (ps *procs) holds(k *part, f profile.FunctionID, end profile.NodeID) bool {
	if ps.tab.Nodes[k.b.node].Function != f || k.b.kind != boundLoop && k.b.kind != boundBranch {
		return false
	}
	return slices.Contains(ps.chain(end), k.b)
}

// lockCauses makes causes of the waits, for locks or off the core, that explain a share of the
// uneven time, and returns the share of all waits. A wait for other threads makes who waits later
// than the others in any case, now one and now another: if that is all, and little, it is no cause
// why threads differ.
func (r *runner) lockCauses(sec *Section, w *rows, proof proof) float64 {
	shares, all := w.waitShares(), 0.0
	for _, e := range slices.Sorted(maps.Keys(shares)) {
		share := shares[e]
		all += share
		ev := &r.tab.Events[e]
		if share < worthOf || waitsForThreads(r.prog.kindName(ev.Kind)) && !proof.any() && w.waits[e].n < leastPaid*w.time {
			continue
		}
		c := Cause{Family: FamilyHardware, Event: r.prog.kindName(ev.Kind), Title: r.kindTitle(ev.Kind), Place: r.prog.eventPlace(ev),
			Score: min(1, share), Share: &share, Beta: share, R2: Interval{share, share, share}, Nodes: []profile.NodeID{ev.Node},
			key: causeKey{lineKey: frameKey(ev.Frames, ev.Addr), hw: true, kind: ev.Kind}, Summed: true, CountTime: true}
		for _, t := range sec.Threads {
			c.Threads = append(c.Threads,
				ThreadCount{Thread: t.Thread, Name: t.Name, Count: uint64(w.thread(t.Thread).waits[e]), Time: t.Time, Wait: t.Wait})
		}
		c.Correlation = correlation(c.Threads)
		byCount := func(a, b ThreadCount) int { return cmp.Compare(a.Count, b.Count) }
		hi, lo := slices.MaxFunc(c.Threads, byCount), slices.MinFunc(c.Threads, byCount)
		c.Sentence = fmt.Sprintf(waitSentence(c.Event), hi.Thread, unit.Nanos(hi.Count), lo.Thread, unit.Nanos(lo.Count))
		sec.Causes = append(sec.Causes, c)
	}
	return max(0, min(1, all))
}

// waitSentence says how long two threads wait, by the kind of wait.
func waitSentence(kind string) string {
	sentences := map[string]string{
		"lock-wait":            "Thread %d waits %v for the lock here, thread %d %v.",
		profile.KindPermitWait: "Thread %d waits %v here for a lock or semaphore that others hold, thread %d %v.",
		"work-wait":            "Thread %d waits %v for others' work here, thread %d %v.",
		"sleep":                "Thread %d sleeps for %v here, thread %d for %v.",
		"io":                   "Thread %d waits %v for input or output here, thread %d %v.",
	}
	if s, ok := sentences[kind]; ok {
		return s
	}
	return "Thread %d is off its core for %v here, thread %d for %v."
}

// sampledCauses turns what the walk has found into causes.
func (r *runner) sampledCauses(sec *Section, walk *walker) {
	byKey := map[causeKey]int{}
	for _, f := range walk.found {
		c := r.sampledCause(sec, walk, f)
		if i, ok := byKey[c.key]; ok {
			old := &sec.Causes[i]
			old.Score += c.Score
			*old.Share += *c.Share
			continue
		}
		byKey[c.key] = len(sec.Causes)
		sec.Causes = append(sec.Causes, *c)
	}
	for i := range sec.Causes {
		c := &sec.Causes[i]
		c.Score, *c.Share = min(c.Score, 1), min(*c.Share, 1)
		c.TimeToWin = *c.Share * sec.TimeToWin
		c.LedgerTime = c.TimeToWin
		c.WinShare = ratio(c.TimeToWin, float64(r.meta.RunTime))
	}
	rank(sec.Causes, r.opt)
	sec.Explained = Interval{}
	for i := range sec.Causes {
		sec.Explained.Value = min(1, sec.Explained.Value+*sec.Causes[i].Share)
	}
	sec.Explained.Lo, sec.Explained.Hi = sec.Explained.Value, sec.Explained.Value
	sec.Unexplained = 1 - sec.Explained.Value
}

func (r *runner) sampledCause(sec *Section, walk *walker, f *found) *Cause {
	whole := max(walk.total.cov, 1e-300)
	b := f.cause.b
	share := max(0, f.m.cov/whole) * walk.onCPU
	se := math.Sqrt(walk.variance(f.m)) / whole
	c := &Cause{Family: FamilyControl, Event: boundEvents[b.kind], P: 1, Score: share, Share: &share, Beta: share,
		R2: Interval{Value: min(1, share), Lo: max(0, min(1, share-1.96*se)), Hi: min(1, share+1.96*se)}}
	c.Title = controlTitles[c.Event]
	c.Place = r.prog.nodePlace(b.node)
	c.key = causeKey{lineKey: r.prog.nodeKey(b.node)}
	c.Nodes = []profile.NodeID{b.node}
	if se > 0 {
		c.P = math.Erfc(share / se / math.Sqrt2)
	} else {
		c.P = 0
	}
	c.PFamily = c.P
	if b.kind == boundCall || b.kind == boundRecursion {
		if b.callee >= 0 {
			c.Callee = r.tab.Functions[b.callee].Name
		}
		c.Recursive = b.kind == boundRecursion
	}
	c.Threads, c.Summed, c.CountTime = r.sampledThreads(sec, f.cause), true, true
	c.Correlation = correlation(c.Threads)
	c.Sentence = r.sampledSentence(c)
	c.Agreement = r.doubt(f)
	return c
}

var boundEvents = map[boundaryKind]string{
	boundCall: EventCall, boundRecursion: EventCall, boundBranch: EventBranch, boundLoop: EventLoop, boundLeaf: EventVisit,
}

// sampledThreads puts the time inside of the cause, as the samples in it stand for it, beside the
// threads' times.
func (r *runner) sampledThreads(sec *Section, q *part) []ThreadCount {
	out := make([]ThreadCount, 0, len(sec.Threads))
	for _, t := range sec.Threads {
		out = append(out, ThreadCount{Thread: t.Thread, Name: t.Name, Count: uint64(math.Round(q.threads[t.Thread])), Time: t.Time, Wait: t.Wait})
	}
	return out
}

// sampledSentence explains the cause.
func (r *runner) sampledSentence(c *Cause) string {
	if len(c.Threads) == 0 {
		return ""
	}
	byCount := func(a, b ThreadCount) int { return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.Time, b.Time)) }
	hi, lo := slices.MaxFunc(c.Threads, byCount), slices.MinFunc(c.Threads, byCount)
	what := map[string]string{EventBranch: "behind this branch", EventLoop: "in this loop", EventCall: "in this call",
		EventVisit: "here"}[c.Event]
	if c.Recursive {
		what = "in the recursion that begins with this call"
	}
	if c.Callee != "" {
		what += " of " + c.Callee
	}
	return fmt.Sprintf("By samples, thread %d spends %v %s, thread %d %v; outside of it the threads' times are even, "+
		"or too short for samples to tell.",
		hi.Thread, unit.Nanos(hi.Count), what, lo.Thread, unit.Nanos(lo.Count))
}

// doubt names the boundaries that samples cannot tell apart from the cause.
func (r *runner) doubt(f *found) string {
	var words []string
	seen := map[lineKey]bool{r.prog.nodeKey(f.cause.b.node): true}
	for _, o := range f.others {
		k := r.prog.nodeKey(o.b.node)
		p := r.prog.nodePlace(o.b.node)
		if seen[k] || p.Line == 0 || len(words) == maxDoubts {
			continue
		}
		seen[k] = true
		words = append(words, fmt.Sprintf("%s:%d", baseName(p.File), p.Line))
	}
	return noteOf(words, f.vague)
}

// noteOf says what samples do not tell of a cause: which line it is, and whether it is a matter of
// counts at all.
func noteOf(rivals []string, vague bool) string {
	const counts = "hether the loop goes round more often in the threads that take longer, or its rounds take longer, these " +
		"samples do not tell"
	const exactly = "; 'lime simulate' counts exactly."
	if len(rivals) == 0 && vague {
		return "W" + counts + exactly
	}
	if len(rivals) == 0 {
		return ""
	}
	note := fmt.Sprintf("No samples fell between this line and %s, so it may as well be decided there", joinOr(rivals))
	if vague {
		note += "; and w" + counts
	}
	return note + exactly
}

const maxDoubts = 4

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func joinOr(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// sampledVerdicts says what samples cannot tell.
func (r *runner) sampledVerdicts(sec *Section) {
	if why, ok := r.noisy[sec.ID]; ok {
		sec.Verdicts = slices.DeleteFunc(sec.Verdicts, func(v Verdict) bool { return v.Code == "nothing-found" })
		sec.Verdicts = append(sec.Verdicts, Verdict{"noise", SeverityInfo, why})
	}
	if r.isSampled() && !sec.Balanced && r.wanders(sec.ID) {
		sec.Verdicts = slices.DeleteFunc(sec.Verdicts, func(v Verdict) bool { return v.Code == "nothing-found" })
		sec.Verdicts = append(sec.Verdicts, Verdict{"goroutines", SeverityWarn,
			"Goroutines wander between these threads, and where they wait for one another is not seen: the threads' " +
				"times are no measure of imbalance, and no cause was looked for. " +
				"What ran while processors had nothing to do is listed under Effort; 'lime simulate' finds the sections."})
	}
	if code, ok := r.dear[sec.ID]; ok {
		sec.Verdicts = slices.DeleteFunc(sec.Verdicts, func(v Verdict) bool { return v.Code == "nothing-found" })
		sec.Verdicts = append(sec.Verdicts, Verdict{"same-work", SeverityInfo, code.words()})
		if !code.unsure {
			sec.Slower = code.at
		}
	}
	if slices.Contains(r.tooFew, sec.ID) {
		sec.Verdicts = slices.DeleteFunc(sec.Verdicts, func(v Verdict) bool { return v.Code == "nothing-found" })
		sec.Verdicts = append(sec.Verdicts, Verdict{"too-few-samples", SeverityWarn,
			"Too few samples fell into this section to look for causes: let the program run longer, or sample more often (lime record -F 5000)."})
	}
}
