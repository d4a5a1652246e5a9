// The scaled difference of call paths: what each costs the larger run more than the smaller one,
// scaled, with all that it calls.

package scale

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// PathLoss is a level of the call paths: a function or a loop, inside of the one before that is a
// level less deep.
type PathLoss struct {
	Name   string  `json:"name"`
	Depth  int     `json:"depth"`
	Share  float64 `json:"share"`  // of the run's core time; below 0: it takes less than scaled
	Time   float64 `json:"time"`   // with all inside of it
	Before float64 `json:"before"` // in the smallest run, scaled
}

// pathNode is a level with all inside of it.
type pathNode struct {
	time float64
	kids map[string]*pathNode
}

func (n *pathNode) kid(name string) *pathNode {
	if n.kids == nil {
		n.kids = map[string]*pathNode{}
	}
	k := n.kids[name]
	if k == nil {
		k = &pathNode{}
		n.kids[name] = k
	}
	return k
}

// pathMetrics are what a call path costs: the time that threads ran there, and the time that they
// waited there (simulated) or that others waited for what ran there (recorded).
func pathMetrics() []string { return []string{"time", profile.MetricIdleness, "lock-wait"} }

// sampledPath is a call path and what it costs.
type sampledPath struct {
	levels []string // the outermost first
	value  float64
}

// ReadPaths takes the call paths of the run's profile.
func (r *Run) ReadPaths(tab *profile.Tables) {
	p := analysis.NewPaths(tab)
	r.roots = p.Roots()
	at := map[profile.PathID]int{}
	for i := range tab.PathSamples {
		s := &tab.PathSamples[i]
		if s.Path < 0 || !slices.Contains(pathMetrics(), s.Metric) {
			continue
		}
		k, ok := at[s.Path]
		if !ok {
			k = len(r.sampled)
			at[s.Path] = k
			var names []string
			for _, l := range slices.Backward(p.Own(s.Path)) {
				names = append(names, l.Name)
			}
			r.sampled = append(r.sampled, sampledPath{levels: names})
		}
		r.sampled[k].value += s.Value
	}
}

// rooted makes trees of the runs' call paths. They begin with the function in which created threads
// begin, if they hold one: what the first thread does for a team of one, it does as they do.
func rooted(runs []*Run) {
	var roots []string
	for _, r := range runs {
		roots = append(roots, r.roots...)
	}
	for _, r := range runs {
		r.paths = pathNode{}
		for _, s := range r.sampled {
			n, first := &r.paths, slices.IndexFunc(s.levels, func(l string) bool { return slices.Contains(roots, l) })
			n.time += s.value
			for _, name := range s.levels[max(first, 0):] {
				n = n.kid(name)
				n.time += s.value
			}
		}
	}
}

// leastPath is the share from which a level is kept: the same that is worth a line of text.
const leastPath = leastShown

// pathLosses compares the call paths of two runs, from the outermost on, the dearest first.
func pathLosses(base, r *Run, scaled float64) (out []PathLoss) {
	var visit func(a, b *pathNode, depth int)
	visit = func(a, b *pathNode, depth int) {
		names := map[string]bool{}
		for _, n := range []*pathNode{a, b} {
			for name := range n.kids {
				names[name] = true
			}
		}
		var list []PathLoss
		for name := range names {
			l := PathLoss{Name: name, Depth: depth}
			if k := a.kids[name]; k != nil {
				l.Before = scaled * k.time
			}
			if k := b.kids[name]; k != nil {
				l.Time = k.time
			}
			l.Share = (l.Time - l.Before) / r.CoreTime
			if math.Abs(l.Share) >= leastPath {
				list = append(list, l)
			}
		}
		slices.SortFunc(list, func(x, y PathLoss) int { return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.Name, y.Name)) })
		for _, l := range list {
			out = append(out, l)
			x, y := a.kids[l.Name], b.kids[l.Name]
			if x == nil {
				x = &pathNode{}
			}
			if y == nil {
				y = &pathNode{}
			}
			visit(x, y, depth+1)
		}
	}
	visit(&base.paths, &r.paths, 0)
	return out
}
