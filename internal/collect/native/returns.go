// A return address that was read from a stack while its thread ran on may be of a later call from the
// same function, or of none: the code says which function each call leads to.

package native

import (
	"lime/internal/binfile"
	"lime/internal/profile"
)

// returnsFrom is where the function in which inner stands returns to, given the return address that
// was found: that one if its call leads to the function, or if it is not known where it leads; else
// the only call in the same function that does; 0 if there is none, or several.
func (c *code) returnsFrom(found, inner uint64) (ret uint64) {
	callee := c.look(inner - 1).fn
	p := c.look(found - 1)
	if callee == nil || len(callee.blocks) == 0 || p.b.end != found || c.mayLead(p.b, callee) {
		return found
	}
	for _, b := range p.fn.blocks {
		if b.kind != profile.EndCall && b.kind != profile.EndCallInd || !c.mayLead(b, callee) {
			continue
		}
		if ret != 0 {
			return 0
		}
		ret = b.end
	}
	return ret
}

// mayLead reports whether the call at the end of a block can lead to a function: where a call within
// one file leads is known, of others it is not.
func (c *code) mayLead(b *block, callee *function) bool {
	to := b.target
	if to == 0 && b.slot != 0 {
		to = c.goesTo(b)
	}
	if to == 0 {
		return true
	}
	im, s, ok := c.images.symbol(to)
	if !ok || im != callee.im || s.Kind == binfile.SymPLT {
		return true
	}
	return c.goesOn(to, callee, mostJumps)
}

// goesOn reports whether a function is another one, or jumps on to it (a tail call, or a part of it
// that stands elsewhere), over at most so many others.
func (c *code) goesOn(entry uint64, to *function, most int) bool {
	if to.holds(entry) {
		return true
	}
	if most == 0 {
		return false
	}
	f := c.look(entry).fn
	for _, b := range f.blocks {
		jumps := b.kind == profile.EndJump || b.kind == profile.EndCond
		if b.kind == profile.EndJumpInd || jumps && !f.holds(b.target) && c.goesOn(b.target, to, most-1) {
			return true
		}
	}
	return false
}
