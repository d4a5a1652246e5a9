package ledger

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"lime/internal/profile"
)

// A node has up to three groups of ways out. The regular ones exclude one another, and one of them is taken at
// every visit, unless the flow breaks (a longjmp, a signal, counts that end). A call comes back or
// does not. In each group a constant may be taken off every value, as the deviations of
// the probabilities add up to nil; the value of the most frequent way is, so that what is common
// to all ways never enters the arithmetic, and ways that cost the same get exactly nothing.

// ways are the edges out of one node, by group.
type ways struct {
	regular, odd, returns []int32
	exits, drops          []lack // ends: the regular end of a part, and others
}

// decisions charges every node at which the parts went different ways.
func (a *accountant) decisions() {
	var w ways
	ends := a.f.ends
	for v := range int32(len(a.f.nodes)) {
		w.regular, w.odd, w.returns = w.regular[:0], w.odd[:0], w.returns[:0]
		w.exits, w.drops = w.exits[:0], w.drops[:0]
		for ; len(ends) > 0 && ends[0].node == v; ends = ends[1:] {
			if a.f.exits(ends[0]) {
				w.exits = append(w.exits, ends[0])
			} else {
				w.drops = append(w.drops, ends[0])
			}
		}
		if a.lumps.of[v] >= 0 {
			continue
		}
		a.sort(v, &w)
		a.decide(v, &w)
	}
}

func (a *accountant) sort(v int32, w *ways) {
	for i := a.f.off[v]; i < a.f.off[v+1]; i++ {
		switch a.f.edges[i].kind {
		case profile.EdgeReturn:
			w.returns = append(w.returns, i)
		case profile.EdgeOdd:
			w.odd = append(w.odd, i)
		default:
			w.regular = append(w.regular, i)
		}
	}
}

func (a *accountant) decide(v int32, w *ways) {
	free := len(w.regular)+len(w.exits) > 1
	breaks := len(w.odd)+len(w.drops) > 0
	if !free && !breaks && len(w.returns) == 0 {
		return
	}
	dev := a.row()
	used := false
	mean := 0.0 // pooled value of the regular ways
	if free || breaks {
		mean = a.regular(v, w, dev)
		used = free
	}
	if len(w.returns) > 0 {
		used = a.returned(v, w, dev) || used
	}
	if used {
		a.charge(classDecision, a.id(v), dev)
	} else {
		a.putBack(dev)
	}
	if breaks {
		a.breaks(v, w, mean)
	}
}

// putBack takes back a row that was not used.
func (a *accountant) putBack(row []float64) {
	clear(row)
	a.spare = append(a.spare, row)
}

// regular charges the choice among the regular ways, and returns their pooled value.
func (a *accountant) regular(v int32, w *ways, dev []float64) float64 {
	base := a.dominant(w.regular)
	n := a.regularVisits(v, w)
	value := newMean(a)
	for _, i := range w.regular {
		value.edge(i, a.better(i, base), dev)
	}
	for _, e := range w.exits {
		value.add(int(e.part), float64(e.n), a.better(-1, base), dev)
	}
	return value.settle(n, dev) - a.better(-1, base)
}

// regularVisits returns the node's visits by part, those apart that broke the flow.
func (a *accountant) regularVisits(v int32, w *ways) []float64 {
	n := a.scratch
	for p, x := range a.f.visitsOf(v) {
		n[p] = float64(x)
	}
	for _, d := range w.drops {
		n[d.part] -= float64(d.n)
	}
	for _, i := range w.odd {
		for _, c := range a.counts(i) {
			n[c.Part] -= float64(c.N)
		}
	}
	return n
}

