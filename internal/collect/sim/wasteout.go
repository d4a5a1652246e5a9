package sim

import (
	"cmp"
	"fmt"
	"slices"

	"lime/internal/profile"
	"lime/internal/waste"
)

// wasteEvents counts the waste of a part as events, at the instructions that waste, overwrite or
// repeat.
func (o *output) wasteEvents(events []hardwareEvent, part int32) (counts []profile.Count) {
	for _, e := range events {
		w := &o.waste.events[e.id]
		id := o.wasteEvent(*w)
		counts = addCount(counts, int32(id), part, e.n)
	}
	return counts
}

// wasteKinds describes the kinds as kinds of events. An event is an access: at most as many as the
// instruction was executed.
func wasteKinds() (kinds [waste.Kinds]profile.EventKind) {
	for k := range waste.Kinds {
		kinds[k] = profile.NewKind(profile.Measured, k.String())
	}
	return kinds
}

func (o *output) wasteEvent(w wasteEvent) profile.EventID {
	if o.wasteKinds == nil {
		for _, k := range wasteKinds() {
			o.wasteKinds = append(o.wasteKinds, o.sink.AddKind(k))
		}
	}
	return o.tables.event(o.wasteKinds[w.kind], w.pc)
}

// Of the pairs, those are written that waste the most: as many of each kind, and each only if it
// wastes a ten-thousandth of what its kind wastes in all. The totals have the rest.
const (
	mostPairs    = 500
	leastPairs   = 10 // are written whatever they waste
	pairFraction = 1e-4
)

// writeWaste writes the totals and the worst pairs.
func (o *output) writeWaste() {
	m := o.waste
	if m == nil {
		return
	}
	if m.tree.full {
		o.notes.Add("waste-paths", "there are more call paths than are told apart; some of the waste is at the paths of callers")
	}
	var sum waste.Total
	for id, total := range m.d.Totals() {
		if id >= len(o.roster.threads) {
			break
		}
		sum.Add(&total)
		for k := range waste.Kinds {
			if m.kinds.Has(k) {
				o.wasteTotal(o.rowOf(o.roster.threads[id]), k, &total)
			}
		}
	}
	if n, all := m.d.Order.Disputed, sum.Stored+sum.Loaded; n > 0 {
		o.notes.Add("waste-disputed", fmt.Sprintf("%.2g %% of the bytes that were loaded and stored lie on lines that threads "+
			"touched and changed within the same few thousand instructions: in which order is not known, and nothing is claimed of them",
			100*float64(n)/float64(all)))
	}
	for k := range waste.Kinds {
		for _, p := range m.worst(k, sum.Wasted[k]) {
			o.sink.AddWastePair(p.row(o))
		}
	}
}

func (o *output) wasteTotal(thread profile.ThreadID, k waste.Kind, total *waste.Total) {
	row := profile.WasteTotal{Thread: thread, Kind: k.String(), Bytes: total.Wasted[k], Of: total.Of(k)}
	if row.Of > 0 {
		row.Low = float64(row.Bytes) / float64(row.Of)
		row.High = row.Low
	}
	o.sink.AddWasteTotal(row)
}

// placedPair is all pairs between two instructions on two call paths.
type placedPair struct {
	kind          waste.Kind
	first, second placedSide
	bytes, count  uint64
	votes         votes
}

// placedSide is an instruction on a call path.
type placedSide struct {
	node int32
	pc   uint64
}

func (m *wasteMeter) side(c waste.Context) placedSide {
	b := m.baseOf(c)
	return placedSide{b.node, b.block.accesses[c-b.first].pc}
}

// worst are the pairs of a kind that waste the most. Blocks of which several hold an instruction
// count together.
func (m *wasteMeter) worst(k waste.Kind, all uint64) []*placedPair {
	type key struct{ first, second placedSide }
	by := map[key]*placedPair{}
	var list []*placedPair
	for i, p := range m.d.Pairs() {
		if p.Kind != k {
			continue
		}
		at := key{m.side(p.First), m.side(p.Second)}
		x := by[at]
		if x == nil {
			x = &placedPair{kind: k, first: at.first, second: at.second}
			by[at], list = x, append(list, x)
		}
		x.bytes += p.Bytes
		x.count += p.Count
		if v := m.votes[i]; v != nil {
			x.votes.merge(v)
		}
	}
	slices.SortStableFunc(list, func(a, b *placedPair) int { return cmp.Compare(b.bytes, a.bytes) })
	n := 0
	for n < min(len(list), mostPairs) && (n < leastPairs || float64(list[n].bytes) >= pairFraction*float64(all)) {
		n++
	}
	return list[:n]
}

// merge adds the votes of another.
func (v *votes) merge(o *votes) {
	for _, x := range o.list {
		for range x.n {
			v.add(x.place, x.lo)
		}
		if x.hi > x.lo {
			v.add(x.place, x.hi)
		}
	}
}

// row is the pair's row of the profile.
func (p *placedPair) row(o *output) profile.WastePair {
	thread := o.rowOf(o.roster.threads[o.waste.tree.nodes[p.second.node].thread])
	return profile.WastePair{
		Kind: p.kind.String(), Thread: thread, First: o.side(p.first), Second: o.side(p.second),
		Bytes: p.bytes, Count: p.count, Data: p.votes.words(), Why: o.waste.why(p),
	}
}

func (o *output) side(s placedSide) profile.WasteSide {
	return profile.WasteSide{Path: o.callPath(s.node), Node: o.tables.nodeOf(s.pc), Addr: s.pc}
}

// callPath is the row of a call path, its callers first.
func (o *output) callPath(node int32) profile.PathID {
	n := &o.waste.tree.nodes[node]
	if n.parent < 0 {
		return profile.None
	}
	return o.pathTree.step(o.callPath(n.parent), o.tables.nodeOf(n.block.last), n.block.last)
}
