// Calls in a loop that do nothing that others could see: they give the core away, or pause.

package native

import (
	"lime/internal/collect/busywait"
	"lime/internal/collect/image"
	"lime/internal/collect/known"
	"lime/internal/profile"
	"lime/internal/x86"
)

// Limits of a function that is looked at for what it does: others do more than to yield.
const (
	mostWrapped = 2 // functions in one another
	mostIdle    = 8 // blocks
)

// idle reports whether the function that a block calls, or ends in a jump to, does nothing but wait.
func (c *code) idle(im *image.File, b *block, depth int) bool {
	if b.target == 0 && b.slot == 0 || im == nil || im.Bin == nil {
		return false
	}
	if known.Waiting(c.called(im, b)) {
		return true
	}
	name, at := c.leadsTo(im, b)
	if name != "" {
		at = c.definition(name)
	}
	at = c.callee(at)
	return at != 0 && depth > 0 && c.idleFunction(at, depth)
}

// idleFunction reports whether a short function does nothing but wait: it stores nothing but what it
// saves on its stack, and goes round nowhere.
func (c *code) idleFunction(at uint64, depth int) bool {
	f := c.look(at).fn
	if f.entry != at || f.im == nil || f.im.Bin == nil || len(f.blocks) == 0 || len(f.blocks) > mostIdle {
		return false
	}
	text := f.im.Bin.ReadAddr(f.blocks[0].addr-f.im.Bias, int(f.end()-f.blocks[0].addr))
	for i, p := range f.parts() {
		b := f.blocks[i]
		insts, ok := p.Insts(text, f.blocks[0].addr)
		if !ok || !harmless(insts) {
			return false
		}
		leaves := b.target < f.blocks[0].addr || b.target >= f.end()
		switch {
		case b.kind == profile.EndRet || b.kind == profile.EndFall:
		case b.kind == profile.EndOther && i > 0: // what pads behind the end
		case b.kind == profile.EndCond && !leaves && b.target > b.addr, b.kind == profile.EndJump && !leaves && b.target > b.addr:
		case (b.kind == profile.EndCall || b.kind == profile.EndJump || b.kind == profile.EndJumpInd || b.kind == profile.EndCallInd) &&
			c.idle(f.im, b, depth-1):
		default:
			return false
		}
	}
	return true
}

// harmless reports whether instructions store nothing but what they save on the stack.
func harmless(insts []x86.Inst) bool {
	for i := range insts {
		in := &insts[i]
		stack := in.Map == 0 && in.Opcode&^15 == 0x50 || in.Writes.Has(x86.RSP) && !in.ImplicitWrite && !in.ImplicitRead // push, pop, add, sub
		if in.Branch == x86.BranchNone && !stack && !busywait.Allowed(in) || in.Lock {
			return false
		}
	}
	return true
}
