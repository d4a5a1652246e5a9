package ledger

import "lime/internal/profile"

// The rows say what made the last thread late, which is not always where it was late: a test for
// thread 0 may lead to much work elsewhere. And who enters a section at a place of its own does
// something else there than the others (a writer beside workers, a main thread that sums up): where
// it comes in says little, so such a row stands where the last thread spends more time than the
// others.

// Spent is the line of the program's own, what it calls in libraries included, at which the last
// threads spent most time beyond the mean.
type Spent struct {
	Place
	Share float64 `json:"share"`           // of Account.Total
	About bool    `json:"about,omitempty"` // an estimate: functions that are called from elsewhere as well cost the same from everywhere
}

// surplus returns the last part's time in every block beyond the mean of the parts, nil if there is
// no imbalance.
func (a *accountant) surplus() []float64 {
	if a.r.total() <= 0 {
		return nil
	}
	out, n := make([]float64, len(a.f.nodes)), float64(a.f.parts)
	add := func(v int32, counts []profile.Count) {
		for _, x := range counts {
			out[v] -= float64(x.N) / n
			if int(x.Part) == a.r.last {
				out[v] += float64(x.N)
			}
		}
	}
	for g, v := range a.c.nodes {
		add(v, a.f.inst.Times[a.c.times[g]:a.c.times[g+1]])
	}
	for v := range out {
		if a.c.stored {
			break
		}
		out[v] += a.c.instrs(int32(v)) * (float64(a.f.visitsOf(int32(v))[a.r.last]) - a.n[v]/n)
	}
	for _, e := range a.c.events {
		if e.apart && e.node >= 0 {
			add(e.node, a.f.inst.Costs[e.lo:e.hi])
		}
	}
	return out
}

// beenTo says for every block whether parts other than the last one have been there.
func (a *accountant) beenTo() []bool {
	out := make([]bool, len(a.f.nodes))
	for v := range out {
		for p, n := range a.f.visitsOf(int32(v)) {
			out[v] = out[v] || p != a.r.last && n > 0
		}
	}
	return out
}

// addSurplus adds an instance's.
func (b *book) addSurplus(r *result) {
	if r.surplus == nil {
		return
	}
	b.surplus = grown(b.surplus, len(b.l.tab.Nodes))
	b.others = grown(b.others, len(b.l.tab.Nodes))
	for v, x := range r.surplus {
		id := r.flow.nodes[v]
		b.surplus[id] += x
		b.others[id] = b.others[id] || r.others[v]
	}
}

// busiest finds the line of the program's own at which most of the time by node is spent, what it
// calls in libraries included; nil if it is not known.
func (g *guide) busiest(time []float64, homes *homes, total float64) *Spent {
	type line struct {
		sum, most float64
		top       profile.NodeID
	}
	lines, best := map[int32]*line{}, profile.NodeID(profile.None)
	for v, x := range time {
		at := profile.NodeID(v)
		if x == 0 {
			continue
		}
		if g.library[v] {
			if homes == nil || homes.label[v] < 0 {
				continue
			}
			at = homes.at[homes.label[v]]
		}
		l := lines[g.nodes[at]]
		if l == nil {
			l = &line{top: at}
			lines[g.nodes[at]] = l
		}
		if l.sum += x; x > l.most {
			l.most, l.top = x, at
		}
	}
	for v := range time { // in order, so that ties are settled alike
		if l := lines[g.nodes[v]]; l != nil && (best == profile.None || l.sum > lines[g.nodes[best]].sum) {
			best = l.top
		}
	}
	if best == profile.None || lines[g.nodes[best]].sum < surplusShare*total {
		return nil
	}
	return &Spent{Place: g.place(best), Share: share(lines[g.nodes[best]].sum, total)}
}
