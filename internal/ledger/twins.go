package ledger

import (
	"lime/internal/profile"
)

// Blocks that overlap can end in the same call. A return is known by its address only, and may have
// been counted for another one of them than the one that called.

// callTwins says for every node whether another one ends in the same call.
func callTwins(tab *profile.Tables) []bool {
	calls := make([]bool, len(tab.Nodes))
	for i := range tab.Edges {
		if e := &tab.Edges[i]; isCall(e.Kind) && valid(e.From, len(calls)) {
			calls[e.From] = true
		}
	}
	n := map[uint64]int{}
	for v, c := range calls {
		if c {
			n[tab.Nodes[v].LastAddr]++
		}
	}
	for v, c := range calls {
		at := tab.Nodes[v].LastAddr
		calls[v] = c && at != 0 && n[at] > 1
	}
	return calls
}

func isCall(k profile.EdgeKind) bool { return k == profile.EdgeCall || k == profile.EdgeCallInd }

// twinCall is one call instruction that several blocks end in, with one of its continuations.
type twinCall struct {
	addr uint64
	to   int32
}

// shareReturns gives every block of a shared call as many returns as it made calls, as far as they
// go; what is left, returns from calls made before the instance, stays with the block that had
// most.
func (f *flow) shareReturns() error {
	if f.scratch.twins == nil {
		f.scratch.twins = callTwins(f.tab)
	}
	returns := map[twinCall][]int32{}
	var order []twinCall
	made := map[uint64][]int32{} // call edges by the address of the call
	for i := range f.edges {
		e := &f.edges[i]
		if e.from < 0 || !f.scratch.twins[f.nodes[e.from]] {
			continue
		}
		if err := f.check(e); err != nil {
			return err
		}
		at := f.tab.Nodes[f.nodes[e.from]].LastAddr
		switch {
		case isCall(e.kind):
			made[at] = append(made[at], int32(i))
		case isReturn(e.kind):
			k := twinCall{at, e.to}
			if returns[k] == nil {
				order = append(order, k)
			}
			returns[k] = append(returns[k], int32(i))
		}
	}
	for _, k := range order {
		f.share(k, returns[k], made[k.addr])
	}
	return nil
}

func (f *flow) share(k twinCall, returns, made []int32) {
	left := make([]uint64, f.parts)
	back := map[int32]int32{} // block -> its Return edge
	most := returns[0]
	for _, i := range returns {
		if f.sumInto(left, i) > f.sumInto(make([]uint64, f.parts), most) {
			most = i
		}
		back[f.edges[i].from] = i
	}
	calls := map[int32][]uint64{}
	var blocks []int32
	for _, i := range made {
		v := f.edges[i].from
		if calls[v] == nil {
			calls[v] = make([]uint64, f.parts)
			blocks = append(blocks, v)
		}
		f.sumInto(calls[v], i)
	}
	if len(blocks) == 0 || len(blocks) == 1 && len(returns) == 1 && back[blocks[0]] == returns[0] {
		return
	}
	for _, v := range blocks {
		if _, ok := back[v]; !ok {
			back[v] = int32(len(f.edges))
			f.edges = append(f.edges, edge{id: profile.None, from: v, to: k.to, kind: profile.EdgeReturn})
		}
	}
	given := map[int32][]uint64{}
	for _, i := range back {
		given[i] = make([]uint64, f.parts)
	}
	given[most] = make([]uint64, f.parts) // it is not in back if another one comes from the same block
	for p := range f.parts {
		for _, v := range blocks {
			n := min(left[p], calls[v][p])
			given[back[v]][p] += n
			left[p] -= n
		}
		given[most][p] += left[p]
	}
	for _, i := range returns {
		f.edges[i].cells = nil
	}
	for i, n := range given {
		f.edges[i].cells = cellsOf(f.edges[i].id, n)
	}
}

// sumInto adds an edge's counts to n, and returns their sum.
func (f *flow) sumInto(n []uint64, i int32) uint64 {
	var sum uint64
	for _, c := range f.edges[i].cells {
		n[c.Part] += c.N
		sum += c.N
	}
	return sum
}

func cellsOf(id profile.EdgeID, n []uint64) []profile.Count {
	var cells []profile.Count
	for p, x := range n {
		if x > 0 {
			cells = append(cells, profile.Count{Row: int32(id), Part: int32(p), N: x})
		}
	}
	return cells
}
