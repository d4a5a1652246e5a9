package ledger

import "slices"

// endings are where the parts of a flow end.
type endings struct{ *flow }

// redirect lets every part's flow end at its last block. A collector that has counted the edge out
// of that block leaves a visit of the next one, which was not executed in the instance: that edge
// is taken back.
func (f endings) redirect() {
	var returns map[int32][]int32 // Return edges by where they lead
	for p, v := range f.lastIn() {
		exit := f.inst.Parts[p].Exit
		if v < 0 || exit < 0 || f.node(exit) < 0 || f.nodes[v] == exit {
			continue
		}
		if i := f.edgeBetween(f.local[exit], v, p); i >= 0 {
			f.takeBack(i, p)
			f.change(f.left, f.local[exit], p, -1)
			f.comeToExit(f.local[exit], p)
			continue
		}
		if returns == nil {
			returns = f.returnsInto()
		}
		f.endInReturn(returns[v], v, p)
	}
}

// comeToExit invents the ways to a part's last block that the collector has not seen: it has come
// there once more often than it has gone on, or its end would make up for a start.
func (f endings) comeToExit(v int32, p int) {
	for i := int(v)*f.parts + p; f.visits[i] <= f.left[i]; {
		f.change(f.visits, v, p, 1)
		f.invented = append(f.invented, lack{node: v, part: int32(p), n: 1})
	}
}

// endInReturn takes back the return into v with which a part's flow ends: an edge, or a start of
// its own. Where the part has entered it has been, and what it was interrupted before it has come to.
func (f endings) endInReturn(returns []int32, v int32, p int) {
	for _, i := range returns {
		if f.has(i, p) {
			f.takeBack(i, p)
			return
		}
	}
	for i := len(f.starts) - 1; i >= 0; i-- {
		if s := f.starts[i]; s.node == v && int(s.part) == p && s.back {
			f.starts = slices.Delete(f.starts, i, i+1)
			f.change(f.visits, v, p, -1)
			return
		}
	}
}

// lastIn returns for every part the node at which its flow ends, if there is exactly one, where it
// is interrupted apart; else -1.
func (f endings) lastIn() []int32 {
	last, stops := make([]int32, f.parts), interruptions{f.flow}
	ends := make([]uint64, f.parts)
	slices.Sort(f.odd)
	f.odd = slices.Compact(f.odd)
	for _, i := range f.odd {
		v, p := i/int32(f.parts), int(i)%f.parts
		if in, out := f.visits[i], f.left[i]+stops.stopped(v, p); in > out {
			ends[p] += in - out
			last[p] = v
		}
	}
	for p, n := range ends {
		if n != 1 {
			last[p] = -1
		}
	}
	return last
}

// edgeBetween returns the edge that a part took from one node to another, returns apart; -1 if
// none.
func (f endings) edgeBetween(from, to int32, p int) int32 {
	for i := f.off[from]; i < f.off[from+1]; i++ {
		if e := &f.edges[i]; e.to == to && !isReturn(e.kind) && f.has(i, p) {
			return i
		}
	}
	return -1
}

func (f endings) returnsInto() map[int32][]int32 {
	into := map[int32][]int32{}
	for i := range f.edges {
		if e := &f.edges[i]; isReturn(e.kind) && e.from >= 0 {
			into[e.to] = append(into[e.to], int32(i))
		}
	}
	return into
}

// staysAt reports whether a part has been at a node once, and has ended there: the way that it has
// taken from there is not its own any more, whether the collector has counted it or not.
func (f endings) staysAt(v int32, p int) bool {
	return f.inst.Parts[p].Exit == f.nodes[v] && f.visits[int(v)*f.parts+p] == 1
}
