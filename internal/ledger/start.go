package ledger

import (
	"math/bits"
	"slices"

	"lime/internal/profile"
)

// begin puts the start of every part into the flow: where it enters, and the continuations of the
// calls that were open then and have returned in the instance.
func (f *flow) begin() {
	r := newReach(f)
	frames := make([]int, f.parts) // frames of the part's EntryStack that are still open
	for p := range f.inst.Parts {
		part := &f.inst.Parts[p]
		frames[p] = len(part.EntryStack)
		if part.Entry >= 0 && f.node(part.Entry) >= 0 {
			f.startAt(f.local[part.Entry], p, 0)
		}
		for open := common(part); frames[p] > open && f.unwind(p, &frames[p]); {
		}
	}
	interruptions{f}.interrupted()
	f.findOdd()
	r.sources()
	r.spread()
	for f.unwindMore(r, frames) {
		r.spread()
	}
	f.repair(r)
	f.moveOn()
}

// common returns how many frames at the bottom of the part's stacks are the same at its start and
// end.
func common(p *profile.Part) int {
	n := 0
	for n < len(p.EntryStack) && n < len(p.ExitStack) && p.EntryStack[n] == p.ExitStack[n] {
		n++
	}
	if p.ExitStack == nil {
		return len(p.EntryStack) // unknown: nothing is certain
	}
	return n
}

func (f *flow) startAt(v int32, part int, depth int32) {
	f.starts = append(f.starts, start{v, int32(part), depth, depth > 0})
	f.change(f.visits, v, part, 1)
	f.seen[int(v)*f.words+part/64] |= 1 << (part % 64)
}

// unwind makes the return from the innermost open frame of a part a start of its own. It fails if
// no such return was counted.
func (f *flow) unwind(p int, frames *int) bool {
	part := &f.inst.Parts[p]
	if *frames == 0 {
		return false
	}
	i := interruptions{f}.wayBack(part.EntryStack[*frames-1], p)
	if i < 0 {
		return false
	}
	*frames--
	to, odd := f.edges[i].to, f.edges[i].from < 0
	if !odd {
		f.take(i, p)
	}
	if !odd || !(interruptions{f}).startsAt(to, p) {
		f.startAt(to, p, int32(len(part.EntryStack)-*frames))
	}
	return true
}

// take takes one unmatched return off its edge, unless the collector has not counted it.
func (f *flow) take(i int32, p int) {
	e := &f.edges[i]
	if f.lacks(e.to, p) {
		return
	}
	f.takeBack(i, p)
	if f.edgeCount(i, p) == 0 {
		f.ways[int(i)*f.words+p/64] &^= 1 << (p % 64)
	}
}

// returnEdge returns the Return edge of a call that the part has taken, or must have taken; -1 if
// none. A stack knows the call's instruction; several blocks may end in it, and the one of those is
// meant that has come back more often than it was left.
func (f *flow) returnEdge(call profile.NodeID, p int) int32 {
	taken, missing := int32(-1), int32(-1)
	for _, v := range f.callBlocks(call) {
		for i := f.off[v]; i < f.off[v+1]; i++ {
			e := &f.edges[i]
			switch {
			case !isReturn(e.kind) || e.to < 0:
			case f.has(i, p):
				if f.edgeCount(i, p) > f.left[int(v)*f.parts+p] {
					return i
				}
				taken = max(taken, i)
			case f.lacks(e.to, p):
				missing = i
			}
		}
	}
	if taken >= 0 {
		return taken
	}
	return missing
}

// callBlocks returns the blocks that end in the same call.
func (f *flow) callBlocks(call profile.NodeID) []int32 {
	if call < 0 || int(call) >= len(f.local) {
		return nil
	}
	at := f.tab.Nodes[call].LastAddr
	if at == 0 {
		if v := f.local[call]; v >= 0 {
			return []int32{v}
		}
		return nil
	}
	if f.calls == nil {
		f.calls = map[uint64][]int32{}
		for i := range f.edges {
			e := &f.edges[i]
			if !isReturn(e.kind) || e.from < 0 {
				continue
			}
			end := f.tab.Nodes[f.nodes[e.from]].LastAddr
			if vs := f.calls[end]; len(vs) == 0 || vs[len(vs)-1] != e.from {
				f.calls[end] = append(vs, e.from)
			}
		}
	}
	return f.calls[at]
}

