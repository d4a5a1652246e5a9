package engine

import "slices"

// Limits of unrolling the loops of a region.
const (
	unrollInsts  = 48 // instructions of all copies
	unrollCopies = 4
)

// idle reports whether an arc was to foresee where an indirect branch goes, and leads out.
func (a *arc) idle() bool {
	return a.to == outside && (a.kind == EdgeReturn || a.kind == EdgeJumpInd || a.kind == EdgeCallInd)
}

// dropArcs returns the arcs for which drop is false.
func dropArcs(arcs []*arc, drop func(*arc) bool) []*arc { return slices.DeleteFunc(arcs, drop) }

// backArcs returns the arcs that come round to a node on the way to them, in the order in which a
// search from the head finds them. Arcs to checks are none.
func (r *region) backArcs() []*arc {
	return r.search(true).back
}

// search goes through r depth first. cut: not on through checks.
func (r *region) search(cut bool) *search {
	s := &search{r: r, out: r.outs(), state: make([]uint8, len(r.nodes)), cut: cut}
	s.visit(headNode)
	for i, n := range r.nodes {
		if cut && n.check && s.state[i] == unvisited {
			s.visit(i)
		}
	}
	return s
}

// outs returns the arcs that leave each node.
func (r *region) outs() [][]*arc {
	out := make([][]*arc, len(r.nodes))
	for _, a := range r.arcs {
		out[a.from] = append(out[a.from], a)
	}
	return out
}

// prune drops the arcs of nodes that cannot be reached.
func (r *region) prune() {
	s := r.search(false)
	r.arcs = dropArcs(r.arcs, func(a *arc) bool { return a.from != outside && s.state[a.from] == unvisited })
}

// search is the state of a search.
type search struct {
	cut   bool
	r     *region
	out   [][]*arc
	state []uint8
	back  []*arc
}

// The states of a node.
const (
	unvisited = iota
	onTheWay
	visited
)

func (s *search) visit(n int) {
	s.state[n] = onTheWay
	for _, a := range s.out[n] {
		switch to := s.r.nodes[a.to]; {
		case a.to == outside || s.cut && to.check:
		case s.state[a.to] == onTheWay:
			s.back = append(s.back, a)
		case s.state[a.to] == unvisited:
			s.visit(a.to)
		}
	}
	s.state[n] = visited
}

// setChecks lets every loop have a check: at the node that it comes round to, or at another one at
// which no flags are live. A loop without one is cut.
func (r *region) setChecks() {
	r.nodes[headNode].check = true
	for back := r.backArcs(); len(back) > 0; back = r.backArcs() {
		a := back[0]
		if at := r.checkFor(a); at != outside {
			r.nodes[at].check = true
			continue
		}
		a.to = outside
		r.arcs = dropArcs(r.arcs, (*arc).idle)
	}
	r.prune()
	for i, n := range r.nodes {
		if n.check {
			r.arcs = append(r.arcs, &arc{from: i, kind: edgeUsedUp, b: n.b})
		}
	}
	r.lookAhead()
}

// checkFor returns a node of the loop that a closes at which no flags are live; the outside if
// there is none.
func (r *region) checkFor(a *arc) int {
	if r.nodes[a.to].b.live == 0 {
		return a.to
	}
	for _, i := range r.loop(a) {
		if r.nodes[i].b.live == 0 && !r.nodes[i].check {
			return i
		}
	}
	return outside
}

// loop returns the nodes of the loop that a closes, its first node first.
func (r *region) loop(a *arc) []int {
	got := []int{a.to}
	if a.from != a.to {
		got = append(got, a.from)
	}
	for i := 1; i < len(got); i++ {
		for _, b := range r.arcs {
			if b.to == got[i] && b.from != outside && !slices.Contains(got, b.from) {
				got = append(got, b.from)
			}
		}
	}
	return got
}

// lookAhead finds the longest way from each node to a check, or out.
func (r *region) lookAhead() {
	out := r.outs()
	for i := range r.nodes[1:] {
		r.ahead(i+1, out)
	}
}

func (r *region) ahead(i int, out [][]*arc) int32 {
	n := r.nodes[i]
	if n.ahead != 0 {
		return n.ahead
	}
	most := int32(0)
	for _, a := range out[i] {
		if a.to != outside && !r.nodes[a.to].check {
			most = max(most, r.ahead(a.to, out))
		}
	}
	n.ahead = n.n() + most
	return n.ahead
}

// unroll copies the innermost loops, if they are short, so that a check and its counter are for
// several rounds.
func (r *region) unroll() {
	back := r.backArcs()
	for _, a := range back {
		body := r.loop(a)
		insts := int32(0)
		for _, i := range body {
			insts += r.nodes[i].n()
		}
		copies := min(unrollInsts/int(insts), unrollCopies)
		inner := !slices.ContainsFunc(back, func(b *arc) bool { return b != a && slices.Contains(body, b.to) })
		if inner && copies > 1 && (a.to == headNode || !slices.Contains(body, headNode)) {
			r.copyLoop(a, body, copies)
		}
	}
}

// copyLoop makes copies of a loop, each of which goes on to the next one.
func (r *region) copyLoop(back *arc, body []int, copies int) {
	var own []*arc
	for _, a := range r.arcs {
		if slices.Contains(body, a.from) {
			a.often /= uint64(copies)
			own = append(own, a)
		}
	}
	first := len(r.nodes)
	at := func(i, c int) int { // node i in copy c
		k := slices.Index(body, i)
		switch {
		case k < 0:
			return i
		case i == back.to && c == copies:
			return i
		case c == 0:
			return i
		}
		return first + (c-1)*len(body) + k
	}
	for c := 1; c < copies; c++ {
		for _, i := range body {
			r.nodes = append(r.nodes, &node{b: r.nodes[i].b, open: r.nodes[i].open})
		}
		for _, a := range own {
			twin := *a
			twin.from = at(a.from, c)
			twin.to = at(a.to, c)
			if a.to == back.to {
				twin.to = at(a.to, c+1)
			}
			r.arcs = append(r.arcs, &twin)
		}
	}
	for _, a := range own {
		if a.to == back.to {
			a.to = at(a.to, 1)
		}
	}
}
