// Package graph computes on control-flow graphs of integer nodes: dominators, back
// edges with calls and returns matched, natural loops and their tests, and the leaders of a
// set of edges. It knows no profile and no program, and imports the standard library only.
package graph

import (
	"maps"
	"slices"
)

// None stands for no node.
const None = -1

// Edge goes from node From to node To; either may be None. A call edge leads to the
// callee's entry; the way from a call block to its continuation is an ordinary edge.
type Edge struct {
	From, To int32
	Call     bool
}

// Graph is a directed multigraph with nodes 0 to n-1; edges keep their index.
type Graph struct {
	n     int
	edges []Edge
	outs  []int32 // edge indices by From
	outAt []int32
	ins   []int32 // edge indices by To
	insAt []int32
}

// New builds the graph. Edges with an end outside 0..n-1 count as having no such end.
func New(n int, edges []Edge) *Graph {
	g := &Graph{n: n, edges: make([]Edge, len(edges))}
	for i, e := range edges {
		g.edges[i] = Edge{From: within(e.From, n), To: within(e.To, n), Call: e.Call}
	}
	g.outs, g.outAt = g.index(func(e Edge) int32 { return e.From })
	g.ins, g.insAt = g.index(func(e Edge) int32 { return e.To })
	return g
}

func within(v int32, n int) int32 {
	if v < 0 || int(v) >= n {
		return None
	}
	return v
}

// index lists the edges by one of their ends, in order of the edge's index.
func (g *Graph) index(end func(Edge) int32) (list, at []int32) {
	at = make([]int32, g.n+1)
	for _, e := range g.edges {
		if v := end(e); v != None {
			at[v+1]++
		}
	}
	for v := range g.n {
		at[v+1] += at[v]
	}
	list = make([]int32, at[g.n])
	fill := append([]int32(nil), at[:g.n]...)
	for i, e := range g.edges {
		if v := end(e); v != None {
			list[fill[v]] = int32(i)
			fill[v]++
		}
	}
	return list, at
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return g.n }

// Edge returns edge i.
func (g *Graph) Edge(i int32) Edge { return g.edges[i] }

// Out returns the indices of the edges that leave v.
func (g *Graph) Out(v int32) []int32 { return g.outs[g.outAt[v]:g.outAt[v+1]] }

// In returns the indices of the edges that enter v.
func (g *Graph) In(v int32) []int32 { return g.ins[g.insAt[v]:g.insAt[v+1]] }

// Leaders returns, in ascending order, the nodes that lead the set of edges: at least one outgoing
// edge is in it, and no incoming edge is, back edges apart.
func (g *Graph) Leaders(set []int32, back []bool) []int32 {
	in := make(map[int32]bool, len(set))
	for _, e := range set {
		in[e] = true
	}
	found := map[int32]bool{}
	for _, e := range set {
		if v := g.edges[e].From; v != None && !found[v] && !g.entered(v, in, back) {
			found[v] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func (g *Graph) entered(v int32, in map[int32]bool, back []bool) bool {
	for _, e := range g.In(v) {
		if in[e] && !back[e] {
			return true
		}
	}
	return false
}
