package analysis

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/profile"
)

// explain looks for a section's causes.
func (r *runner) explain(sec *Section, s *summary) error {
	acc := r.openAccount(sec.ID)
	defer acc.wait()
	r.often = nil
	chosen := choose(s.points, r.opt.MaxInstances)
	outs, err := r.outcomes(s, chosen, keepMatrices)
	if err != nil {
		return err
	}
	sec.AnalysedCount = len(outs)
	for _, o := range outs {
		sec.AnalysedShare += ratio(o.timing.lost, s.lost)
	}
	sec.Events, sec.Explained = averages(outs)
	for _, o := range outs {
		sec.samples += o.samples / float64(len(outs))
	}
	for _, c := range r.combine(outs) {
		c.WinShare = ratio(c.TimeToWin, float64(r.meta.RunTime))
		switch {
		case c.PFamily < r.opt.Alpha:
			sec.Causes = append(sec.Causes, *c)
		case c.Score >= leastScore:
			sec.Candidates = append(sec.Candidates, *c)
		}
	}
	rank(sec.Causes, r.opt)
	rank(sec.Candidates, r.opt)
	sec.Unexplained = 1 - sec.Explained.Value
	if err := r.account(sec, acc); err != nil {
		return err
	}
	sec.Causes = sec.Causes[:min(len(sec.Causes), maxCauses)]
	sec.Candidates = sec.Candidates[:min(len(sec.Candidates), maxCandidates)]
	if err := r.details(sec, s, chosen, outs); err != nil {
		return err
	}
	r.join(sec)
	sec.sayLuck()
	r.shareIntervals(sec, sec.draws)
	return nil
}

// Causes and candidates that are kept; those beyond weigh least.
const (
	maxCauses     = 100
	maxCandidates = 30
)

// details explains the causes that are to be shown.
func (r *runner) details(sec *Section, s *summary, chosen []choice, outs []*outcome) error {
	var shown []*Cause
	for _, list := range [][]Cause{sec.Causes, sec.Candidates} {
		for i := range list {
			if list[i].from != nil {
				shown = append(shown, &list[i])
			}
		}
	}
	if err := r.reread(shown, s, chosen); err != nil {
		return err
	}
	total, again := totalWeight(outs), newResampler(outs, r.opt.Alpha)
	for _, c := range shown {
		again.judge(c)
		if g := c.from; g.keptIn != nil {
			r.describe(c, g.kept)
			r.detail(c, g.kept, g.keptIn, sec.InstanceCount)
		}
		c.missing(outs, total)
	}
	for i := range sec.Causes {
		if c := &sec.Causes[i]; c.from == nil {
			r.surround(c, outs)
		}
	}
	return nil
}

// surround tells what leads to a cause that only the account knows, and what varies with it, from
// the instance with the most weight that was kept.
func (r *runner) surround(c *Cause, outs []*outcome) {
	var o *outcome
	for _, x := range outs {
		if x.m != nil && (o == nil || x.weight > o.weight) {
			o = x
		}
	}
	if o == nil || len(c.Nodes) == 0 {
		return
	}
	c.Paths = r.paths(o, finding{node: int32(c.Nodes[0])})
	if cluster, ok := r.clusterOf(o, c); ok {
		c.Members = r.memberLines(o, cluster)
		c.Rivals = r.accountRivals(o, c, cluster)
	}
}

func totalWeight(outs []*outcome) float64 {
	total := 0.0
	for _, o := range outs {
		total += o.weight
	}
	return total
}

// averages are means over the outcomes: of the statistics plain, of R^2 by weight.
func averages(outs []*outcome) (st EventStats, r2 Interval) {
	total := 0.0
	for _, o := range outs {
		n := float64(len(outs))
		for _, f := range []struct{ to, from *float64 }{
			{&st.Total, &o.stats.Total}, {&st.Constant, &o.stats.Constant}, {&st.Caused, &o.stats.Caused},
			{&st.Kept, &o.stats.Kept}, {&st.Distinct, &o.stats.Distinct}, {&st.Clusters, &o.stats.Clusters},
			{&st.Control, &o.stats.Control}, {&st.Hardware, &o.stats.Hardware}, {&st.Predictors, &o.stats.Predictors},
		} {
			*f.to += *f.from / n
		}
		total += o.weight
	}
	for _, o := range outs {
		w := ratio(o.weight, total)
		r2.Value, r2.Lo, r2.Hi = r2.Value+w*o.r2.Value, r2.Lo+w*o.r2.Lo, r2.Hi+w*o.r2.Hi
	}
	return st, r2
}