// lacks says whether a part has left a node more often than it is known to have come.
func (f *flow) lacks(v int32, p int) bool {
	i := int(v)*f.parts + p
	return f.left[i] > f.visits[i]
}

func (f *flow) has(i int32, p int) bool { return f.ways[int(i)*f.words+p/64]>>(p%64)&1 != 0 }

// edgeCount returns the count of an edge for a part, unmatched returns taken off.
func (f *flow) edgeCount(i int32, p int) uint64 {
	e := &f.edges[i]
	var n uint64
	for _, c := range e.cells {
		if int(c.Part) == p {
			n += c.N
		}
	}
	for _, s := range f.subs {
		if s.edge == i && int(s.part) == p {
			n--
		}
	}
	return n
}

// unwindMore looks for parts that have been in code which nothing leads to so far, and unwinds
// their stacks to the innermost frame whose return leads to such code. It reports whether there was
// one.
func (f *flow) unwindMore(r *reach, frames []int) bool {
	missing := r.missingParts()
	found := false
	for p := range f.parts {
		if missing[p/64]>>(p%64)&1 == 0 {
			continue
		}
		if n := f.frameInto(r, p, frames[p]); n >= 0 {
			known := len(f.starts)
			for frames[p] > n && f.unwind(p, &frames[p]) {
			}
			for _, s := range f.starts[known:] {
				r.add(s.node, p)
			}
			found = true
		}
	}
	return found
}

// frameInto returns the number of frames that stay open if the innermost frame returns which leads
// to code that the part cannot have reached otherwise; -1 if there is none.
func (f *flow) frameInto(r *reach, p, frames int) int {
	stack := f.inst.Parts[p].EntryStack
	for n := frames - 1; n >= 0; n-- {
		i := interruptions{f}.wayBack(stack[n], p)
		if i < 0 {
			return -1
		}
		if !r.has(f.edges[i].to, p) {
			return n
		}
	}
	return -1
}

// moveOn moves the starts of new threads out of code that they share with others: a thread begins
// behind the system call that made it, where the thread that called it goes on as well, and only
// then do their ways part. The first way that a thread takes is known if it has never taken another
// one there.
func (f *flow) moveOn() {
	f.early = make([]uint64, f.parts)
	starting := map[int32]uint64{}
	for _, s := range f.starts {
		starting[s.node]++
	}
	sets := f.startSets()
	unlike := len(sets) > 1
	stays := f.majority(sets)
	for k := 0; k < len(f.starts); k++ {
		for range maxMoves {
			s := f.starts[k]
			if s.node < 0 || f.entries(s.node) <= starting[s.node] {
				break
			}
			starting[s.node]--
			moved := f.moveBirth(k) || unlike && !stays[s.part] && f.moveOnce(k, starting)
			if v := f.starts[k].node; v >= 0 {
				starting[v]++
			}
			if !moved {
				break
			}
		}
	}
	f.starts = slices.DeleteFunc(f.starts, func(s start) bool { return s.node < 0 })
}

// moveBirth moves the start of a new thread along the only way that it has taken.
func (f *flow) moveBirth(k int) bool {
	s := &f.starts[k]
	if s.depth > 0 || len(f.inst.Parts[s.part].EntryStack) > 0 {
		return false
	}
	i := f.onlyWay(s.node, int(s.part))
	if i < 0 || (endings{f}).staysAt(s.node, int(s.part)) {
		return false
	}
	f.leave(s.node, int(s.part))
	f.pass(i, int(s.part))
	s.node = f.edges[i].to
	f.change(f.visits, s.node, int(s.part), 1)
	return true
}

