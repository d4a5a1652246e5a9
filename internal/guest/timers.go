package guest

import (
	"container/heap"

	"lime/internal/unit"
)

// timer is something that happens at a simulated time.
type timer struct {
	at    unit.Nanos
	seq   uint64 // ties fire in the order in which they were set
	fire  func(at unit.Nanos)
	index int // place in the heap, -1: not set
}

// timerQueue is a heap of timers.
type timerQueue struct {
	heap timerHeap
	seq  uint64
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	t.index = -1
	return t
}

// set starts a timer; a time of NoDeadline starts none.
func (q *timerQueue) set(at unit.Nanos, fire func(at unit.Nanos)) *timer {
	t := &timer{at: at, seq: q.seq, fire: fire, index: -1}
	if at != NoDeadline {
		q.seq++
		heap.Push(&q.heap, t)
	}
	return t
}

// stop takes a timer out; nil and fired timers are no harm.
func (q *timerQueue) stop(t *timer) {
	if t != nil && t.index >= 0 {
		heap.Remove(&q.heap, t.index)
		t.index = -1
	}
}

// next is the earliest time set.
func (q *timerQueue) next() (unit.Nanos, bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// advance fires all that is due at now, in order.
func (q *timerQueue) advance(now unit.Nanos) {
	for len(q.heap) > 0 && q.heap[0].at <= now {
		t := heap.Pop(&q.heap).(*timer)
		t.fire(t.at)
	}
}
