// Whether a thread has told others anything on a way that it has gone.

package sim

import (
	"lime/internal/engine"
	"lime/internal/x86"
)

// Who comes to a barrier tells the others so, and that takes a store to memory that they share. A
// thread that has been let go and waits again for the same without such a store has not come to it
// anew: it was woken, has looked, and what it waited for was taken by another one, as permits are.

// told reports whether a thread may have stored, in a segment, to memory in which others look: what
// it has pushed is none, nor what a compare-and-exchange would have stored that has failed. Other
// stores may be seen wherever they go, as a barrier may lie on the stack of one who comes to it.
func (h *handing) told(p *segment) bool {
	edges, blocks := h.eng.Edges(), h.eng.Blocks()
	for _, e := range p.edges {
		if d := &edges[e.id]; d.From != engine.NoBlock && e.n > 0 && h.stores(&blocks[d.From], d.Kind) {
			return true
		}
	}
	return false
}

// stores reports whether a block that is left in some way may have stored to shared memory.
func (h *handing) stores(b *engine.Block, left engine.EdgeKind) bool {
	for pc, end := b.PC, b.PC+uint64(b.Size); pc < end; {
		in, ok := h.memory.decode(pc)
		if !ok {
			return true
		}
		next := pc + uint64(in.Len)
		for _, a := range in.Accesses(nil) {
			if a.Write && !pushes(in, &a) && !(exchanges(in) && next == b.LastPC && h.failed(b, left)) {
				return true
			}
		}
		pc = next
	}
	return false
}

// pushes reports whether a store is the one that push and call make.
func pushes(in *x86.Inst, a *x86.Access) bool {
	return a.Base == x86.RSP && !(in.HasMem && in.Mem.Write)
}

// exchanges recognises cmpxchg (Intel SDM vol. 2: 0F B0, 0F B1).
func exchanges(in *x86.Inst) bool {
	return in.HasMem && in.Map == 1 && (in.Opcode == 0xb0 || in.Opcode == 0xb1)
}

// failed reports whether a block that ends with a jump on the outcome of a cmpxchg was left because
// that had failed.
func (h *handing) failed(b *engine.Block, left engine.EdgeKind) bool {
	const equal, notEqual = 4, 5 // condition codes of jcc (Intel SDM vol. 2, appendix B)
	in, ok := h.memory.decode(b.LastPC)
	if !ok || in.Branch != x86.BranchCond {
		return false
	}
	return in.Cond == equal && left == engine.EdgeFall || in.Cond == notEqual && left == engine.EdgeTaken
}
