package analysis

import (
	"cmp"
	"slices"

	"lime/internal/graph"
	"lime/internal/profile"
)

// proc is the control-flow graph of one function whose blocks are known with their static edges, as
// sampling collectors write them. Its blocks stand in the order of their addresses.
type proc struct {
	*graph.Proc
	nodes []profile.NodeID
	at    map[profile.NodeID]int32
}

// newProc builds the graph of a function from its nodes and the edges of the tables.
func newProc(tab *profile.Tables, nodes []profile.NodeID, edges [][]int32) *proc {
	p := &proc{nodes: nodes, at: map[profile.NodeID]int32{}}
	slices.SortFunc(p.nodes, func(a, b profile.NodeID) int {
		return cmp.Or(cmp.Compare(tab.Nodes[a].Addr, tab.Nodes[b].Addr), cmp.Compare(a, b))
	})
	for i, v := range p.nodes {
		p.at[v] = int32(i)
	}
	succ, blocks := make([][]int32, len(nodes)), make([]graph.ProcBlock, len(nodes))
	for i, v := range p.nodes {
		kind := tab.Nodes[v].Kind
		blocks[i] = graph.ProcBlock{Cond: kind == profile.EndCond, Indirect: kind == profile.EndJumpInd,
			Fails: kind == profile.EndOther}
		for _, e := range edges[v] {
			if to, ok := p.at[tab.Edges[e].To]; ok && !isCall(tab.Edges[e].Kind) {
				succ[i] = append(succ[i], to)
			}
		}
	}
	p.Proc = graph.NewProc(succ, blocks)
	return p
}

// boundary is where control enters a part of a function: a loop, or one way of a branch.
type boundary struct {
	kind boundaryKind
	node profile.NodeID // the test
	in   profile.NodeID // the loop's header, or where the way leads
	// calls: the function that was called, since one call can lead to several
	callee profile.FunctionID
	join   bool // branch: the other way comes back to the same code
}

type boundaryKind uint8

const (
	boundCall boundaryKind = iota
	boundBranch
	boundLoop
	boundRecursion
	boundLeaf
)

// chain lists the boundaries around a block, outermost first.
func (p *proc) chain(tab *profile.Tables, node profile.NodeID) []boundary {
	x, ok := p.at[node]
	if !ok || p.Idom[x] == graphNone && x != 0 {
		return nil
	}
	var out []boundary
	l := p.Inner[x]
	for {
		out = p.branches(tab, out, &x, l)
		if l == graphNone {
			break
		}
		lp := &p.Loops[l]
		test := lp.Test
		if test == graphNone {
			test = lp.Header
		}
		out = append(out, boundary{kind: boundLoop, node: p.nodes[test], in: p.nodes[lp.Header]})
		x, l = lp.Header, lp.Parent
	}
	slices.Reverse(out)
	return out
}

// branches adds the branches that decide whether x is reached, within a loop; x ends at the
// outermost of them.
func (p *proc) branches(tab *profile.Tables, out []boundary, x *int32, l int32) []boundary {
	behind := *x
	for u := p.Idom[*x]; u != graphNone && (l == graphNone || p.Loops[l].Body[u]); behind, u = u, p.Idom[u] {
		if all := p.copies(tab, u, behind, l); len(all) > 0 {
			out, *x = append(out, all...), u
			continue
		}
		if tab.Nodes[p.nodes[u]].Kind != profile.EndCond || len(p.Succ[u]) < 2 || graph.Above(*x, u, p.Pdom) || p.tests(u, l) {
			continue
		}
		way := graphNone
		other := graphNone
		for _, s := range p.Succ[u] {
			if graph.Above(s, *x, p.Idom) && s != u {
				way = int(s)
			} else {
				other = int(s)
			}
		}
		if way == graphNone {
			if !p.tested(tab, u, *x) {
				continue
			}
			way, other = int(*x), int(p.Pdom[u])
		}
		out = append(out, p.branch(u, int32(way), int32(other), l))
		*x = u
	}
	return out
}

// branch is the boundary at u, of which one way leads to a part.
func (p *proc) branch(u, way, other, l int32) boundary {
	return boundary{kind: boundBranch, node: p.nodes[u], in: p.nodes[way], join: other != graphNone && p.meets(way, other, l)}
}

// tested reports whether all that happens between u and x are further tests: a condition of several
// parts (a && b || c), of which u is the first, decides whether x is reached.
func (p *proc) tested(tab *profile.Tables, u, x int32) bool {
	seen, work := map[int32]bool{x: true}, []int32{x}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, before := range p.Pred[v] {
			switch {
			case before == u || seen[before] || p.Idom[before] == graphNone:
			case before == x || graph.Above(x, before, p.Idom): // a loop that begins at x
			case tab.Nodes[p.nodes[before]].Kind != profile.EndCond:
				return false
			default:
				seen[before] = true
				work = append(work, before)
			}
		}
	}
	return true
}

// meets reports whether two ways of a branch come together again before the function, or the
// iteration, ends.
func (p *proc) meets(a, b, l int32) bool {
	exit := int32(len(p.nodes))
	if l != graphNone {
		return p.Loops[l].Body[b]
	}
	for v := a; v != graphNone && v != exit; v = p.Pdom[v] {
		if graph.Above(v, b, p.Pdom) {
			return true
		}
	}
	return false
}

// tests reports whether u decides over leaving the loop.
func (p *proc) tests(u, l int32) bool { return l != graphNone && p.Leaves(u, &p.Loops[l]) }

// exits is the number of blocks that can end a loop.
func (ps *procs) exits(b boundary) (n int) {
	ps.of(ps.tab.Nodes[b.node].Function).leaving(b, func(int32, *graph.ProcLoop) { n++ })
	return n
}

// leaving visits the blocks that can end a loop.
func (p *proc) leaving(b boundary, visit func(v int32, l *graph.ProcLoop)) {
	head, ok := p.at[b.in]
	if !ok {
		return
	}
	for i := range p.Loops {
		if l := &p.Loops[i]; l.Header == head {
			for v := range int32(len(p.nodes)) {
				if l.Body[v] && p.Leaves(v, l) {
					visit(v, l)
				}
			}
		}
	}
}

// guards reports whether of a branch's ways one leads to a loop, and to nothing else, and the other
// one to where the loop ends.
func (p *proc) guards(b, loop boundary) (yes bool) {
	if b.kind != boundBranch || loop.kind != boundLoop {
		return false
	}
	in, head := p.at[b.in], p.at[loop.in]
	if in != head && (len(p.Succ[in]) != 1 || p.Succ[in][0] != head) {
		return false
	}
	ways := p.Succ[p.at[b.node]]
	p.leaving(loop, func(v int32, l *graph.ProcLoop) {
		for _, s := range p.Succ[v] {
			yes = yes || !l.Body[s] && slices.Contains(ways, s)
		}
	})
	return yes
}
