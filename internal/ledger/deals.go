// Pieces of work that a runtime deals out to whoever comes first: which calls belong to one such loop,
// how many pieces each thread was given, and where the program tests whether there was one more.

package ledger

import (
	"cmp"
	"maps"
	"slices"

	"lime/internal/origin"
	"lime/internal/profile"
)

// deals are the loops whose iterations a runtime deals out.
type deals struct {
	calls  map[profile.EdgeID]origin.Deal
	tested map[profile.NodeID]int32 // whether there is one more piece, or one more round of it: of which loop
	loops  []dealtLoop
}

// dealtLoop are the calls of one loop: they come to the same end, or from the same beginning.
type dealtLoop struct {
	calls []profile.EdgeID
	asks  []profile.NodeID // the blocks that ask for a piece
	spans []int32          // the blocks from there up to the end
	head  Place
}

// newDeals leaves out what runtimes call themselves.
func newDeals(tab *profile.Tables, library []bool) deals {
	d := deals{map[profile.EdgeID]origin.Deal{}, map[profile.NodeID]int32{}, nil}
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if !valid(e.From, len(tab.Nodes)) || !valid(e.To, len(tab.Nodes)) || library[e.From] {
			continue
		}
		what := origin.Deals(functionName(tab, e.To))
		if isCall(e.Kind) && what != origin.DealsNot || tailCall(tab, e) && what == origin.DealsEnd {
			d.calls[profile.EdgeID(i)] = what
		}
	}
	if len(d.calls) > 0 {
		d.sort(tab, newLoops(tab), library)
	}
	return d
}

// tailCall says whether an edge leads into another function for good.
func tailCall(tab *profile.Tables, e *profile.Edge) bool {
	return (e.Kind == profile.EdgeJump || e.Kind == profile.EdgeTaken) && tab.Nodes[e.From].Function != tab.Nodes[e.To].Function
}

// sort puts the calls together that are of one loop, and finds what they return to.
func (d *deals) sort(tab *profile.Tables, ways *loops, library []bool) {
	ids := slices.Sorted(maps.Keys(d.calls))
	what := map[int32]origin.Deal{} // by block
	for _, id := range ids {
		what[ways.tail[tab.Edges[id].From]] = d.calls[id]
	}
	same, spans := newSame(what), map[int32][]int32{}
	for v, w := range what {
		spans[v] = ways.upTo(v, what)
		for _, u := range spans[v] {
			if w == origin.DealsPiece && what[u] == origin.DealsEnd || w == origin.DealsBegin && what[u] == origin.DealsPiece {
				same.join(u, v)
			}
		}
	}
	number, of := map[int32]int32{}, map[int32]int32{}
	for _, id := range ids {
		v := ways.tail[tab.Edges[id].From]
		n, ok := number[same.of(v)]
		if !ok {
			n = int32(len(d.loops))
			number[same.of(v)], d.loops = n, append(d.loops, dealtLoop{})
		}
		of[v] = n
		l := &d.loops[n]
		l.calls = append(l.calls, id)
		if d.calls[id] == origin.DealsPiece && !slices.Contains(l.asks, profile.NodeID(v)) {
			l.asks = append(l.asks, profile.NodeID(v))
			l.spans = append(l.spans, spans[v]...)
		}
	}
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if e.Kind != profile.EdgeReturn || !valid(e.From, len(library)) || !valid(e.To, len(library)) || library[e.To] {
			continue
		}
		if v := ways.tail[e.From]; what[v] == origin.DealsPiece {
			d.tested[e.To] = of[v]
		}
	}
}

// upTo are the blocks that the ways from a block lead to, up to where a loop begins or ends.
func (l *loops) upTo(from int32, what map[int32]origin.Deal) (met []int32) {
	seen, queue := map[int32]bool{}, []int32{from}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, t := range l.all[l.off[v]:l.off[v+1]] {
			if seen[t] {
				continue
			}
			seen[t], met = true, append(met, t)
			if w := what[t]; w != origin.DealsBegin && w != origin.DealsEnd {
				queue = append(queue, t)
			}
		}
	}
	return met
}

// same says which blocks belong together.
type same map[int32]int32

func newSame[T any](of map[int32]T) same {
	s := same{}
	for v := range of {
		s[v] = v
	}
	return s
}

// of is the least of the blocks that belong to one.
func (s same) of(v int32) int32 {
	for s[v] != v {
		v = s[v]
	}
	return v
}

func (s same) join(v, u int32) {
	v, u = s.of(v), s.of(u)
	s[max(v, u)] = min(v, u)
}

// dealt is how many pieces of a loop each thread was given: it has asked for each of them, and once in
// vain each time that it came to the loop, which it calls the end of as often, or the beginning. ok is
// false if that does not come out.
func (c *counts) dealt(g *guide, loop int32, perm []int) (given []uint64, ok bool) {
	sum, ends := make([]int64, len(perm)), false
	for _, id := range g.deals.loops[loop].calls {
		sign := int64(1)
		if g.deals.calls[id] != origin.DealsPiece {
			sign, ends = -1, true
		}
		for p, n := range permuted(c.n[id], perm) {
			sum[p] += sign * int64(n)
		}
	}
	given = make([]uint64, len(sum))
	for p, n := range sum {
		if n < 0 || !ends {
			return nil, false
		}
		given[p] = uint64(n)
	}
	return given, true
}

