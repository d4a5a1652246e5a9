// Compilers make a copy of a test for each way to it on which they know something more (jump
// threading, tail duplication). None of the copies dominates what they decide over: all do together.

package analysis

import (
	"cmp"
	"maps"
	"slices"

	"lime/internal/profile"
)

// copies lists the branches, the innermost first, that stand in several blocks between u, which
// dominates x, and x: the tests of one line of which every way from u to x passes one, and each of which
// can say no.
func (p *proc) copies(tab *profile.Tables, u, x, l int32) (out []boundary) {
	between := p.waysTo(x, u, nil)
	if len(between) == 0 {
		return nil
	}
	tests := map[lineKey]map[int32]bool{}
	for v := range between {
		key := frameKey(tab.Nodes[p.nodes[v]].Frames, 0)
		if key.line != 0 && tab.Nodes[p.nodes[v]].Kind == profile.EndCond && !p.tests(v, l) && p.saysNo(v, x, between) >= 0 {
			if tests[key] == nil {
				tests[key] = map[int32]bool{}
			}
			tests[key][v] = true
		}
	}
	behind := map[profile.NodeID]int{} // how many blocks the ways behind the tests lead through
	for _, list := range tests {
		inside := p.waysTo(x, u, list)
		if len(list) < 2 || inside[u] {
			continue
		}
		v := slices.Min(slices.Collect(maps.Keys(list)))
		way := x
		for _, s := range p.Succ[v] {
			if inside[s] {
				way = s
			}
		}
		b := p.branch(v, way, p.saysNo(v, x, between), l)
		behind[b.node] = len(inside)
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b boundary) int {
		return cmp.Or(cmp.Compare(behind[a.node], behind[b.node]), cmp.Compare(a.node, b.node))
	})
	return out
}

// waysTo are the blocks on the ways to x, back to some blocks and to u. These are not among them, but u
// is if a way from there meets none of the others.
func (p *proc) waysTo(x, u int32, from map[int32]bool) map[int32]bool {
	on, work := map[int32]bool{}, []int32{x}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, before := range p.Pred[v] {
			switch {
			case before == x || on[before] || from[before] || p.Idom[before] == graphNone && before != 0:
			case before == u && from == nil:
			case before == u:
				on[u] = true
			default:
				on[before] = true
				work = append(work, before)
			}
		}
	}
	return on
}

// saysNo is where a test leads from which no way goes on to x, -1 if there is no such way.
func (p *proc) saysNo(v, x int32, between map[int32]bool) int32 {
	for _, s := range p.Succ[v] {
		if s != x && !between[s] {
			return s
		}
	}
	return -1
}