// gathered is a cause while its findings are put together.
type gathered struct {
	cause  *Cause
	best   finding // in the instance where it weighs most
	in     *outcome
	weigh  float64
	pByIns []float64 // family-wise p of each instance in which it was found
	kept   finding   // the best finding in an instance whose events were kept
	keptIn *outcome
}

// combine merges the findings of all instances by source line.
func (r *runner) combine(outs []*outcome) []*Cause {
	total := totalWeight(outs)
	found := map[causeKey]*gathered{} // iterated by order only
	var order []causeKey
	for _, o := range outs {
		for key, f := range bestByKey(o.findings) {
			if found[key] == nil {
				found[key] = &gathered{cause: &Cause{P: 1, PFamily: 1, key: key}}
				order = append(order, key)
			}
			found[key].add(o, f, ratio(o.weight, total))
		}
	}
	slices.SortFunc(order, compareKeys)
	out := make([]*Cause, 0, len(order))
	for _, key := range order {
		g := found[key]
		g.cause.PFamily, g.cause.from = overInstances(g.pByIns, len(outs)), g
		r.describe(g.cause, g.best)
		out = append(out, g.cause)
	}
	return out
}

// maxReread is the number of instances read once more to explain causes that the heaviest ones do
// not show.
const maxReread = 8

// reread analyses again the instances in which causes weigh most whose events were not kept.
func (r *runner) reread(shown []*Cause, s *summary, chosen []choice) error {
	seqs := map[int]bool{}
	for _, c := range shown {
		if c.from.keptIn == nil && len(seqs) < maxReread {
			seqs[c.from.in.seq] = true
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	outs, err := r.outcomes(s, slices.DeleteFunc(slices.Clone(chosen), func(c choice) bool { return !seqs[s.points[c.index].seq] }), maxReread)
	if err != nil {
		return err
	}
	for _, o := range outs {
		again := bestByKey(o.findings)
		for _, c := range shown {
			if f, ok := again[c.key]; ok && c.from.keptIn == nil && c.from.in.seq == o.seq {
				c.from.kept, c.from.keptIn = f, o
			}
		}
	}
	return nil
}

func compareKeys(a, b causeKey) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.addr, b.addr),
		compareBool(a.hw, b.hw), cmp.Compare(a.kind, b.kind), cmp.Compare(a.deal, b.deal))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// bestByKey keeps the finding with the highest score for each line: several leaders on one line are
// one cause.
func bestByKey(fs []finding) map[causeKey]finding {
	best := map[causeKey]finding{}
	for _, f := range fs {
		b, ok := best[f.key]
		switch {
		case !ok || f.score > b.score:
			f.name = cmp.Or(loopOf(b, f), f.name)
			best[f.key] = f
		case f.name == EventLoop && b.name != EventLoop:
			b.name = EventLoop
			best[f.key] = b
		}
	}
	return best
}

func loopOf(a, b finding) string {
	if a.name == EventLoop || b.name == EventLoop {
		return EventLoop
	}
	return ""
}

// add takes one instance's finding, with the instance's share of the weight.
func (g *gathered) add(o *outcome, f finding, w float64) {
	c := g.cause
	c.Score += w * f.score
	c.Beta += w * f.beta
	c.Correlation += w * f.corr
	c.P = math.Min(c.P, f.p)
	c.StableThreads += w * f.stable
	lo, hi := f.r2Bounds(o.threads, len(o.model.Steps))
	c.R2.Value, c.R2.Lo, c.R2.Hi = c.R2.Value+w*f.r2, c.R2.Lo+w*lo, c.R2.Hi+w*hi
	c.TimeToWin += f.win * ratio(o.weight, o.timing.lost)
	c.Instances = append(c.Instances, InstanceScore{Seq: o.seq, Weight: w, Imbalance: o.timing.imbalance(),
		Score: f.score, Beta: f.beta, P: f.p, R2: f.r2})
	g.pByIns = append(g.pByIns, f.pFam)
	if g.in == nil || w*f.score > g.weigh {
		g.best, g.in, g.weigh = f, o, w*f.score
	}
	if o.m != nil && (g.keptIn == nil || o.timing.lost > g.keptIn.timing.lost) {
		g.kept, g.keptIn = f, o
	}
}

