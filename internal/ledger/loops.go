package ledger

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// loopExits says for every node whether it decides about a loop: one of its ways stays in a loop,
// another one leaves it. Loops are found in the graph without calls, whatever functions its jumps
// cross: strongly connected components, then those that are left without the edges to the loop's
// head, and so on inwards.
//
// rounds has, for those nodes, where they lead to that stays in the innermost of these loops.
func loopExits(tab *profile.Tables) (exits []bool, rounds map[int32][]int32) {
	l := newLoops(tab)
	exits = make([]bool, l.n)
	for range maxNesting {
		if !l.peel(exits) {
			break
		}
	}
	for v := range exits {
		exits[v] = exits[l.tail[v]]
		if to := l.rounds[l.tail[v]]; to != nil {
			l.rounds[int32(v)] = to
		}
	}
	return exits, l.rounds
}

// maxNesting bounds the work on graphs that no compiler makes.
const maxNesting = 64

type loops struct {
	n       int
	off, to []int32 // edges still in the game, -1 = taken out
	all     []int32 // all edges, by off
	tail    []int32 // of blocks that overlap, the one that decides
	region  []int32 // loop in which the node is looked at, -1 = none
	rounds  map[int32][]int32
}

func newLoops(tab *profile.Tables) *loops {
	l := &loops{n: len(tab.Nodes), rounds: map[int32][]int32{}}
	l.tail = tails(tab)
	from, to := overlaps(tab)
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if !inFunction(e.Kind) || !valid(e.From, l.n) || !valid(e.To, l.n) {
			continue
		}
		from, to = append(from, l.tail[e.From]), append(to, int32(e.To))
	}
	l.off, l.all = rows(l.n, from, to)
	l.to = append([]int32(nil), l.all...)
	return l
}

// Blocks may overlap: a jump into the middle of a block makes another one, which ends in the same
// instruction; and a block that is met anew after that may be cut short there.

// tails returns for every block the shortest one that ends in the same instruction: that one
// decides for all.
func tails(tab *profile.Tables) []int32 {
	tail := make([]int32, len(tab.Nodes))
	best := map[uint64]int32{}
	for v := range tail {
		tail[v] = int32(v)
		at := tab.Nodes[v].LastAddr
		if b, ok := best[at]; at != 0 && (!ok || tab.Nodes[b].Addr < tab.Nodes[v].Addr) {
			best[at] = int32(v)
		}
	}
	for v := range tail {
		if at := tab.Nodes[v].LastAddr; at != 0 {
			tail[v] = best[at]
		}
	}
	return tail
}

// overlaps returns an edge from every block that has others inside to the first of those: a shorter
// one that begins where it does, or the next one that begins within it.
func overlaps(tab *profile.Tables) (from, to []int32) {
	ids := make([]int32, 0, len(tab.Nodes))
	for v := range tab.Nodes {
		if tab.Nodes[v].LastAddr != 0 {
			ids = append(ids, int32(v))
		}
	}
	slices.SortFunc(ids, func(x, y int32) int {
		a, b := &tab.Nodes[x], &tab.Nodes[y]
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.LastAddr, b.LastAddr), cmp.Compare(x, y))
	})
	for i, after := 0, 0; i < len(ids); i = after {
		for after = i; after < len(ids) && tab.Nodes[ids[after]].Addr == tab.Nodes[ids[i]].Addr; after++ {
			if after > i {
				from, to = append(from, ids[after]), append(to, ids[i])
			}
		}
		if v := ids[i]; after < len(ids) && tab.Nodes[ids[after]].Addr <= tab.Nodes[v].LastAddr {
			from, to = append(from, v), append(to, ids[after])
		}
	}
	return from, to
}

func valid(v profile.NodeID, n int) bool { return v >= 0 && int(v) < n }

// inFunction says whether an edge stays in the function: a Return edge stands for the call.
func inFunction(k profile.EdgeKind) bool {
	switch k {
	case profile.EdgeTaken, profile.EdgeFall, profile.EdgeJump, profile.EdgeJumpInd, profile.EdgeReturn:
		return true
	}
	return false
}

// peel finds the loops of the edges that are left, marks the nodes that leave them, and takes the
// edges to their heads out. It reports whether there were any.
func (l *loops) peel(exits []bool) bool {
	comps, comp := components(l.n, l.off, l.to)
	l.region = make([]int32, l.n)
	found := false
	for c, nodes := range comps {
		r := int32(-1)
		if len(nodes) > 1 || l.selfLoop(nodes[0]) {
			r, found = int32(c), true
		}
		for _, v := range nodes {
			l.region[v] = r
		}
	}
	if !found {
		return false
	}
	l.mark(exits, comp)
	l.cut(comps)
	return true
}

func (l *loops) selfLoop(v int32) bool {
	for _, t := range l.to[l.off[v]:l.off[v+1]] {
		if t == v {
			return true
		}
	}
	return false
}

func (l *loops) mark(exits []bool, comp []int32) {
	for v := range int32(l.n) {
		if l.region[v] < 0 {
			continue
		}
		stays, leaves := []int32(nil), false
		for _, t := range l.all[l.off[v]:l.off[v+1]] {
			if l.region[t] == l.region[v] {
				stays = append(stays, t)
			} else {
				leaves = true
			}
		}
		if len(stays) > 0 && leaves {
			exits[v], l.rounds[v] = true, stays
		}
	}
}

// cut takes out the edges that leave their loop or lead to its head.
func (l *loops) cut(comps [][]int32) {
	head := make([]bool, l.n)
	headed := make([]bool, len(comps))
	for v := range int32(l.n) {
		for _, t := range l.all[l.off[v]:l.off[v+1]] {
			if r := l.region[t]; r >= 0 && l.region[v] != r {
				head[t], headed[r] = true, true
			}
		}
	}
	for v := range int32(l.n) {
		if r := l.region[v]; r >= 0 && !headed[r] {
			head[v], headed[r] = true, true
		}
	}
	for v := range int32(l.n) {
		for e := l.off[v]; e < l.off[v+1]; e++ {
			if t := l.to[e]; t >= 0 && (l.region[v] < 0 || l.region[t] != l.region[v] || head[t]) {
				l.to[e] = -1
			}
		}
	}
}
