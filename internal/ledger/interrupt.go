package ledger

import (
	"slices"

	"lime/internal/profile"
)

// Parts of threads that begin while something has them interrupted: a signal's handler runs, which
// no edge leads to, or a goroutine has been taken off its thread in the midst of a function. They
// come back to a block that they had come to before the part began, by an edge from nowhere. What
// was interrupted within the part was come to as ever, and needs nothing.

// interruptions finds them in a flow.
type interruptions struct{ *flow }

// oddEdges yields the edges from nowhere that break the flow.
func (f interruptions) oddEdges(yield func(int32, *edge) bool) {
	for i := f.off[len(f.nodes)]; int(i) < len(f.edges); i++ {
		if e := &f.edges[i]; e.kind == profile.EdgeOdd && e.to >= 0 && !yield(i, e) {
			return
		}
	}
}

// interrupted makes starts, one for each part, of the blocks that parts came back to in that way:
// they were left more often than come to. Blocks that are never come to otherwise, and before which
// the part was not interrupted when it began, are not meant: handlers, and where exceptions land.
func (f interruptions) interrupted() {
	regular := map[int32]bool{}
	for _, e := range f.oddEdges {
		regular[e.to] = false
	}
	if len(regular) == 0 {
		return
	}
	for _, to := range f.to[:f.off[len(f.nodes)]] {
		if _, asked := regular[to]; asked {
			regular[to] = true
		}
	}
	for _, e := range f.oddEdges {
		for _, c := range e.cells {
			back := regular[e.to] || f.frames(f.inst.Parts[c.Part].EntryStack, e.to) > 0
			if back && c.N > 0 && f.lacks(e.to, int(c.Part)) {
				f.startAt(e.to, int(c.Part), 1)
			}
		}
	}
}

// startsAt reports whether a part has been found to come back to a block.
func (f interruptions) startsAt(v int32, p int) bool {
	return slices.ContainsFunc(f.starts, func(s start) bool { return s.node == v && int(s.part) == p && s.depth > 0 })
}

// wayBack returns the edge by which a part has come back to an open frame: the return of its call,
// or the odd one to where it was interrupted; -1 if none.
func (f interruptions) wayBack(frame profile.NodeID, p int) int32 {
	back := f.returnEdge(frame, p)
	for i, e := range f.oddEdges {
		if back < 0 && f.has(i, p) && f.interruptedAt(frame, e.to) {
			back = i
		}
	}
	return back
}

// stops reports whether a part does not go on from a node because it ends while it is interrupted
// there, or has just come back.
func (f interruptions) stops(end lack) bool {
	n := f.stopped(end.node, int(end.part))
	if f.inst.Parts[end.part].Exit == f.nodes[end.node] {
		n++
	}
	for i, e := range f.oddEdges {
		if e.to == end.node && f.has(i, int(end.part)) {
			n++
		}
	}
	return n >= end.n
}

// stopped is how often a part may be interrupted at a node when it ends.
func (f interruptions) stopped(v int32, p int) uint64 {
	return f.frames(f.inst.Parts[p].ExitStack, v)
}

// frames is how many of a stack's frames may say that a thread was interrupted before a node.
func (f interruptions) frames(stack []profile.NodeID, v int32) (n uint64) {
	for _, frame := range stack {
		if f.interruptedAt(frame, v) {
			n++
		}
	}
	return n
}

// interruptedAt reports whether a frame of a stack may say that a thread was interrupted before it
// came to a block: it ends there.
func (f interruptions) interruptedAt(frame profile.NodeID, v int32) bool {
	if frame < 0 || int(frame) >= len(f.tab.Nodes) {
		return false
	}
	n := &f.tab.Nodes[frame]
	return n.Size > 0 && n.Addr+uint64(n.Size) == f.tab.Nodes[f.nodes[v]].Addr
}
