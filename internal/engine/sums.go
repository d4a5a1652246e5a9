package engine

import "slices"

// sums derives the counts of a region's edges from what its counters hold. What it needs lies close
// together: programs with many short sections fold often.
type sums struct {
	begun, base int      // hidden counters: of passages begun, the first of the chords
	chords      []chord  // the arcs with a counter, that into the head first
	hangs       []hang   // the nodes but for the outside, from the leaves of the tree on
	ids         []EdgeID // the edges that arcs are
	at          []int32  // of each arc: where its edges end in ids; those before end where they begin
	total       []uint64 // how often each arc was taken, as far as folded
	net         []uint64 // scratch, by node: how many more came in than went out
}

// chord is an arc with a counter.
type chord struct{ arc, from, to int32 }

// hang is a node with the arc of the tree by which it hangs at another one, nearer to the outside.
type hang struct {
	arc, node, at int32
	up            bool // the arc leads there
}

// set takes the arcs of r, which has its place among the hidden counters, and numbers those that
// count.
func (s *sums) set(r *region) {
	*s = sums{begun: int(r.id) - 1, base: r.base, net: make([]uint64, len(r.nodes)),
		total: make([]uint64, len(r.arcs)), chords: make([]chord, 1)}
	var tree []int32
	for i, a := range r.arcs {
		c := chord{int32(i), int32(a.from), int32(a.to)}
		switch a.counter {
		case derived:
			tree = append(tree, int32(i))
		case begun:
			s.chords[0] = c
		default:
			a.counter = len(s.chords) - 1
			s.chords = append(s.chords, c)
		}
		s.ids = append(s.ids, a.ids...)
		s.at = append(s.at, int32(len(s.ids)))
	}
	s.root(r, tree)
}

// root hangs the tree up at the outside.
func (s *sums) root(r *region, tree []int32) {
	at := make([][]int32, len(r.nodes))
	for _, i := range tree {
		a := r.arcs[i]
		at[a.from] = append(at[a.from], i)
		at[a.to] = append(at[a.to], i)
	}
	s.hangs = []hang{{arc: -1, node: outside}}
	for k := 0; k < len(s.hangs); k++ {
		h := s.hangs[k]
		for _, i := range at[h.node] {
			if a := r.arcs[i]; i != h.arc {
				other := int32(a.from+a.to) - h.node
				s.hangs = append(s.hangs, hang{arc: i, node: other, at: h.node, up: a.from == int(other)})
			}
		}
	}
	s.hangs = s.hangs[1:]
	slices.Reverse(s.hangs)
}

// fold moves what the counters hold to the edges: c are those of the edges, hidden those of all
// regions. Somebody stands in node at, if that is not the outside, and leaves there.
func (s *sums) fold(c, hidden []uint64, at int) {
	clear(s.net)
	s.net[at]--
	s.moveCount(c, &hidden[s.begun], s.chords[0])
	mine := hidden[s.base:][:len(s.chords)-1]
	for i := nextCount(mine, 0); i < len(mine); i = nextCount(mine, i+1) {
		s.moveCount(c, &mine[i], s.chords[i+1])
	}
	for i := range s.hangs {
		h := &s.hangs[i]
		n := s.net[h.node]
		if n == 0 {
			continue
		}
		s.net[h.at] += n
		if !h.up {
			n = -n
		}
		s.add(c, h.arc, n)
	}
}

// moveCount moves what an arc has counted.
func (s *sums) moveCount(c []uint64, from *uint64, a chord) {
	n := *from
	*from = 0
	s.net[a.from] -= n
	s.net[a.to] += n
	s.add(c, a.arc, n)
}

// add counts n passages of an arc.
func (s *sums) add(c []uint64, arc int32, n uint64) {
	s.total[arc] += n
	first := int32(0)
	if arc > 0 {
		first = s.at[arc-1]
	}
	for _, id := range s.ids[first:s.at[arc]] {
		c[id] += n
	}
}