// dealtLoop is the number, from 1 on, of the loop that a test asks for one more piece of; 0 if it does not.
func (g *guide) dealtLoop(test profile.NodeID) int {
	if loop, ok := g.deals.tested[test]; ok {
		return int(loop) + 1
	}
	return 0
}

// dealtHead is where a loop stands that is dealt out: at the first of its lines, that of the call for the
// first piece among them, which is the directive's as a rule. Where threads come for the next one may have
// any line of the body, of its last statement as a rule. Lines do not count that another loop of the
// function has, which the compiler has left over.
func (g *guide) dealtHead(loop int32) Place {
	first, round := g.firstAsk(loop)
	around := g.nests().around
	at := g.place(first)
	depth, inside := len(at.Frames), map[profile.NodeID]bool{}
	if round >= 0 {
		depth = g.nests().loops[round].depth + 1
		for v := range around {
			inside[profile.NodeID(v)] = slices.Contains(around[v], round)
		}
	} else { // nobody was given two pieces: the loop is what lies between the calls
		for _, v := range g.deals.loops[loop].spans {
			inside[profile.NodeID(v)] = true
		}
	}
	var lines []Place
	type line struct {
		file string
		line int32
	}
	others := map[line]bool{}
	for v := range around {
		id := profile.NodeID(v)
		p, ok := g.outerLine(id, depth)
		switch {
		case !ok:
		case inside[id] || id == first:
			lines = append(lines, p)
		case slices.ContainsFunc(around[v], func(l int32) bool { return !slices.Contains(around[first], l) }):
			others[line{p.File, p.Line}] = true
		}
	}
	lines = slices.DeleteFunc(lines, func(p Place) bool { return others[line{p.File, p.Line}] || p.File != at.File })
	if len(lines) == 0 {
		return at
	}
	return slices.MinFunc(lines, func(a, b Place) int { return cmp.Compare(a.Line, b.Line) })
}

// outerLine is the place of a block in the outermost of its functions but so many: of what is inlined
// there, that of the call.
func (g *guide) outerLine(id profile.NodeID, depth int) (p Place, ok bool) {
	n := &g.tab.Nodes[id]
	k := len(n.Frames) - depth
	if g.library[id] || k < 0 || k >= len(n.Frames) || n.Frames[k].Line <= 0 {
		return p, false
	}
	return g.placeOf(n, id, n.LastAddr, n.Frames[k:]), true
}

// firstAsk is where threads come for their first piece of a loop, and which loop of the program's goes
// round once for each piece, -1 if none does: nobody was given two of them.
func (g *guide) firstAsk(loop int32) (first profile.NodeID, round int32) {
	around, asks := g.nests().around, g.deals.loops[loop].asks
	outer := func(a, b profile.NodeID) int {
		return cmp.Or(len(around[a])-len(around[b]), cmp.Compare(g.place(a).Line, g.place(b).Line), cmp.Compare(a, b))
	}
	first, next := slices.MinFunc(asks, outer), slices.MaxFunc(asks, outer)
	inside := len(around[first])
	if len(asks) == 1 {
		inside-- // it comes for all of them there
	}
	if inside < 0 || inside >= len(around[next]) {
		return first, -1
	}
	return first, around[next][inside]
}

// dealtParts finds where loops stand that are dealt out, and the tests of the loops that go through one
// piece: what is dealt out are their rounds. Where such a loop ends, the thread comes for the next piece straight away.
func (g *guide) dealtParts() {
	if len(g.deals.loops) == 0 {
		return
	}
	for i := range g.deals.loops {
		if len(g.deals.loops[i].asks) > 0 {
			g.deals.loops[i].head = g.dealtHead(int32(i))
		}
	}
	around, ways, of := g.nests().around, newLoops(g.tab), map[int32]int32{}
	for i := range g.deals.loops {
		if len(g.deals.loops[i].asks) == 0 {
			continue
		}
		if _, round := g.firstAsk(int32(i)); round >= 0 {
			for _, v := range g.deals.loops[i].asks {
				of[int32(v)] = int32(i)
			}
		}
	}
	for v := range g.exits {
		if !g.exits[v] || g.library[v] {
			continue
		}
		tail := ways.tail[v]
		for _, t := range ways.all[ways.off[tail]:ways.off[tail+1]] {
			loop, ok := ways.straightTo(g.tab, t, of)
			if !ok {
				continue
			}
			if _, round := g.firstAsk(loop); slices.Contains(around[v], round) && around[v][len(around[v])-1] != round {
				g.deals.tested[profile.NodeID(v)] = loop
			}
		}
	}
}

// straightTo looks for one of some blocks on the way from a block on, as long as there is only one: what
// compilers put between a loop and what follows it.
func (l *loops) straightTo(tab *profile.Tables, v int32, of map[int32]int32) (loop int32, ok bool) {
	for range farStraight {
		v = l.tail[v]
		if loop, ok = of[v]; ok {
			return loop, true
		}
		on := l.all[l.off[v]:l.off[v+1]]
		if len(on) != 1 || tab.Nodes[v].Kind == profile.EndCond { // where nobody went the other way
			break
		}
		v = on[0]
	}
	return 0, false
}
