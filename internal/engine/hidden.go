package engine

import "lime/internal/cpu"

// maxHidden is the room for hidden counters in a context. They lie behind the edges'.
const maxHidden = 1 << 19

// hidden is a counter of a superblock: every div of it stand for one passage of
// each edge in add, and one passage less of each edge in sub.
type hidden struct {
	add, sub []EdgeID
	div      uint64
	folded   uint64 // what was counted and folded so far
}

func (e *Engine) hiddenIndex(h int) int { return e.cfg.MaxEdges + h }

func (e *Engine) hiddenRoom(n int) bool { return len(e.hidden)+n <= maxHidden }

// newHidden allots a hidden counter.
func (e *Engine) newHidden() int {
	e.hidden = append(e.hidden, hidden{div: 1})
	return len(e.hidden) - 1
}

// counterRoom returns the number of counters in use, gap included.
func (e *Engine) counterRoom() int { return e.cfg.MaxEdges + len(e.hidden) }

// fold moves what hidden counters hold to the edges that they stand for.
func (e *Engine) fold(ctx *cpu.Context) {
	c := ctx.Counters(e.counterRoom())
	hid := c[e.cfg.MaxEdges:]
	for i := nextCount(hid, 0); i < len(hid); i = nextCount(hid, i+1) {
		h := &e.hidden[i]
		n := hid[i] / h.div
		h.folded += n
		hid[i] = 0
		for _, id := range h.add {
			c[id] += n
		}
		for _, id := range h.sub {
			c[id] -= n
		}
	}
}