// missing adds the instances in which the cause was not found, so that the course of its score is
// whole.
func (c *Cause) missing(outs []*outcome, total float64) {
	have := map[int]bool{}
	for _, i := range c.Instances {
		have[i.Seq] = true
	}
	for _, o := range outs {
		if !have[o.seq] {
			c.Instances = append(c.Instances, InstanceScore{Seq: o.seq, Weight: ratio(o.weight, total), Imbalance: o.timing.imbalance(), P: 1})
		}
	}
	slices.SortFunc(c.Instances, func(a, b InstanceScore) int { return cmp.Compare(a.Seq, b.Seq) })
}

// overInstances joins the p values that a cause got in some of n instances, whatever depends on
// whatever: twice the smaller of n times the smallest and of twice the median.
func overInstances(ps []float64, n int) float64 {
	all := slices.Clone(ps)
	for len(all) < n {
		all = append(all, 1)
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	if len(all) == 1 {
		return all[0]
	}
	return math.Min(1, 2*math.Min(float64(n)*all[0], 2*all[len(all)/2]))
}

// r2Bounds are the confidence bounds of the variance that the finding's cluster adds.
func (f *finding) r2Bounds(n, predictors int) (lo, hi float64) {
	return squaredBounds(f.r2, n, max(0, predictors-1))
}

// rank orders causes by score and numbers them.
func rank(cs []Cause, opt Options) {
	sortCauses(cs, func(a, b *Cause) int { return cmp.Compare(b.Score, a.Score) })
	for i := range cs {
		cs[i].Rank = i + 1
		cs[i].Important = cs[i].Score > opt.MinScore
	}
}

// sortCauses sorts causes, which are large, without moving any of them more than twice. The order
// of equal ones stays.
func sortCauses(cs []Cause, compare func(a, b *Cause) int) {
	order := make([]*Cause, len(cs))
	for i := range cs {
		order[i] = &cs[i]
	}
	slices.SortStableFunc(order, compare)
	sorted := make([]Cause, len(cs))
	for i, c := range order {
		sorted[i] = *c
	}
	copy(cs, sorted)
}

// describe says what and where the cause is.
func (r *runner) describe(c *Cause, f finding) {
	c.Family, c.Event = FamilyControl, f.name
	if f.key.hw {
		c.Family = FamilyHardware
		c.Place = r.prog.eventPlace(&r.tab.Events[f.event])
		c.Title = cmp.Or(r.kindTitle(f.key.kind), f.name)
		return
	}
	c.Place = r.prog.nodePlace(profile.NodeID(f.node))
	if f.name == EventVisit {
		c.Place = r.prog.visitPlace(profile.NodeID(f.node))
	}
	c.Title = controlTitles[f.name]
	c.Nodes = []profile.NodeID{profile.NodeID(f.node)}
	if f.edge >= 0 {
		c.Callee = r.prog.callee(f.edge)
		c.Recursive = r.prog.s.Recur[f.edge] && isCall(r.prog.edges[f.edge].Kind)
	}
}

var controlTitles = map[string]string{
	EventBranch: "branch", EventLoop: "loop iterations", EventCall: "calls", EventTask: "tasks",
	EventReturn: "returns", EventEntry: "work of its own", EventChunk: "chunks",
	EventJump: "jump", EventVisit: "samples of this place",
}

func (r *runner) kindTitle(k int32) string {
	if k >= 0 && int(k) < len(r.tab.Kinds) {
		return r.tab.Kinds[k].Title
	}
	return ""
}

// callee is the name of the function that a call edge enters, "" for other edges.
func (p *program) callee(edge int32) string {
	e := &p.edges[edge]
	if !isCall(e.Kind) || e.To < 0 || int(e.To) >= len(p.tab.Nodes) {
		return ""
	}
	if f := p.tab.Nodes[e.To].Function; f >= 0 && int(f) < len(p.tab.Functions) {
		return p.tab.Functions[f].Name
	}
	return ""
}
