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

// noteSums notes the blocks between which the edges lie that h stands for.
func (e *Engine) noteSums(h *hidden) {
	for _, list := range [][]EdgeID{h.add, h.sub} {
		for _, id := range list {
			e.summed[e.edges[id].From], e.summed[e.edges[id].To] = true, true
		}
	}
}

// fold moves what hidden counters hold to the edges that they stand for.
func (e *Engine) fold(ctx *cpu.Context) {
	c := ctx.Counters(e.counterRoom())
	hid := c[e.cfg.MaxEdges:]
	for i := nextCount(hid, 0); i < len(hid); i = nextCount(hid, i+1) {
		e.foldOne(c, i)
	}
}

// foldSuper does the same for the counters of one superblock.
func (e *Engine) foldSuper(ctx *cpu.Context, s *super) {
	c := ctx.Counters(e.counterRoom())
	e.foldOne(c, s.total)
	for i := range s.outs {
		e.foldOne(c, s.outs[i].counter)
	}
}

// foldOne moves what hidden counter i holds, c being all counters.
func (e *Engine) foldOne(c []uint64, i int) {
	h, at := &e.hidden[i], e.cfg.MaxEdges+i
	n := c[at] / h.div
	h.folded += n
	c[at] = 0
	for _, id := range h.add {
		c[id] += n
	}
	for _, id := range h.sub {
		c[id] -= n
	}
}
