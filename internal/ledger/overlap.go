// Blocks that overlap hold the same instructions: code that is entered in its middle, or that ran as
// one block before something jumped into its middle, is written down twice, and the events of its
// instructions belong to one of the two. What an event costs goes by how often its instruction ran
// in all of them.
package ledger

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// overlapping lists, by node, the nodes that have instructions in common with it, itself included,
// where there are others.
func overlapping(tab *profile.Tables) map[profile.NodeID][]profile.NodeID {
	var byAddr []profile.NodeID
	for v := range tab.Nodes {
		if tab.Nodes[v].LastAddr != 0 {
			byAddr = append(byAddr, profile.NodeID(v))
		}
	}
	slices.SortFunc(byAddr, func(a, b profile.NodeID) int {
		return cmp.Or(cmp.Compare(tab.Nodes[a].Addr, tab.Nodes[b].Addr), cmp.Compare(a, b))
	})
	shared := map[profile.NodeID][]profile.NodeID{}
	add := func(v, with profile.NodeID) {
		if shared[v] == nil {
			shared[v] = []profile.NodeID{v}
		}
		shared[v] = append(shared[v], with)
	}
	for i, v := range byAddr {
		for _, w := range byAddr[i+1:] {
			if tab.Nodes[w].Addr > tab.Nodes[v].LastAddr {
				break
			}
			add(v, w)
			add(w, v)
		}
	}
	return shared
}

// holders are the nodes that hold an event's instruction, of those that the instance has met.
func (a *accountant) holders(e *eventCosts) []int32 {
	ev := &a.f.tab.Events[e.id]
	same := a.l.guide.overlaps[ev.Node]
	if len(same) == 0 || ev.Addr == 0 {
		return []int32{e.node}
	}
	var out []int32
	for _, id := range same {
		if v, n := a.f.local[id], &a.f.tab.Nodes[id]; v >= 0 && n.Addr <= ev.Addr && ev.Addr <= n.LastAddr {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return []int32{e.node}
	}
	return out
}

// executions is how often every part ran through some nodes.
func (a *accountant) executions(nodes []int32) []uint64 {
	if len(nodes) == 1 {
		return a.f.visitsOf(nodes[0])
	}
	n := slices.Clone(a.f.visitsOf(nodes[0]))
	for _, v := range nodes[1:] {
		for p, x := range a.f.visitsOf(v) {
			n[p] += x
		}
	}
	return n
}

// takeOff takes an event's price off the plain prices of the nodes that hold its instruction, from
// each by how often each part ran it there.
func (a *accountant) takeOff(row func(int32) []float64, e *eventCosts, nodes []int32, price []float64, ran []uint64) {
	for _, v := range nodes {
		own := row(v)
		for p, n := range a.f.visitsOf(v) {
			switch {
			case ran[p] > 0:
				own[p] -= price[p] * float64(n) / float64(ran[p])
			case v == nodes[0]:
				own[p] -= price[p]
			}
		}
	}
}
