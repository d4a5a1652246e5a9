// Calls in a loop that do nothing that others could see: they give the core away, pause, or tell the
// time.

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

// idle is what is known of the function that a block calls, or ends in a jump to.
func (c *code) idle(im *image.File, b *block, depth int) (does busywait.Call) {
	if b.target == 0 && b.slot == 0 || im == nil || im.Bin == nil {
		return does
	}
	symbol := c.called(im, b)
	if known.Waiting(symbol) {
		return busywait.Call{Idle: true}
	}
	if argument, tells := known.TellsTime(symbol); tells {
		does.Idle, does.Stores = true, argument != known.None
		if does.Stores {
			does.At = [...]x86.Reg{x86.RDI, x86.RSI}[argument] // System V ABI, figure 3.4
		}
		return does
	}
	name, at := c.leadsTo(im, b)
	if name != "" {
		at = c.definition(name)
	}
	at = c.callee(at)
	does.Idle = at != 0 && depth > 0 && c.idleFunction(at, depth)
	return does
}

// passesOn reports whether a thread that is in a function does what its caller does: the function only
// tells the time, or waits.
func passesOn(c *code, f *function) bool {
	if f.passes == notAsked {
		f.passes = stays
		if _, tells := known.TellsTime(f.name); tells || c.idleFunction(f.entry, mostWrapped) {
			f.passes = passes
		}
	}
	return f.passes == passes
}

// passing says whether a function was asked for whether it passes.
type passing uint8

const (
	notAsked passing = iota
	stays
	passes
)

// idleFunction reports whether a short function does nothing but wait, or tell the time: it stores
// nothing but what it saves on its stack, and goes round nowhere.
func (c *code) idleFunction(at uint64, depth int) bool {
	f := c.look(at).fn
	if f.entry != at || f.im == nil || f.im.Bin == nil || len(f.blocks) == 0 || len(f.blocks) > mostIdle {
		return false
	}
	text := f.im.Bin.ReadAddr(f.blocks[0].addr-f.im.Bias, int(f.end()-f.blocks[0].addr))
	g := busywait.Function{Parts: f.parts(), Text: text}
	for i, p := range g.Parts {
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
			waitsIn(c, f, &g, i, depth-1):
		default:
			return false
		}
	}
	return true
}

// waitsIn reports whether what a block of a function calls does nothing but wait, or tell the time to that
// function alone.
func waitsIn(c *code, f *function, g *busywait.Function, i, depth int) bool {
	does := c.idle(f.im, f.blocks[i], depth)
	if !does.Stores {
		return does.Idle
	}
	if g.Proc == nil {
		g.Proc = busywait.Flow(g.Parts)
	}
	_, _, own := g.Argument(int32(i), does.At)
	return own
}

// harmless reports whether instructions store nothing but what they save on the stack.
func harmless(insts []x86.Inst) bool {
	for i := range insts {
		in := &insts[i]
		stack := in.Map == 0 && in.Opcode&^15 == 0x50 || in.Writes.Has(x86.RSP) && !in.ImplicitWrite && !in.ImplicitRead || // push, pop, add, sub
			in.Map == 0 && in.Opcode == 0xc9 // leave
		if in.Branch == x86.BranchNone && !stack && !busywait.Allowed(in) || in.Lock {
			return false
		}
	}
	return true
}
