package ledger

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"lime/internal/profile"
	"lime/internal/stat"
)

// Rows can make up for one another, in all threads alike: whoever took more of a shared queue had
// cheaper pieces, and in a recursion the ways down and the ways back are bound to one another by
// the tree that is walked. Each such row for itself is many times the imbalance, and says nothing
// about it; only what is left of them together does.

// net takes rows together that make up for one another.
func (b *book) net() {
	if b.acc.Total <= noise*b.acc.TMax {
		return
	}
	for _, e := range b.rows {
		e.threads = grown(e.threads, len(b.ids))
	}
	b.netRecursion()
	b.netServed()
	if len(b.ids) < netThreads {
		return
	}
	for {
		into, row := b.opposites()
		if into == nil {
			return
		}
		into.take(row)
	}
}

// netRecursion makes one row of the decisions in each recursion, at the call that makes it, if they
// cancel.
func (b *book) netRecursion() {
	g := b.l.guide
	byGroup := map[int32][]*entry{}
	var order []int32
	for _, e := range b.rows {
		if e.class != classDecision || e.netted { // what a library decides stands at its caller's line by now
			continue
		}
		if r := g.recursion[b.top(e).id]; r >= 0 {
			if byGroup[r] == nil {
				order = append(order, r)
			}
			byGroup[r] = append(byGroup[r], e)
		}
	}
	for _, r := range order {
		rows := byGroup[r]
		gross, left := 0.0, 0.0
		for _, e := range rows {
			gross, left = gross+math.Abs(e.cycles.hi), left+e.cycles.hi
		}
		if len(rows) < 2 || gross < netGross*max(math.Abs(left), b.acc.Total) {
			continue
		}
		into := b.callRow(r)
		for _, e := range rows {
			if e != into {
				into.take(e)
			}
		}
	}
}

// netServed makes one row of the waits for the bus, or for memory, if they cancel: which of a
// thread's accesses finds the queue long is a matter of the moment, and what it has waited at one
// line it need not wait at another.
func (b *book) netServed() {
	byKind := map[int32][]*entry{}
	for _, e := range b.rows {
		if e.netted || e.class != classEvent {
			continue
		}
		if k := e.key.kind; valid(profile.NodeID(k), len(b.l.tab.Kinds)) && served(b.l.tab.Kinds[k].Name) {
			byKind[k] = append(byKind[k], e)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(byKind)) {
		rows := byKind[k]
		gross, left := 0.0, 0.0
		for _, e := range rows {
			gross, left = gross+math.Abs(e.cycles.hi), left+e.cycles.hi
		}
		if len(rows) < 2 || gross < netGross*max(math.Abs(left), b.acc.Total) {
			continue
		}
		into := slices.MaxFunc(rows, func(x, y *entry) int {
			return cmp.Compare(math.Copysign(1, left)*x.cycles.hi, math.Copysign(1, left)*y.cycles.hi)
		})
		for _, e := range rows {
			if e != into {
				into.take(e)
			}
		}
	}
}

// served says whether an event is a wait in a queue that all misses stand in.
func served(kind string) bool { return kind == "bus-wait" || kind == "memory-wait" }

// callRow returns the row of the call within a recursion that is made most often, the program's own
// before a library's.
func (b *book) callRow(recursion int32) *entry {
	tab, most, at, own := b.l.tab, uint64(0), profile.NodeID(profile.None), false
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if !isCall(e.Kind) || !b.l.guide.within(e, recursion) {
			continue
		}
		n := b.counts.total(profile.EdgeID(i))
		if mine := !b.l.guide.library[e.From]; at < 0 || mine && !own || mine == own && n > most {
			most, at, own = n, e.From, mine
		}
	}
	b.member(&charge{class: classDecision, id: int32(at)})
	m := b.members[*b.place(classDecision, int32(at))-1]
	e := b.rows[m.row]
	e.threads = grown(e.threads, len(b.ids))
	return e
}

