// Loops of the program's own that wait for others: samples in them are no work, whoever wrote it
// (package busywait has the definition).

package native

import (
	"lime/internal/collect/busywait"
	"lime/internal/graph"
	"lime/internal/profile"
	"lime/internal/x86"
)

// spinLoops marks the blocks of loops that wait. text is the function's code.
func (c *code) spinLoops(f *function, p *graph.Proc, text []byte) {
	calls := func(q busywait.Part) busywait.Call {
		return c.idle(f.im, &block{target: q.Target, slot: q.Slot}, mostWrapped)
	}
	g := busywait.Function{Parts: f.parts(), Proc: p, Text: text, Calls: calls}
	for _, w := range g.Waits() {
		f.mark(&w)
	}
}

// mark marks the blocks of a loop that waits. Loops in it wait where it waits.
func (f *function) mark(w *busywait.Waiting) {
	for _, i := range w.Parts {
		b := f.blocks[i]
		if !b.spins {
			b.spins, b.waitsAt = true, w.PC
		}
		b.saves, b.takes = b.saves || w.Saves, b.takes || w.Takes
	}
}

// parts are the blocks of a function for package busywait.
func (f *function) parts() []busywait.Part {
	out := make([]busywait.Part, len(f.blocks))
	for i, b := range f.blocks {
		out[i] = busywait.Part{Addr: b.addr, End: b.end, Last: b.last, Instrs: b.instrs, Target: b.target, Slot: b.slot,
			Branch: b.branch}
		if b.kind == profile.EndOther { // a call that never returns
			out[i].Branch = x86.BranchTrap
		}
	}
	return out
}
