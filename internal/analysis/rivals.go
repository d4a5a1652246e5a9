package analysis

import (
	"cmp"
	"slices"

	"lime/internal/stat"
)

// clusterOf finds the cluster of the events of a cause that only the account knows.
func (r *runner) clusterOf(o *outcome, c *Cause) (int32, bool) {
	if o.label == nil {
		return 0, false
	}
	if !c.key.hw {
		g, ok := o.m.byEdge[c.edge]
		return o.labelOf(g, ok)
	}
	for _, e := range o.m.events {
		if !e.hw {
			continue
		}
		if ev := &r.tab.Events[e.row]; ev.Kind == c.key.kind && frameKey(ev.Frames, ev.Addr) == c.key.lineKey {
			return o.labelOf(e.group, true)
		}
	}
	return 0, false
}

func (o *outcome) labelOf(group int32, ok bool) (int32, bool) {
	if !ok || int(group) >= len(o.label) {
		return 0, false
	}
	return o.label[group], true
}

// accountRivals are the clusters that go with the times as well as that of a cause which only the
// account knows does: counts alone could not tell them apart, though the account, which knows what
// each costs, has.
func (r *runner) accountRivals(o *outcome, c *Cause, cluster int32) []Rival {
	if cluster < 0 || int(cluster) >= o.clusters.Len() {
		return nil
	}
	corr := stat.Dot(o.clusters.Row(int(cluster)), o.m.t)
	if corr*corr < leastFit {
		return nil
	}
	lo, _ := squaredBounds(corr*corr, o.threads, 0)
	lo = max(lo, 0.9*corr*corr)
	type rival struct {
		cluster int
		r2      float64
	}
	var found []rival
	for k := range o.clusters.Len() {
		if x := stat.Dot(o.clusters.Row(k), o.m.t); int32(k) != cluster && x*corr > 0 && x*x >= lo {
			found = append(found, rival{k, x * x})
		}
	}
	slices.SortStableFunc(found, func(a, b rival) int { return cmp.Compare(b.r2, a.r2) })
	var out []Rival
	for _, f := range found[:min(len(found), maxRivals)] {
		v := r.rival(o, f.cluster, finding{cluster: cluster}, f.r2)
		if v.File != c.File || v.Line != c.Line || v.Event != c.Event {
			out = append(out, v)
		}
	}
	return out
}
