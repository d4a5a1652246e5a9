// Pieces of work that a runtime deals out to whoever comes first: how many each thread was given, and
// where the program tests whether there was one more.

package ledger

import (
	"lime/internal/origin"
	"lime/internal/profile"
)

// deals are the calls by which the program comes for a piece, and what they return to.
type deals struct {
	calls  map[profile.EdgeID]int // 1: a thread asks for a piece; -1: it has asked once in vain
	tested []bool                 // by node: the program is told there whether it was given one
}

// newDeals leaves out what runtimes call themselves.
func newDeals(tab *profile.Tables, library []bool) deals {
	d := deals{map[profile.EdgeID]int{}, make([]bool, len(tab.Nodes))}
	asks := make([]bool, len(tab.Nodes))
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if !isCall(e.Kind) || !valid(e.From, len(asks)) || !valid(e.To, len(asks)) || library[e.From] {
			continue
		}
		if n := origin.Deals(functionName(tab, e.To)); n != 0 {
			d.calls[profile.EdgeID(i)] = n
			asks[e.From] = n > 0
		}
	}
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if e.Kind == profile.EdgeReturn && valid(e.From, len(asks)) && valid(e.To, len(asks)) && asks[e.From] {
			d.tested[e.To] = true
		}
	}
	return d
}

// dealt is how many pieces each thread was given by the function of a block. With two loops in one
// function that is not known, and the block is a branch like others.
func (c *counts) dealt(g *guide, at profile.NodeID, perm []int) (Kind, []uint64) {
	sum, loops := make([]int64, len(perm)), 0
	for id, sign := range g.deals.calls {
		if g.tab.Nodes[g.tab.Edges[id].From].Function != g.tab.Nodes[at].Function {
			continue
		}
		if sign < 0 {
			loops++
		}
		for p, n := range permuted(c.n[id], perm) {
			sum[p] += int64(sign) * int64(n)
		}
	}
	out := make([]uint64, len(sum))
	for p, n := range sum {
		if n < 0 || loops != 1 {
			return Branch, nil
		}
		out[p] = uint64(n)
	}
	return Dealt, out
}
