package analysis

import (
	"lime/internal/profile"
	"lime/internal/stat"
)

// finding is one leader, or one hardware event, in a cluster that the regression chose.
type finding struct {
	key     causeKey
	node    int32 // deciding block, None for hardware
	edge    int32 // its edge in the cluster with the highest correlation
	event   int32 // hardware event, None for control flow
	name    string
	timed   bool // hardware events whose counts are time
	cluster int32
	score   float64 // final score
	corr    float64
	beta    float64
	p, pFam float64
	r2      float64 // added by the cluster
	stable  float64
	win     float64
}

// causeKey names a cause across instances: a source line and what happens there.
type causeKey struct {
	lineKey
	hw   bool
	kind int32 // of the hardware event
	deal int   // the number of the loop whose pieces were dealt out
}

// outcome is what one instance gives.
type outcome struct {
	seq      int
	weight   float64 // lost time that it stands for
	timing   timing
	findings []finding
	stats    EventStats
	r2       Interval
	m        *matrix // of the heaviest instances only
	label    []int32 // group -> cluster
	clusters stat.Matrix
	choice   *stat.Selector // of the clusters
	model    stat.Model
	controls []bool
	threads  int
	samples  float64            // per thread
	lines    map[int32][]Member // by cluster, when asked for
	others   map[int32][]Rival
}

// minThreads is the number of threads below which there is nothing to regress.
const minThreads = 3

// analyse runs the method's steps on one instance.
func (r *runner) analyse(in *profile.Instance, weight float64) (*outcome, error) {
	o := &outcome{seq: in.Seq, weight: weight, timing: timed(in, times(in), r.meta.Cores), threads: len(in.Parts),
		lines: map[int32][]Member{}, others: map[int32][]Rival{}}
	m, err := newMatrix(r.prog, in, r.opt.Workers)
	if err != nil {
		return nil, err
	}
	o.m, o.samples = m, r.samples(in)
	if len(in.Parts) < minThreads || m.size == 0 {
		o.stats = m.stats
		return o, nil
	}
	o.cluster(r.opt)
	o.stats = m.stats
	o.regress(r.opt)
	r.find(o)
	return o, nil
}

// samples is the number of samples for each thread, in profiles that have some.
func (r *runner) samples(in *profile.Instance) float64 {
	n := 0.0
	if !r.prog.visits {
		return 0
	}
	for _, c := range in.Edges {
		if r.tab.Edges[c.Row].Kind == profile.EdgeVisit {
			n += float64(c.N)
		}
	}
	return n / float64(max(1, len(in.Parts)))
}

// cluster groups the events, classifies the clusters and makes their vectors.
func (o *outcome) cluster(opt Options) {
	x, w := o.m.x, o.m.weight
	label, k := stat.Cluster(x, w, stat.ClusterOptions{Threshold: opt.ClusterThreshold, Bulk: opt.BulkThreshold, Workers: opt.Workers})
	o.label, o.clusters, o.controls = label, stat.NewMatrix(k, x.N), make([]bool, k)
	for g, c := range label {
		stat.AddScaled(o.clusters.Row(int(c)), float64(w[g]), x.Row(g))
	}
	for c := range k {
		stat.Unit(o.clusters.Row(c))
	}
	for _, e := range o.m.events {
		if !e.hw {
			o.controls[label[e.group]] = true
		}
	}
	o.m.stats.Clusters = float64(k)
	for _, c := range o.controls {
		if c {
			o.m.stats.Control++
		}
	}
	o.m.stats.Hardware = o.m.stats.Clusters - o.m.stats.Control
}

// regress chooses the clusters that predict the times.
func (o *outcome) regress(opt Options) {
	o.choice = stat.NewSelector(o.m.t, o.clusters)
	o.model = o.choice.Select(opt.Alpha)
	k := len(o.model.Steps)
	o.stats.Predictors = float64(k)
	o.r2.Value = o.model.R2
	o.r2.Lo, o.r2.Hi = stat.SquaredInterval(o.model.R2, o.threads, max(0, k-1))
	if k == 0 {
		o.r2 = Interval{}
	}
}

// find turns the chosen clusters into findings.
func (r *runner) find(o *outcome) {
	family := stat.FamilyP(o.model, o.threads, o.clusters.Len())
	stable := o.stability(r.opt)
	for k, st := range o.model.Steps {
		base := finding{cluster: int32(st.Index), beta: o.model.Beta[k], p: st.P, pFam: family[k], r2: st.Partial,
			stable: stable[k], win: o.win(st.Index, o.model.Beta[k])}
		if o.controls[st.Index] {
			o.findings = append(o.findings, r.leaders(o, base)...)
		} else {
			o.findings = append(o.findings, r.hardware(o, base)...)
		}
	}
}

// hardware lists the events of a hardware cluster.
func (r *runner) hardware(o *outcome, base finding) []finding {
	var out []finding
	for _, e := range o.m.events {
		if o.label[e.group] != base.cluster {
			continue
		}
		ev := &r.tab.Events[e.row]
		f := base
		f.key = causeKey{lineKey: frameKey(ev.Frames, ev.Addr), hw: true, kind: ev.Kind}
		f.node, f.edge, f.event, f.name = graphNone, graphNone, e.row, r.prog.kindName(ev.Kind)
		f.corr, f.score, f.timed = o.m.corr[e.group], base.beta, r.timed(o.m, e.row)
		out = append(out, f)
	}
	return out
}

// timed reports whether an event's counts are time: a wait whose cost is known, or that is counted
// in clock units.
func (r *runner) timed(m *matrix, row int32) bool {
	return m.costed[row] || isWait(r.tab, row) && r.tab.Kinds[r.tab.Events[row].Kind].Unit != "times"
}

const graphNone = -1

func (p *program) kindName(k int32) string {
	if k >= 0 && int(k) < len(p.tab.Kinds) {
		return p.tab.Kinds[k].Name
	}
	return "event"
}

// win is the time by which the last thread would come earlier, were the cluster's events even.
func (o *outcome) win(cluster int, beta float64) float64 {
	u := o.clusters.Row(cluster)
	last, without := 0.0, 0.0
	for i, t := range o.m.raw {
		last = max(last, t)
		without = max(without, t-beta*o.m.size*u[i])
	}
	return max(0, min(last-without, o.timing.time-o.timing.mean()))
}

// stability is how often each chosen cluster is chosen again when one thread is left out.
func (o *outcome) stability(opt Options) []float64 {
	again := make([]float64, len(o.model.Steps))
	n := o.threads
	if n <= minThreads || len(again) == 0 {
		return again
	}
	times := max(minFolds, min(maxFolds, maxFoldWork/(n*o.clusters.Len())))
	step := (n + times - 1) / times
	folds := 0.0
	for out := n - 1; out >= 0; out -= step {
		folds++
		m := o.choice.SelectWithout(out, opt.Alpha)
		for k, st := range o.model.Steps {
			for _, s := range m.Steps {
				if s.Index == st.Index || closeTo(o.clusters, s.Index, st.Index) {
					again[k]++
					break
				}
			}
		}
	}
	for k := range again {
		again[k] /= folds
	}
	return again
}

// Threads that are left out in turn: the last one, and others evenly over the times; fewer with
// very many clusters.
const (
	minFolds    = 4
	maxFolds    = 10
	maxFoldWork = 1 << 20
)

// closeTo reports whether two clusters say the same, one perhaps the opposite way round.
func closeTo(x stat.Matrix, a, b int) bool {
	r := stat.Dot(x.Row(a), x.Row(b))
	return r > 0.95 || r < -0.95
}
