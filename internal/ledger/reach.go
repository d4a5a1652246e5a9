package ledger

// reach finds for all parts at once which nodes each has a way to.
type reach struct {
	f      *flow
	got    []uint64 // [node][word]
	order  []int32  // nodes, those first that lead to others
	queued []bool
	open   int // nodes queued
}

func newReach(f *flow) *reach {
	r := &reach{f: f, got: f.scratch.nils(4, len(f.seen)), queued: make([]bool, len(f.nodes))}
	r.order = make([]int32, 0, len(f.nodes))
	for i := len(f.comps) - 1; i >= 0; i-- {
		c := f.comps[i]
		for k := len(c) - 1; k >= 0; k-- {
			r.order = append(r.order, c[k])
		}
	}
	return r
}

func (r *reach) add(v int32, p int) {
	r.got[int(v)*r.f.words+p/64] |= 1 << (p % 64)
	r.push(v)
}

func (r *reach) push(v int32) {
	if !r.queued[v] {
		r.queued[v] = true
		r.open++
	}
}

func (r *reach) has(v int32, p int) bool { return r.got[int(v)*r.f.words+p/64]>>(p%64)&1 != 0 }

func (r *reach) missing(v int32, w int) uint64 {
	return r.f.seen[int(v)*r.f.words+w] &^ r.got[int(v)*r.f.words+w]
}

// missingParts returns the set of parts that have been somewhere without a way there.
func (r *reach) missingParts() []uint64 {
	set := make([]uint64, r.f.words)
	for v := range int32(len(r.f.nodes)) {
		for w := range set {
			set[w] |= r.missing(v, w)
		}
	}
	return set
}

// sources are the starts, and the nodes that more leaves than enters.
func (r *reach) sources() {
	for _, s := range r.f.starts {
		r.add(s.node, int(s.part))
	}
	parts := int32(r.f.parts)
	for _, i := range r.f.odd {
		if r.f.left[i] > r.f.visits[i] {
			r.add(i/parts, int(i%parts))
		}
	}
}

// spread follows the edges, over the nodes in an order in which most edges lead forward.
func (r *reach) spread() {
	for r.open > 0 {
		for k := 0; k < len(r.order) && r.open > 0; k++ {
			v := r.order[k]
			if !r.queued[v] {
				continue
			}
			r.queued[v] = false
			r.open--
			for i := r.f.off[v]; i < r.f.off[v+1]; i++ {
				if t := r.f.to[i]; t >= 0 {
					r.follow(v, i, t)
				}
			}
		}
	}
}

func (r *reach) follow(v, i, t int32) {
	w := r.f.words
	grown := false
	for k := range w {
		b := r.got[int(v)*w+k] & r.f.ways[int(i)*w+k] &^ r.got[int(t)*w+k]
		if b != 0 {
			r.got[int(t)*w+k] |= b
			grown = true
		}
	}
	if grown {
		r.push(t)
	}
}
