// How much garbage there may be while much memory is in use.

package view

import (
	"maps"
	"runtime/debug"
	"slices"
	"sync"
)

// Heap is how much the heap may grow between two collections of garbage. Go keeps one figure for
// the whole process, and what asks for another one overlaps: all runs of a process share a Heap.
type Heap struct {
	mu    sync.Mutex
	asked map[int]int // by percentage: how many ask for it
	usual int         // what it is when nobody asks
}

// lean has the heap grow by so many percent at most until done is called; of several the smallest
// holds.
func (h *Heap) lean(percent int) (done func()) {
	h.ask(percent, 1)
	return func() { h.ask(percent, -1) }
}

func (h *Heap) ask(percent, more int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.asked) == 0 {
		h.asked, h.usual = map[int]int{}, debug.SetGCPercent(percent)
	}
	if h.asked[percent] += more; h.asked[percent] == 0 {
		delete(h.asked, percent)
	}
	now := h.usual
	if len(h.asked) > 0 {
		now = slices.Min(slices.Collect(maps.Keys(h.asked)))
	}
	debug.SetGCPercent(now)
}
