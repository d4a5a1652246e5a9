package ledger

import (
	"slices"

	"lime/internal/profile"
)

// A node has up to three groups of ways out. The regular ones exclude one another, and one of them
// is taken at every visit, unless the flow breaks (a longjmp, a signal, counts that end). A call
// comes back or does not. In each group a constant may be taken off every value, as the deviations
// of the probabilities add up to nil; the value of the most frequent way is, so that what is common
// to all ways never enters the arithmetic, and ways that cost the same get exactly nothing.

// ways are the edges out of one node, by group.
type ways struct {
	regular, odd, returns []int32
	exits, drops          []lack // ends: the regular end of a part, and others
}

// choices finds every node at which the parts went different ways.
func (a *accountant) choices() {
	var w ways
	var ends []lack
	place := 0
	for v := range int32(len(a.f.nodes)) {
		w.regular, w.odd, w.returns = w.regular[:0], w.odd[:0], w.returns[:0]
		w.exits, w.drops = w.exits[:0], w.drops[:0]
		ends = a.f.endsAt(v, &place, ends)
		for _, e := range ends {
			if a.f.exits(e) || (interruptions{a.f}).stops(e) {
				w.exits = append(w.exits, e)
			} else {
				w.drops = append(w.drops, e)
			}
		}
		if a.lumps.of[v] >= 0 {
			continue
		}
		a.sort(v, &w)
		a.choice(v, &w)
	}
	a.lumpChoices()
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

func (a *accountant) choice(v int32, w *ways) {
	free := len(w.regular)+len(w.exits) > 1
	breaks := len(w.odd)+len(w.drops) > 0
	first, u := len(a.contrasts), usual{base: -1}
	if free || breaks {
		u = a.regular(v, w)
	}
	if len(w.returns) > 0 {
		a.returned(v, w)
	}
	a.choose(choice{class: classDecision, id: a.id(v), usual: usual{base: -1}}, first)
	if breaks {
		a.breaks(v, w, u)
	}
}

// regular finds how the parts differ among the regular ways.
func (a *accountant) regular(v int32, w *ways) usual {
	first, base := len(a.contrasts), a.dominant(w.regular)
	visits := a.regularVisits(v, w)
	for _, i := range w.regular {
		a.way(i, base, visits)
	}
	if len(w.exits) > 0 {
		a.stop(a.ended(w.exits), base, visits)
	}
	return usual{base, a.contrasts[first:]}
}

// regularVisits returns the node's visits by part, those apart that broke the flow.
func (a *accountant) regularVisits(v int32, w *ways) []float64 {
	n := a.visitsOf(v)
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

// visitsOf returns the node's visits by part, in memory that is used again.
func (a *accountant) visitsOf(v int32) []float64 {
	for p, x := range a.f.visitsOf(v) {
		a.scratch[p] = float64(x)
	}
	return a.scratch
}

// ended returns the ends by part, in memory that is used again.
func (a *accountant) ended(ends []lack) []float64 {
	clear(a.open)
	for _, e := range ends {
		a.open[e.part] += float64(e.n)
	}
	return a.open
}

// returned finds whether calls came back in some parts more often than in others.
func (a *accountant) returned(v int32, w *ways) {
	if len(w.returns) == 1 && a.allBack(v, w.returns[0]) {
		return
	}
	base, visits := a.dominant(w.returns), a.visitsOf(v)
	copy(a.open, visits)
	for _, i := range w.returns {
		for _, c := range a.counts(i) {
			a.open[c.Part] -= float64(c.N)
		}
		for _, s := range a.subsOf(i) {
			a.open[s.part]++
		}
	}
	for _, i := range w.returns {
		a.way(i, base, visits)
	}
	a.stop(a.open, base, visits)
}

// allBack reports whether all calls have come back by one edge.
func (a *accountant) allBack(v, i int32) bool {
	e := &a.f.edges[i]
	if !e.dense || e.subs {
		copy(a.left, a.f.visitsOf(v))
		for _, c := range e.cells {
			a.left[c.Part] -= c.N
		}
		for _, s := range a.subsOf(i) {
			a.left[s.part]++
		}
		return allNil(a.left)
	}
	for p, n := range a.f.visitsOf(v) {
		if e.cells[p].N != n {
			return false
		}
	}
	return true
}

// breaks finds where flow broke: an odd edge leads elsewhere than the regular ways do on average.
func (a *accountant) breaks(v int32, w *ways, u usual) {
	first, visits := len(a.contrasts), a.visitsOf(v)
	for _, i := range w.odd {
		a.way(i, -1, visits)
	}
	if len(w.drops) > 0 {
		a.stop(a.ended(w.drops), -1, visits)
	}
	cut := len(w.odd) == 0 && !slices.ContainsFunc(w.drops, func(d lack) bool { return !a.holed[d.part] })
	a.choose(choice{class: classBroken, id: a.id(v), usual: u, cut: cut}, first)
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

// better returns by how much the value of one edge exceeds that of another; edge -1 is worth
// nothing.
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
