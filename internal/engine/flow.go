package engine

import (
	"cmp"
	"slices"

	"lime/internal/x86"
)

// What comes into a node goes out of it (flow conservation). So of the arcs that make a spanning
// tree of a region's nodes, the outside being one of them, none needs a counter: their counts follow
// from those of the others (Knuth and Stevenson 1973; Ball and Larus 1994). The tree takes the arcs
// that are taken most. The budget goes the same way: what memory holds differs from it by a number
// that belongs to the node (phi), so that nothing is to be done on the arcs of a forest. What comes
// into the head has a counter in any case: it says whether there is anything to derive.

// dearest returns the arcs, those first on which it costs most to count.
func (r *region) dearest() []*arc {
	all := slices.Clone(r.arcs[1:])
	slices.SortStableFunc(all, func(a, b *arc) int { return cmp.Compare(r.cost(b), r.cost(a)) })
	return all
}

// keepsFlags is how much dearer it is to count where flags are live.
const keepsFlags = 3

// cost says how dear it is to count on an arc.
func (r *region) cost(a *arc) uint64 {
	if countsByInc(r.flagsBehind(a)) {
		return a.often
	}
	return a.often * keepsFlags
}

// Arcs have a counter of their own, which gets a number later, or none, as their count is derived;
// that into the head counts the passages begun.
const (
	counted = 0
	derived = -1
	begun   = -2
)

// counter returns the hidden counter of an arc that has one.
func (r *region) counter(a *arc) int {
	if a.counter == begun {
		return int(r.id) - 1
	}
	return r.base + a.counter
}

// flagsBehind returns the flags that are live behind an arc.
func (r *region) flagsBehind(a *arc) x86.Flags {
	switch to := r.nodes[a.to].b; {
	case to != nil:
		return to.live
	case a.b != nil:
		return a.b.live
	}
	return x86.StatusFlags
}

// sets says which nodes are connected (union-find).
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// join connects a and b, and reports whether they were not.
func (s sets) join(a, b int) bool {
	a, b = s.find(a), s.find(b)
	s[a] = b
	return a != b
}

// place finds out which arcs count, and what they add to the budget.
func (r *region) place() {
	tree, forest := newSets(len(r.nodes)), newSets(len(r.nodes))
	for i, n := range r.nodes {
		if n.check {
			n.phi = n.ahead
			forest.join(i, outside)
		}
	}
	var inForest []*arc
	r.arcs[0].counter = begun
	for _, a := range r.dearest() {
		if a.counter = derived; !tree.join(a.from, a.to) {
			a.counter = counted
		}
		if forest.join(a.from, a.to) {
			inForest = append(inForest, a)
		}
	}
	r.potentials(inForest)
	for _, a := range r.arcs {
		a.delta = r.nodes[a.from].phi - r.used(a) - r.nodes[a.to].phi
	}
}

// used returns the instructions that are off the budget behind an arc.
func (r *region) used(a *arc) int32 {
	if a.kind == edgeUsedUp {
		return 0
	}
	return r.nodes[a.from].n()
}

// edgeUsedUp is the kind of the arcs by which a check leaves the region.
const edgeUsedUp EdgeKind = 255

// potentials sets phi of the nodes that are no checks.
func (r *region) potentials(forest []*arc) {
	at := byNode(len(r.nodes), forest)
	done := make([]bool, len(r.nodes))
	var next []int
	for i, n := range r.nodes {
		if done[i] = i == outside || n.check; done[i] {
			next = append(next, i)
		}
	}
	for i := 0; i < len(next); i++ {
		n := next[i]
		for _, a := range at[n] {
			other := a.from + a.to - n
			if done[other] {
				continue
			}
			done[other] = true
			if next = append(next, other); a.from == n {
				r.nodes[other].phi = r.nodes[n].phi - r.used(a)
			} else {
				r.nodes[other].phi = r.nodes[n].phi + r.used(a)
			}
		}
	}
}

// byNode returns the arcs at each node.
func byNode(n int, arcs []*arc) [][]*arc {
	at := make([][]*arc, n)
	for _, a := range arcs {
		at[a.from] = append(at[a.from], a)
		at[a.to] = append(at[a.to], a)
	}
	return at
}
