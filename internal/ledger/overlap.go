// Blocks that overlap hold the same instructions: code that is entered in its middle is written
// down twice, and the events of its instructions belong to one of the two. What an event costs goes
// by how often its instruction ran in all of them.
package ledger

import (
	"slices"

	"lime/internal/profile"
)

// overlapping lists, by node, the nodes that end in the same instruction, where there are several:
// code runs on from each of them to the same end.
func overlapping(tab *profile.Tables) map[profile.NodeID][]profile.NodeID {
	byEnd := map[uint64][]profile.NodeID{}
	for v := range tab.Nodes {
		if at := tab.Nodes[v].LastAddr; at != 0 {
			byEnd[at] = append(byEnd[at], profile.NodeID(v))
		}
	}
	shared := map[profile.NodeID][]profile.NodeID{}
	for _, vs := range byEnd {
		if len(vs) < 2 {
			continue
		}
		for _, v := range vs {
			shared[v] = vs
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
		if v := a.f.local[id]; v >= 0 && a.f.tab.Nodes[id].Addr <= ev.Addr {
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