// returned charges calls that came back in some parts more often than in others. It reports whether there can
// be such a thing at the node.
func (a *accountant) returned(v int32, w *ways, dev []float64) bool {
	open := a.scratch
	for p, x := range a.f.visitsOf(v) {
		open[p] = float64(x)
	}
	for _, i := range w.returns {
		for _, c := range a.counts(i) {
			open[c.Part] -= float64(c.N)
		}
		for _, s := range a.subsOf(i) {
			open[s.part]++
		}
	}
	if len(w.returns) == 1 && allZero(open) {
		return false
	}
	base := a.dominant(w.returns)
	value := newMean(a)
	for _, i := range w.returns {
		value.edge(i, a.better(i, base), dev)
	}
	for p, n := range open {
		value.add(p, n, a.better(-1, base), dev)
	}
	for p, x := range a.f.visitsOf(v) {
		open[p] = float64(x)
	}
	value.settle(open, dev)
	return true
}

func allZero(xs []float64) bool {
	for _, x := range xs {
		if x != 0 {
			return false
		}
	}
	return true
}

// breaks charges what broke the flow: an odd edge leads elsewhere than the regular ways do on average.
func (a *accountant) breaks(v int32, w *ways, regular float64) {
	dev := a.row()
	value := newMean(a)
	for _, i := range w.odd {
		value.edge(i, a.better(i, -1)-regular, dev)
	}
	for _, d := range w.drops {
		value.add(int(d.part), float64(d.n), -regular, dev)
	}
	n := a.scratch
	for p, x := range a.f.visitsOf(v) {
		n[p] = float64(x)
	}
	value.settle(n, dev)
	if len(w.odd) == 0 && !slices.ContainsFunc(w.drops, func(d lack) bool { return !a.holed[d.part] }) {
		for p, x := range dev {
			a.cutOff[p] += x // the way goes on behind the hole: one row for both
		}
		a.putBack(dev)
		return
	}
	a.charge(classBroken, a.id(v), dev)
}

// dominant returns the most frequent of some edges, -1 if there is none.
func (a *accountant) dominant(edges []int32) int32 {
	best, most := int32(-1), uint64(0)
	for _, i := range edges {
		if e := &a.f.edges[i]; e.total > most {
			best, most = i, e.total
		}
	}
	return best
}

// better returns by how much the value of one edge exceeds that of another; edge -1 is worth nothing.
func (a *accountant) better(i, base int32) float64 {
	to, extra := a.lead(i)
	other, otherExtra := a.lead(base)
	return a.r.values.diff(to, other) + (extra - otherExtra)
}

// lead returns where an edge leads, and what it costs beside the value of that.
func (a *accountant) lead(i int32) (to int32, extra float64) {
	if i < 0 {
		return -1, 0
	}
	if a.extra != nil {
		extra = a.extra[i]
	}
	return a.f.edges[i].to, extra
}

func (a *accountant) counts(i int32) []profile.Count {
	return a.f.edges[i].cells
}

// subsOf returns what is to be taken off an edge.
func (a *accountant) subsOf(i int32) []sub {
	if !a.f.edges[i].subs {
		return nil
	}
	var subs []sub
	for _, s := range a.f.subs {
		if s.edge == i {
			subs = append(subs, s)
		}
	}
	return subs
}

// mean adds up count x value over the ways of a node, pooled and by part.
type mean struct {
	a   *accountant
	sum float64
}

func newMean(a *accountant) *mean { return &mean{a: a} }

func (m *mean) edge(i int32, value float64, dev []float64) {
	if value == 0 {
		return
	}
	cells := m.a.counts(i)
	for k := range cells {
		dev[cells[k].Part] += float64(cells[k].N) * value
	}
	for _, s := range m.a.subsOf(i) {
		dev[s.part] -= value
	}
	m.sum += float64(m.a.f.edges[i].total) * value
}

func (m *mean) add(p int, n, value float64, dev []float64) {
	dev[p] += n * value
	m.sum += n * value
}

// settle takes off every part what its visits would have cost on average, and returns that average.
func (m *mean) settle(visits, dev []float64) float64 {
	total := sum(visits)
	if total == 0 {
		return 0
	}
	avg := m.sum / total
	floats.AddScaled(dev, -avg, visits)
	return avg
}
