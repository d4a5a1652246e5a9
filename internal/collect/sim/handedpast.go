// Which blocks a thread came to before it changed a word.

package sim

import (
	"slices"

	"lime/internal/collect/spin"
	"lime/internal/engine"
	"lime/internal/x86"
)

// Whether a thread had come through a loop when it let others go is a matter of the moment at which
// it did so, and it is looked at when it has run on. So its way is followed along the edges that it
// has taken since it came past the place in front of the loop, and no further than to what stores
// to the word: where that leads it had been before.

// cameThrough reports whether by had come to where those go on who have waited behind a point when
// it let s go.
func (wk *waking) cameThrough(by *thread, s *spinner, p *point, together int) bool {
	heads := append([]uint64{s.out}, p.exits...)
	if !wk.segments.cameTo(by, heads) {
		return false
	}
	w := newWay(wk.eng.Edges(), wk.eng.Blocks(), by.carry)
	stores := wk.storesTo(by, s, w)
	if len(stores) == 0 || len(w.begins) == 0 {
		// What let s go is not known: by may have come through since, if it let several go at once.
		return together <= 1 || by.gave != 0 || !by.letsGo(s.point)
	}
	w.stopAt(stores)
	return w.leads(heads)
}

// storesTo lists the instructions on a way by which by may have let s go, as far as that is certain:
// the one that it has just done in order, or else those that store to a word that s watches, and
// have its address in them.
func (wk *waking) storesTo(by *thread, s *spinner, w *way) (pcs []uint64) {
	if by.gave != 0 {
		return []uint64{by.gaveBy}
	}
	for _, list := range w.out {
		b := &w.blocks[w.edges[list[0].id].From]
		for pc := b.PC; pc < b.PC+uint64(b.Size); {
			in, ok := wk.memory.decode(pc)
			if !ok {
				break
			}
			next := pc + uint64(in.Len)
			for _, a := range in.Accesses(nil) {
				if addr, fixed := fixedAddress(&a.Mem, next); fixed && a.Write && s.watches(addr, int(a.Bytes)) {
					pcs = append(pcs, pc)
				}
			}
			pc = next
		}
	}
	return pcs
}

// fixedAddress is the address of an operand that no register but the program counter makes.
func fixedAddress(m *x86.Mem, next uint64) (uint64, bool) {
	if m.Seg == 0x64 || m.Seg == 0x65 || m.Index != x86.NoReg || m.Addr32 {
		return 0, false
	}
	switch m.Base {
	case x86.RIP:
		return next + uint64(int64(m.Disp)), true
	case x86.NoReg:
		return uint64(int64(m.Disp)), true
	}
	return 0, false
}

// watches reports whether an access touches a word that the loop looks at.
func (s *spinner) watches(addr uint64, n int) bool {
	return slices.ContainsFunc(s.loop.Watches, func(w spin.Watch) bool {
		return !w.Stack && addr < w.Addr+uint64(w.Bytes) && w.Addr < addr+uint64(n)
	})
}

// way is where a thread has been: the edges that it has taken, by the block in which they begin. A
// block stands for all that begin at its address: it may have been split meanwhile.
type way struct {
	edges   []engine.Edge
	blocks  []engine.Block
	out     map[uint64][]edgeCount
	begins  []uint64 // where it begins: at the place that the thread came past, and behind what was taken out
	returns []uint64 // where calls go on that were made before
	stops   map[uint64]bool
	come    map[uint64]bool // blocks that the way leads to
	back    map[uint64]bool // functions, by their first block, that come back on it
	grown   bool
}

func newWay(edges []engine.Edge, blocks []engine.Block, list []edgeCount) *way {
	w := &way{edges: edges, blocks: blocks, out: map[uint64][]edgeCount{}, stops: map[uint64]bool{}, back: map[uint64]bool{}}
	more := map[uint64]int64{} // how much more often a block was left than come to
	back := map[uint64]int64{} // and how much more often calls of one have come back than were made
	for _, e := range list {
		d, n := &w.edges[e.id], int64(e.n)
		if d.From != engine.NoBlock {
			at := w.from(e)
			w.out[at] = append(w.out[at], e)
			if d.Kind == engine.EdgeReturn {
				back[at] += n
			} else {
				more[at] += n
				back[at] -= n
			}
		}
		if d.To != engine.NoBlock {
			more[w.blocks[d.To].PC] -= n
		}
	}
	for _, e := range list {
		if d := &w.edges[e.id]; d.Kind == engine.EdgeOdd || d.Kind == engine.EdgeReturn && back[w.from(e)] > 0 {
			w.returns = append(w.returns, w.blocks[d.To].PC)
		}
	}
	for at, n := range more {
		if n > 0 {
			w.begins = append(w.begins, at)
		}
	}
	return w
}

// from is where an edge begins.
func (w *way) from(e edgeCount) uint64 { return w.blocks[w.edges[e.id].From].PC }

// holds reports whether an instruction is in the block in which an edge begins.
func (w *way) holds(e edgeCount, pc uint64) bool {
	b := &w.blocks[w.edges[e.id].From]
	return pc-b.PC < uint64(b.Size)
}

// stopAt has the way followed no further than to some instructions.
func (w *way) stopAt(pcs []uint64) {
	for at, list := range w.out {
		w.stops[at] = slices.ContainsFunc(list, func(e edgeCount) bool {
			return slices.ContainsFunc(pcs, func(pc uint64) bool { return w.holds(e, pc) })
		})
	}
}

// leads reports whether the way leads to one of some blocks.
func (w *way) leads(to []uint64) bool {
	for w.grown = true; w.grown; { // that a function comes back may let others come back
		w.grown, w.come = false, map[uint64]bool{}
		begun := map[uint64]bool{}
		for _, at := range w.begins {
			back := w.follow(at, begun)
			for i := 0; back && i < len(w.returns); i++ {
				w.follow(w.returns[i], begun)
			}
		}
	}
	return slices.ContainsFunc(to, func(at uint64) bool { return w.come[at] })
}

// follow goes on from a function's block, and reports whether the function comes back.
func (w *way) follow(first uint64, begun map[uint64]bool) bool {
	if begun[first] {
		return w.back[first]
	}
	begun[first] = true
	seen := map[uint64]bool{}
	for next := []uint64{first}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[at] {
			continue
		}
		seen[at], w.come[at] = true, true
		if w.stops[at] {
			continue
		}
		comesBack := w.calls(at, begun)
		for _, e := range w.out[at] {
			d := &w.edges[e.id]
			switch {
			case d.Kind == engine.EdgeEnd:
				if w.blocks[d.From].End == engine.EndRet && !w.back[first] {
					w.back[first], w.grown = true, true
				}
			case d.To == engine.NoBlock, d.Kind == engine.EdgeCall, d.Kind == engine.EdgeCallInd, d.Kind == engine.EdgeReturn && !comesBack:
			default:
				next = append(next, w.blocks[d.To].PC)
			}
		}
	}
	return w.back[first]
}

// calls follows the functions that a block calls, and reports whether one comes back.
func (w *way) calls(at uint64, begun map[uint64]bool) (back bool) {
	for _, e := range w.out[at] {
		if d := &w.edges[e.id]; (d.Kind == engine.EdgeCall || d.Kind == engine.EdgeCallInd) && d.To != engine.NoBlock {
			back = w.follow(w.blocks[d.To].PC, begun) || back
		}
	}
	return back
}