// opposites returns the two rows that are most opposite, first the one that goes with the threads'
// times, but the program's own before a library's; nil if none are.
func (b *book) opposites() (into, row *entry) {
	var rows []*entry
	for _, e := range b.rows {
		if !e.netted && math.Abs(e.cycles.hi) >= netShare*b.acc.Total {
			rows = append(rows, e)
		}
	}
	rows = first(rows, netMost, func(x, y *entry) int { return compareSizes(y, x) })
	worst := -netCosine
	if len(b.ids) < manyThreads {
		worst = -fewCosine
	}
	for i, x := range rows {
		for _, y := range rows[:i] {
			if (x.cycles.hi > 0) == (y.cycles.hi > 0) {
				continue
			}
			if c := cosine(x.threads, y.threads); c < worst {
				into, row, worst = x, y, c
			}
		}
	}
	if into == nil {
		return nil, nil
	}
	if mine, other := b.inLibrary(into), b.inLibrary(row); mine && !other ||
		mine == other && cosine(row.threads, b.acc.Deviation) > cosine(into.threads, b.acc.Deviation) {
		into, row = row, into
	}
	return into, row
}

func compareSizes(x, y *entry) int {
	a, b := math.Abs(x.cycles.hi), math.Abs(y.cycles.hi)
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// take adds another row, which is no row of its own any more.
func (e *entry) take(row *entry) {
	e.with = append(e.with, Net{Cycles: row.cycles.hi, member: row})
	e.with = append(e.with, row.with...)
	e.cycles.add(row.cycles.hi)
	e.cycles.add(row.cycles.lo)
	e.luck = plus(e.luck, row.luck)
	for i, x := range row.threads {
		e.threads[i] += x
	}
	e.course = append(e.course, row.course...)
	if e.worst.Seq < 0 {
		e.worst.Seq = row.worst.Seq
	}
	row.netted = true
}

func cosine(x, y []float64) float64 {
	n := math.Sqrt(stat.Dot(x, x) * stat.Dot(y, y))
	if n == 0 {
		return 0
	}
	return stat.Dot(x, y) / n
}

// recursions numbers what calls itself: the blocks from which a call leads back to them; -1 = none.
func recursions(tab *profile.Tables) []int32 {
	var from, to []int32
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if valid(e.From, len(tab.Nodes)) && valid(e.To, len(tab.Nodes)) && !returnsElsewhere(tab, e) && !handsOn(tab, e) {
			from, to = append(from, int32(e.From)), append(to, int32(e.To))
		}
	}
	more, next := overlaps(tab)
	off, all := rows(len(tab.Nodes), append(from, more...), append(to, next...))
	_, comp := components(len(tab.Nodes), off, all)
	recursive := map[int32]bool{}
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if isCall(e.Kind) && valid(e.From, len(comp)) && valid(e.To, len(comp)) && comp[e.From] == comp[e.To] {
			recursive[comp[e.From]] = true
		}
	}
	for v, c := range comp {
		if !recursive[c] {
			comp[v] = -1
		}
	}
	return comp
}

// returnsElsewhere says whether an edge leads back into a call that is under way, as where an
// exception is caught, or behind a longjmp: an indirect jump into the middle of another function.
// That is no call.
func returnsElsewhere(tab *profile.Tables, e *profile.Edge) bool {
	if e.Kind != profile.EdgeJumpInd {
		return e.Kind == profile.EdgeOdd
	}
	from, to := &tab.Nodes[e.From], &tab.Nodes[e.To]
	return from.Function != to.Function && to.Function >= 0 && int(to.Function) < len(tab.Functions) &&
		tab.Functions[to.Function].Entry != to.Addr
}

// handsOn says whether an edge is the dynamic linker's to a function that was called for the first
// time: all who call so come through it, and go on where they wanted to.
func handsOn(tab *profile.Tables, e *profile.Edge) bool {
	return e.Kind == profile.EdgeJumpInd && linker(tab, e.From) && !linker(tab, e.To)
}

// within says whether an edge stays in a recursion.
func (g *guide) within(e *profile.Edge, recursion int32) bool {
	return valid(e.From, len(g.recursion)) && valid(e.To, len(g.recursion)) &&
		g.recursion[e.From] == recursion && g.recursion[e.To] == recursion
}
