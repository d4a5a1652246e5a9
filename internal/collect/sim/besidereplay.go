// Pieces of work are dealt anew: in the order in which threads came for them, each to whoever is
// free first by the clock, and a task not before it is made.

package sim

import (
	"cmp"
	"container/heap"
	"slices"
)

// replay deals the pieces of bouts anew.
type replay struct {
	takers takerHeap
	shelf  shelf
	done   uint64 // when the last piece so far is
}

// dealtFairly is when each thread would have come to the end.
func dealtFairly(bouts []bout) []uint64 {
	r := replay{takers: takerHeap{ends: make([]uint64, len(bouts)), pos: make([]int, len(bouts))}}
	r.takers.who = takersOf(bouts)
	type turn struct {
		who int
		*spell
	}
	var turns []turn
	for i := range bouts {
		r.takers.pos[i] = -1
		for k := range bouts[i].spells {
			s := &bouts[i].spells[k]
			if k > 0 {
				turns = append(turns, turn{i, s})
				continue
			}
			r.takers.ends[i] = s.length
			r.shelf.put(0, s.made)
		}
	}
	r.takers.init()
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.turn, b.turn) })
	for _, x := range turns {
		r.does(x.who, x.spell)
	}
	return r.takers.ends
}

// takersOf is those who come for work: where there are tasks, everybody at the section's end does.
func takersOf(bouts []bout) (who []int) {
	tasks := slices.ContainsFunc(bouts, func(x bout) bool { _, tasks := x.dealt(); return tasks })
	for i := range bouts {
		if any, _ := bouts[i].dealt(); any || tasks {
			who = append(who, i)
		}
	}
	return who
}

// does puts a spell behind what is done already: a piece is anybody's.
func (r *replay) does(who int, s *spell) {
	if s.piece {
		who = r.takers.who[0]
	}
	from := r.takers.ends[who]
	switch {
	case s.tasks > 0:
		from = max(from, r.shelf.take(s.tasks))
	case s.after:
		from = max(from, r.done)
	}
	r.shelf.put(from, s.made)
	r.takers.set(who, from+s.length)
	if s.piece {
		r.done = max(r.done, from+s.length)
	}
}

// shelf is the tasks that are made and not begun, the earliest first.
type shelf struct {
	tasks  []madeTasks
	latest uint64 // of those that were taken
}

func (h *shelf) put(from uint64, made []madeTasks) {
	for _, m := range made {
		heap.Push(h, madeTasks{from + m.at, m.n})
	}
}

// take is when n tasks have been made. Of how many a loop of tasks makes, only the call is known.
func (h *shelf) take(n int) uint64 {
	for n > 0 && len(h.tasks) > 0 {
		k := min(n, h.tasks[0].n)
		h.latest = max(h.latest, h.tasks[0].at)
		n -= k
		if h.tasks[0].n -= k; h.tasks[0].n == 0 {
			heap.Pop(h)
		}
	}
	return h.latest
}

func (h *shelf) Len() int           { return len(h.tasks) }
func (h *shelf) Less(i, j int) bool { return h.tasks[i].at < h.tasks[j].at }
func (h *shelf) Swap(i, j int)      { h.tasks[i], h.tasks[j] = h.tasks[j], h.tasks[i] }
func (h *shelf) Push(x any)         { h.tasks = append(h.tasks, x.(madeTasks)) }
func (h *shelf) Pop() any {
	n := len(h.tasks) - 1
	x := h.tasks[n]
	h.tasks = h.tasks[:n]
	return x
}

// takerHeap has the thread in front that is free first.
type takerHeap struct {
	who  []int
	ends []uint64
	pos  []int // of each thread in who, -1 if it takes nothing
}

func (h *takerHeap) init() {
	for i, t := range h.who {
		h.pos[t] = i
	}
	heap.Init(h)
}

// set lets a thread be free at a clock.
func (h *takerHeap) set(t int, end uint64) {
	if h.ends[t] = end; h.pos[t] >= 0 {
		heap.Fix(h, h.pos[t])
	}
}

func (h *takerHeap) Len() int           { return len(h.who) }
func (h *takerHeap) Less(i, j int) bool { return h.ends[h.who[i]] < h.ends[h.who[j]] }
func (h *takerHeap) Swap(i, j int) {
	h.who[i], h.who[j] = h.who[j], h.who[i]
	h.pos[h.who[i]], h.pos[h.who[j]] = i, j
}
func (h *takerHeap) Push(any) {}
func (h *takerHeap) Pop() any { return nil }
