package ledger

import (
	"slices"

	"lime/internal/profile"
)

// Who enters a section at a place of its own does other work there than the others: compilers write
// the code behind a barrier once for the thread that goes on to sum up, and once for all others,
// and no test is left of the one that the program has. Where the others' ways and its own part is
// then the first line, from where it comes in, that leads to its additional time.

// parting looks for the first line of the program's own, from a block on, that leads to most of
// some time that the last threads spent beyond the others. It goes along the ways within the
// function, and where others have been, into those functions that others run too: not calling them
// is the difference. Behind a library's code it looks for what the others have not come to.
func (b *book) parting(from profile.NodeID, time float64) *Spent {
	if time <= 0 || !valid(from, len(b.surplus)) || !b.sharedFunction(from) {
		return nil
	}
	g, w := b.l.guide, b.usedWays()
	lines := map[int32]float64{}
	for v, x := range b.surplus {
		if !g.library[v] {
			lines[g.nodes[v]] += x
		}
	}
	seen, queue := map[profile.NodeID]bool{from: true}, []profile.NodeID{from}
	push := func(v profile.NodeID) {
		if !seen[v] {
			seen[v] = true
			queue = append(queue, v)
		}
	}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		led := 0.0
		if !g.library[v] {
			led = lines[g.nodes[v]]
		}
		for _, callee := range append(w.calls(v), w.tails(v)...) {
			switch {
			case leadsOn(b, v, callee):
				push(callee)
			case !g.library[v]:
				led += w.reach(callee, b.surplus)
			}
		}
		if !g.library[v] && led >= partingShare*time {
			return &Spent{Place: b.outermost(v), Share: share(led, b.acc.Total)}
		}
		for _, next := range w.within(v) {
			push(next)
		}
	}
	return nil
}

// leadsOn says whether the ways of the last threads and the others part in what a block calls, and
// not where it is called.
func leadsOn(b *book, v, callee profile.NodeID) bool {
	lib := b.l.guide.library
	if lib[v] {
		return !b.othersAt(callee)
	}
	return b.othersAt(v) && b.othersAt(callee) && !lib[callee]
}

// sharedFunction says whether threads other than the last ones have been in the function that a
// block is in: who runs a function of its own, as a writer beside workers does, parts from nobody
// there.
func (b *book) sharedFunction(v profile.NodeID) bool {
	of := b.functionOf(v)
	for u, other := range b.others {
		if other && b.functionOf(profile.NodeID(u)) == of {
			return true
		}
	}
	return false
}

// functionOf names the function that a block is in, what it may be inlined from aside.
func (b *book) functionOf(v profile.NodeID) string {
	n := &b.l.tab.Nodes[v]
	if k := len(n.Frames); k > 0 && n.Frames[k-1].Function != "" {
		return n.Frames[k-1].Function
	}
	if n.Function >= 0 && int(n.Function) < len(b.l.tab.Functions) {
		return b.l.tab.Functions[n.Function].Name
	}
	return ""
}

// outermost is the place of a block in the outermost function, of those that were inlined into one
// another, at a line of which no other thread has been: there the code of a call begins that only
// the last ones made.
func (b *book) outermost(v profile.NodeID) Place {
	g := b.l.guide
	been := map[profile.Frame]bool{}
	for u, other := range b.others {
		if other {
			for _, f := range g.tab.Nodes[u].Frames {
				been[lineOf(f)] = true
			}
		}
	}
	n := &g.tab.Nodes[v]
	for k := len(n.Frames) - 1; k > 0; k-- {
		if f := n.Frames[k]; f.Line > 0 && !been[lineOf(f)] && !inLibraryFile(g.tab, n.Frames[k:]) {
			return g.placeOf(n, v, n.LastAddr, n.Frames[k:])
		}
	}
	return g.place(v)
}

// lineOf is a frame without what tells places on one line apart.
func lineOf(f profile.Frame) profile.Frame {
	return profile.Frame{File: f.File, Line: f.Line, Function: f.Function}
}

// othersAt says whether threads other than the last ones have been at a block.
func (b *book) othersAt(v profile.NodeID) bool { return valid(v, len(b.others)) && b.others[v] }

// usedWays are the edges that a section's threads took, by block.
type usedWays struct {
	tab *profile.Tables
	off []int32
	ids []int32
}

// usedWays finds them, once.
func (b *book) usedWays() *usedWays {
	if b.ways == nil {
		b.ways = b.findWays()
	}
	return b.ways
}

func (b *book) findWays() *usedWays {
	tab := b.l.tab
	var from, ids []int32
	for i, used := range b.counts.used {
		if e := &tab.Edges[i]; used && valid(e.From, len(tab.Nodes)) && valid(e.To, len(tab.Nodes)) {
			from, ids = append(from, int32(e.From)), append(ids, int32(i))
		}
	}
	w := &usedWays{tab: tab}
	w.off, w.ids = rows(len(tab.Nodes), from, ids)
	return w
}

// from lists the ways out of a block.
func (w *usedWays) from(v profile.NodeID) []int32 { return w.ids[w.off[v]:w.off[v+1]] }

func (w *usedWays) each(v profile.NodeID, want func(profile.EdgeKind) bool) (to []profile.NodeID) {
	for _, i := range w.from(v) {
		if e := &w.tab.Edges[i]; want(e.Kind) {
			to = append(to, e.To)
		}
	}
	return to
}

func (w *usedWays) calls(v profile.NodeID) []profile.NodeID { return w.each(v, isCall) }

// within lists the ways out of a block that stay in its function.
func (w *usedWays) within(v profile.NodeID) []profile.NodeID {
	return slices.DeleteFunc(w.each(v, inFunction), func(to profile.NodeID) bool { return w.tail(v, to) })
}

// tails lists the functions that a block goes on to instead of returning.
func (w *usedWays) tails(v profile.NodeID) []profile.NodeID {
	return slices.DeleteFunc(w.each(v, inFunction), func(to profile.NodeID) bool { return !w.tail(v, to) })
}

func (w *usedWays) tail(v, to profile.NodeID) bool {
	return startsFunction(w.tab, to) && w.tab.Nodes[v].Function != w.tab.Nodes[to].Function
}

// reach is the sum over all that a block leads to, calls included.
func (w *usedWays) reach(v profile.NodeID, time []float64) (sum float64) {
	seen, stack := map[profile.NodeID]bool{v: true}, []profile.NodeID{v}
	for len(stack) > 0 {
		u := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		sum += time[u]
		for _, i := range w.ids[w.off[u]:w.off[u+1]] {
			if to := w.tab.Edges[i].To; !seen[to] {
				seen[to] = true
				stack = append(stack, to)
			}
		}
	}
	return sum
}
