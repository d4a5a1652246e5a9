package resolve

import (
	"cmp"
	"slices"

	"lime/internal/graph"
	"lime/internal/profile"
)

// outerLoops puts tests of loops around an inlined call at that call. Compilers give an instruction
// without a place of its own (the test of a loop that OpenMP has dealt out is one) the place of the
// instruction before it, which may be the end of what was inlined into the loop's body. But a loop
// in which an inlined call begins is no loop of what is called.
func (r *resolver) outerLoops() {
	wanted := map[profile.FunctionID]bool{}
	for i := range r.t.Nodes {
		if n := &r.t.Nodes[i]; n.Function != profile.None && n.Kind == profile.EndCond && r.entry(n) != 0 {
			wanted[n.Function] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	byFunction := map[profile.FunctionID][]profile.NodeID{}
	for i := range r.t.Nodes {
		if f := r.t.Nodes[i].Function; wanted[f] {
			byFunction[f] = append(byFunction[f], profile.NodeID(i))
		}
	}
	within := map[profile.FunctionID][]profile.EdgeID{}
	for i := range r.t.Edges {
		e := &r.t.Edges[i]
		if e.From < 0 || e.To < 0 || e.Kind == profile.EdgeCall || e.Kind == profile.EdgeCallInd {
			continue
		}
		if f := r.t.Nodes[e.From].Function; wanted[f] && r.t.Nodes[e.To].Function == f {
			within[f] = append(within[f], profile.EdgeID(i))
		}
	}
	for f, edges := range within {
		r.outerLoopsOf(byFunction[f], edges)
	}
}

// outerLoopsOf does it for the nodes of one function.
func (r *resolver) outerLoopsOf(nodes []profile.NodeID, ids []profile.EdgeID) {
	local := make(map[profile.NodeID]int32, len(nodes))
	for i, v := range nodes {
		local[v] = int32(i)
	}
	tail, edges := r.overlaps(nodes)
	for _, id := range ids {
		e := &r.t.Edges[id]
		edges = append(edges, graph.Edge{From: tail[local[e.From]], To: local[e.To]})
	}
	s := graph.Analyse(graph.New(len(nodes), edges))
	for i, v := range nodes {
		n := &r.t.Nodes[v]
		for n.Kind == profile.EndCond && r.entry(n) != 0 {
			loop := s.TestedLoop(tail[i])
			if !r.begins(loop, nodes, r.entry(n)) || r.inlinedWhole(loop, nodes, n.Frames) {
				break
			}
			n.Frames = n.Frames[1:]
		}
	}
}

// overlaps returns for each node the shortest one that ends in the same instruction, which decides
// for all, and an edge from each node in which others begin to the first of them: a jump into a
// block makes another one.
func (r *resolver) overlaps(nodes []profile.NodeID) (tail []int32, edges []graph.Edge) {
	order := make([]int32, len(nodes))
	for i := range order {
		order[i] = int32(i)
	}
	at := func(i int32) *profile.Node { return &r.t.Nodes[nodes[i]] }
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(at(a).Addr, at(b).Addr) })
	tail = make([]int32, len(nodes))
	ends := map[uint64]int32{}
	for k, i := range slices.Backward(order) {
		if _, ok := ends[at(i).LastAddr]; !ok {
			ends[at(i).LastAddr] = i
		}
		tail[i] = ends[at(i).LastAddr]
		if k+1 < len(order) && at(order[k+1]).Addr <= at(i).LastAddr {
			edges = append(edges, graph.Edge{From: i, To: order[k+1]})
		}
	}
	return tail, edges
}

// entry is where the innermost inlined call around a node's last instruction begins, 0 if that is
// not known.
func (r *resolver) entry(n *profile.Node) uint64 {
	if len(n.Frames) < 2 {
		return 0
	}
	loc, ok := r.at(n.Image, n.LastAddr)
	if at := len(loc.frames) - len(n.Frames); ok && at >= 0 && at < len(loc.entries) {
		return loc.entries[at]
	}
	return 0
}

// begins reports whether an address lies in a loop.
func (r *resolver) begins(loop []int32, nodes []profile.NodeID, addr uint64) bool {
	return slices.ContainsFunc(loop, func(i int32) bool {
		n := &r.t.Nodes[nodes[i]]
		return n.Addr <= addr && addr <= n.LastAddr
	})
}

// inlinedWhole reports whether all of a loop is code of one inlined call, which then may begin with
// it.
func (r *resolver) inlinedWhole(loop []int32, nodes []profile.NodeID, call []profile.Frame) bool {
	return !slices.ContainsFunc(loop, func(i int32) bool {
		n := &r.t.Nodes[nodes[i]]
		return !inlinedIn(n.First, call) || !inlinedIn(n.Frames, call)
	})
}

// inlinedIn reports whether a place lies in the innermost inlined call of another one.
func inlinedIn(fs, call []profile.Frame) bool {
	k := len(fs) - len(call)
	return k >= 0 && fs[k].Function == call[0].Function && slices.Equal(fs[k+1:], call[1:])
}