// moveOnce moves a start on where the parts do not all start alike: the thread that came last to a
// barrier passes through code at the section's start that the others visit at its end. A part that
// has been at a node once has taken all of its edges there and then; each target of theirs becomes
// a start.
func (f *flow) moveOnce(k int, starting map[int32]uint64) bool {
	s := f.starts[k]
	v, p := s.node, int(s.part)
	if f.visits[int(v)*f.parts+p] != 1 || f.left[int(v)*f.parts+p] != 1 || (endings{f}).staysAt(v, p) {
		return false
	}
	var took []int32
	for i := f.off[v]; i < f.off[v+1]; i++ {
		if !f.has(i, p) {
			continue
		}
		if e := &f.edges[i]; e.to == v || e.kind == profile.EdgeOdd || e.kind == profile.EdgeVisit || f.edgeCount(i, p) != 1 {
			return false
		}
		took = append(took, i)
	}
	f.leave(v, p)
	f.starts[k].node = -1
	for _, i := range took {
		f.pass(i, p)
		to, back := f.edges[i].to, isReturn(f.edges[i].kind)
		switch {
		case to < 0:
			continue
		case f.starts[k].node < 0:
			f.starts[k].node, f.starts[k].back = to, back
		default:
			f.starts = append(f.starts, start{to, s.part, s.depth, back})
			starting[to]++
		}
		f.change(f.visits, to, p, 1)
	}
	return true
}

// majority marks the parts that start where more than half of them do: it is the others that came
// another way. New threads start in their function, for one, which the main thread calls.
func (f *flow) majority(sets map[string][]int) []bool {
	stays := make([]bool, f.parts)
	for _, set := range sets {
		if 2*len(set) <= f.parts {
			continue
		}
		for _, p := range set {
			stays[p] = true
		}
	}
	return stays
}

// startSets returns the parts by where they start.
func (f *flow) startSets() map[string][]int {
	keys := make([][]byte, f.parts)
	for _, s := range f.starts {
		keys[s.part] = append(keys[s.part], byte(s.node), byte(s.node>>8), byte(s.node>>16), byte(s.node>>24))
	}
	sets := map[string][]int{}
	for p, k := range keys {
		sets[string(k)] = append(sets[string(k)], p)
	}
	return sets
}

// maxMoves bounds how far a start moves.
const maxMoves = 32

// entries returns how often a node was entered, by all parts and in all ways.
func (f *flow) entries(v int32) uint64 {
	var n uint64
	for _, x := range f.visitsOf(v) {
		n += x
	}
	return n
}

// onlyWay returns the edge out of a node if the part has taken no other one; -1 if there is none,
// or a call.
func (f *flow) onlyWay(v int32, p int) int32 {
	only := int32(-1)
	for i := f.off[v]; i < f.off[v+1]; i++ {
		if !f.has(i, p) {
			continue
		}
		switch f.edges[i].kind {
		case profile.EdgeTaken, profile.EdgeFall, profile.EdgeJump, profile.EdgeJumpInd:
			if only >= 0 || f.edges[i].to < 0 {
				return -1
			}
			only = i
		default:
			return -1
		}
	}
	return only
}

// leave takes a visit off a node that a start is moved on from.
func (f *flow) leave(v int32, p int) {
	f.change(f.left, v, p, -1)
	f.change(f.visits, v, p, -1)
	f.early[p] += uint64(f.tab.Nodes[f.nodes[v]].Instrs)
}

// pass takes a traversal off an edge.
func (f *flow) pass(i int32, p int) {
	f.takeBack(i, p)
	if f.edgeCount(i, p) == 0 {
		f.ways[int(i)*f.words+p/64] &^= 1 << (p % 64)
	}
}

// repair invents a start (and an end) for a part wherever it has been in code that nothing leads
// to.
func (f *flow) repair(r *reach) {
	for v := range int32(len(f.nodes)) {
		for w := range f.words {
			for missing := r.missing(v, w); missing != 0; missing &= missing - 1 {
				p := w*64 + bits.TrailingZeros64(missing)
				f.change(f.visits, v, p, 1)
				f.invented = append(f.invented, lack{node: v, part: int32(p), n: 1})
				r.add(v, p)
			}
		}
		r.spread()
	}
}
