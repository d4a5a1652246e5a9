// Work that is dealt out to whoever comes first, where threads run in parallel. Each piece is
// counted exactly; who gets it is chance: a thread to which the host gives its core for longer gets
// more of them. What that makes of the threads' times is no cause: how even they would be is worked
// out from the pieces, given to whoever is free first by the clock.

package sim

import (
	"cmp"
	"container/heap"
	"slices"

	"lime/internal/section"
)

// deal is a thread's coming for a piece of work.
type deal struct {
	turn uint64 // the how manieth of all that came
	at   uint64 // by its clock
}

// mostDeals is how many pieces a thread's part is told apart in; of more, two by two count as one,
// which makes them larger, and the threads less even than they would be.
const mostDeals = 4096

// deals notes that t comes for a piece of work.
func (b *beside) deals(t *thread) {
	if b == nil {
		return
	}
	b.dealt++
	t.deals = append(t.deals, deal{b.dealt, t.now()})
	if len(t.deals) > mostDeals {
		half := t.deals[:0]
		for i := 0; i < len(t.deals); i += 2 {
			half = append(half, t.deals[i])
		}
		t.deals = half
	}
}

// bout is what a thread did in a part in which work was dealt out.
type bout struct {
	began  uint64 // when it came first
	tail   uint64 // what it did after it was told that nothing is left
	pieces []dealtPiece
	time   uint64 // of the part
}

type dealtPiece struct{ turn, length uint64 }

// boutOf is false if the thread was dealt nothing.
func boutOf(p *section.Part) (x bout, ok bool) {
	var all []deal
	for _, s := range p.Spans {
		all = append(all, s.(*segment).deals...)
	}
	start, arrive := uint64(p.Start), uint64(p.Arrive)
	all = slices.DeleteFunc(all, func(d deal) bool { return d.at < start || d.at > arrive })
	x.time = arrive - start
	if len(all) == 0 {
		x.began = x.time
		return x, false
	}
	x.began = all[0].at - start
	for i := range all[1:] {
		x.pieces = append(x.pieces, dealtPiece{all[i].turn, all[i+1].at - min(all[i].at, all[i+1].at)})
	}
	x.tail = arrive - all[len(all)-1].at
	return x, true
}

// chance is by how much less the last thread would be later than the mean, were the pieces given to
// whoever is free first.
func chance(parts []section.Part) uint64 {
	var bouts []bout
	any := false
	for i := range parts {
		x, ok := boutOf(&parts[i])
		any = any || ok
		bouts = append(bouts, x)
	}
	if !any || len(bouts) < 2 {
		return 0
	}
	now := make([]uint64, len(bouts))
	for i := range bouts {
		now[i] = bouts[i].time
	}
	lead, fair := aheadOfMean(now), aheadOfMean(dealtFairly(bouts))
	return lead - min(lead, fair)
}

// dealtFairly is how long each thread would take.
func dealtFairly(bouts []bout) []uint64 {
	var pieces []dealtPiece
	var takers []int // the threads that come for work
	ends := make([]uint64, len(bouts))
	for i := range bouts {
		ends[i] = bouts[i].began
		pieces = append(pieces, bouts[i].pieces...)
		if bouts[i].tail > 0 || len(bouts[i].pieces) > 0 {
			takers = append(takers, i)
		}
	}
	slices.SortFunc(pieces, func(a, b dealtPiece) int { return cmp.Compare(a.turn, b.turn) })
	queue := &takerHeap{takers, ends}
	heap.Init(queue)
	for _, p := range pieces {
		ends[takers[0]] += p.length
		heap.Fix(queue, 0)
	}
	for i := range bouts {
		ends[i] += bouts[i].tail
	}
	return ends
}

// takerHeap has the thread in front that is free first.
type takerHeap struct {
	who  []int
	ends []uint64
}

func (h *takerHeap) Len() int           { return len(h.who) }
func (h *takerHeap) Less(i, j int) bool { return h.ends[h.who[i]] < h.ends[h.who[j]] }
func (h *takerHeap) Swap(i, j int)      { h.who[i], h.who[j] = h.who[j], h.who[i] }
func (h *takerHeap) Push(any)           {}
func (h *takerHeap) Pop() any           { return nil }

// aheadOfMean is by how much the largest value exceeds the mean.
func aheadOfMean(xs []uint64) uint64 {
	sum := uint64(0)
	for _, x := range xs {
		sum += x
	}
	return slices.Max(xs) - sum/uint64(len(xs))
}
