// Where threads stand: their stacks, and what the functions are.

package sim

import (
	"cmp"
	"fmt"

	"lime/internal/collect/known"
	"lime/internal/engine"
	"lime/internal/origin"
	"lime/internal/section"
	"lime/internal/unit"
	"lime/internal/unwind"
	"lime/internal/x86"
)

// places tells where threads stand, by their stacks and the program's code.
type places struct {
	*memory
	eng    *engine.Engine
	images *images
	blocks *blockIndex
	walker *unwind.Unwinder
}

// frameRef is one open call: where it returns to, and the caller's stack pointer after the return.
type frameRef struct{ ret, cfa uint64 }

// deepest is how many open calls are looked at; a section lies rarely deeper, and a runaway
// recursion must not cost the run.
const deepest = 4096

// stack lists t's open calls, innermost first.
func (pl *places) stack(t *thread) []frameRef { return pl.within(t, wholeStack) }

// within lists those up to a stack pointer, and perhaps the next one.
func (pl *places) within(t *thread, top uint64) []frameRef {
	out := make([]frameRef, 0, 8)
	regs := unwind.FromMachine(&t.ctx.GPR, t.ctx.RIP)
	if ret, ok := pl.bareEntry(t); ok {
		regs[unwind.PC], regs[unwind.RSP] = ret, regs[unwind.RSP]+8
	}
	_, _ = pl.walker.Walk(regs, pl.word, func(pc, sp uint64) bool {
		if len(out) > 0 || sp != t.ctx.GPR[rsp] || pc != t.ctx.RIP {
			out = append(out, frameRef{pc, sp})
		}
		return len(out) < deepest && sp <= top && pl.images.at(pc) != nil
	}) // where it breaks off, what was found so far is of use
	for n := len(out); n > 0 && pl.images.at(out[n-1].ret) == nil; n-- {
		out = out[:n-1]
	}
	return out
}

// bareEntry is the return address of a function at whose first instruction t stands, if only frame
// pointers tell the way: it has not set its own yet.
func (pl *places) bareEntry(t *thread) (ret uint64, ok bool) {
	im := pl.images.at(t.ctx.RIP)
	if im == nil || !im.Go || im.Framed(t.ctx.RIP-im.Bias) {
		return 0, false
	}
	if _, entry := pl.images.function(t.ctx.RIP); entry != t.ctx.RIP {
		return 0, false
	}
	return pl.word(t.ctx.GPR[rsp])
}

// site is the place at which t stands, as the recogniser wants it.
func (pl *places) site(pc uint64, stack []frameRef) section.Site {
	var s section.Site
	if pl.images.own(pc) {
		s.Stack = append(s.Stack, pl.frame(pc, pc))
	}
	for _, f := range stack {
		if pl.images.own(f.ret - 1) {
			s.Stack = append(s.Stack, pl.frame(pl.blocks.callBefore(f.ret), f.ret-1))
		}
	}
	return s
}

func (pl *places) frame(call, inside uint64) section.Frame {
	return section.Frame{Call: unit.Addr(call), Func: unit.Addr(pl.images.start(inside))}
}

// kept counts the outermost own frames that were open during the whole segment: the same call at
// the same height, and not made again meanwhile.
func (pl *places) kept(p *segment) int {
	again := pl.callsMade(p)
	a, b := p.start.stack, p.stack
	n := 0
	for i := 1; i <= len(a) && i <= len(b); i++ {
		x, y := a[len(a)-i], b[len(b)-i]
		if x != y || again[x.ret] {
			break
		}
		if pl.images.own(x.ret - 1) {
			n++
		}
	}
	return n
}

// callsMade is the set of return addresses of the calls that a segment made.
func (pl *places) callsMade(p *segment) map[uint64]bool {
	made := map[uint64]bool{}
	edges, blocks := pl.eng.Edges(), pl.eng.Blocks()
	for _, e := range p.edges {
		if d := &edges[e.id]; isCall(d.Kind) && d.From >= 0 {
			b := &blocks[d.From]
			made[b.PC+uint64(b.Size)] = true
		}
	}
	return made
}

// between lists the functions from where t stands up to the program's own code. What is compiled
// into it from the language's library is none of it.
func (pl *places) between(t *thread) (names []string) {
	home := func(pc uint64) bool {
		name, _ := pl.images.function(pc)
		names = append(names, name)
		return pl.images.own(pc) && !origin.LanguageFunction(name)
	}
	if home(t.ctx.RIP) {
		return names
	}
	for _, f := range pl.stack(t) {
		if home(f.ret - 1) {
			break
		}
	}
	return names
}

// ownReturn is the innermost return to the program's own code.
func (pl *places) ownReturn(stack []frameRef) *frameRef {
	for i := range stack {
		if pl.images.own(stack[i].ret - 1) {
			return &stack[i]
		}
	}
	return nil
}

// ownCall is the program's own call in which t stands, 0 if there is none: one that is not the
// language's own, if there is one.
func (pl *places) ownCall(t *thread) uint64 { return pl.ownCallIn(pl.stack(t)) }

// ownCallTo is the program's own call that led to the one that returns, or returned, to ret; that one
// itself if there is none.
func (pl *places) ownCallTo(t *thread, ret uint64) uint64 {
	call := pl.blocks.callBefore(ret)
	if pl.written(ret) || t.ctx == nil {
		return call
	}
	return cmp.Or(pl.ownCallIn(append([]frameRef{{ret: ret}}, pl.stack(t)...)), call)
}

// written reports whether a call that returns to ret stands in the program's own code, and not in
// what comes with its language.
func (pl *places) written(ret uint64) bool {
	if !pl.images.own(ret - 1) {
		return false
	}
	name, _ := pl.images.function(ret - 1)
	return !origin.LanguageFunction(name) && !origin.GoStandard(name)
}

func (pl *places) ownCallIn(stack []frameRef) uint64 {
	first := uint64(0)
	for _, f := range stack {
		if pl.written(f.ret) {
			return pl.blocks.callBefore(f.ret)
		}
		if first == 0 && pl.images.own(f.ret-1) {
			first = f.ret
		}
	}
	if first == 0 {
		return 0
	}
	return pl.blocks.callBefore(first)
}

// called is the function that a call leads to, 0 if its instruction does not say.
func (pl *places) called(call uint64) uint64 {
	if in, ok := pl.decode(call); ok && in.Branch == x86.BranchCall {
		return in.Target(call)
	}
	return 0
}

// waitPlace is the program's own place at which t waits.
func (pl *places) waitPlace(t *thread) string {
	site := pl.site(t.ctx.RIP, pl.stack(t))
	if len(site.Stack) == 0 {
		return fmt.Sprintf("at %#x", t.ctx.RIP)
	}
	f := site.Stack[0]
	name, entry := pl.images.function(uint64(f.Call))
	if entry == 0 {
		return fmt.Sprintf("at %v", f.Call)
	}
	return fmt.Sprintf("in %s+%#x (%v)", name, uint64(f.Call)-entry, f.Call)
}

// endOfMain is the return from the program's main function that was run last in its code, for a
// program that ends so.
func (pl *places) endOfMain() []section.Frame {
	last := uint64(0)
	blocks := pl.blocks.sync()
	for i := range blocks {
		b := &blocks[i]
		if b.End != engine.EndRet || b.LastPC <= last || !pl.images.own(b.LastPC) {
			continue
		}
		if name, _ := pl.images.function(b.LastPC); name == "main" || name == "main.main" {
			last = b.LastPC
		}
	}
	if last == 0 {
		return nil
	}
	return []section.Frame{pl.frame(last, last)}
}

// lockSite is the program's own call that led to the lock.
func (pl *places) lockSite(t *thread, c *call) uint64 {
	if c.test != 0 {
		return c.test
	}
	if pl.images.own(c.ret - 1) {
		return pl.blocks.callBefore(c.ret)
	}
	return uint64(pl.site(0, append([]frameRef{{ret: c.ret}}, pl.stack(t)...)).Place())
}

// outside is the stack once the call has returned.
func (pl *places) outside(t *thread, c *call) []frameRef {
	if c.segment != nil && len(c.segment.stack) > 0 && c.segment.stack[0].ret == t.ctx.RIP {
		return c.segment.stack[1:]
	}
	return pl.stack(t)
}

func (pl *places) returnsTo(id engine.EdgeID, ret uint64) bool {
	d := &pl.eng.Edges()[id]
	return d.Kind == engine.EdgeReturn && d.Target == ret
}

// known reports whether the function that waits has a name: without names a wait may be a lock's.
func (pl *places) known(p *segment) bool {
	_, entry := pl.images.function(p.pc)
	return entry != 0
}

// lockWait reports whether a futex wait is that of a lock, by the names of the functions.
func (pl *places) lockWait(t *thread) bool {
	for _, n := range pl.between(t) {
		if known.Locking(n) {
			return true
		}
	}
	return false
}

// runtimeWait reports whether the wait is that of a language's own scheduler, which says nothing
// about the threads' work.
func (pl *places) runtimeWait(t *thread) bool {
	im := pl.images.at(t.ctx.RIP)
	return im != nil && im.Go
}

// instrs is how many instructions some edges stand for.
func (pl *places) instrs(list []edgeCount) (n uint64) {
	edges, blocks := pl.eng.Edges(), pl.eng.Blocks()
	for _, e := range list {
		if d := &edges[e.id]; d.From >= 0 && d.Kind != engine.EdgeReturn {
			n += e.n * uint64(blocks[d.From].Instrs)
		}
	}
	return n
}

// inLibrary counts the innermost calls that stand in functions of the language's own library, if
// there are others further out. Generic code of the library is compiled into the program, so that
// its image does not tell it from the program's own; who joins a thread looks for the line that
// asked for it.
func (pl *places) inLibrary(s *section.Site) int {
	for i := range s.Stack {
		name, entry := pl.images.function(uint64(s.Stack[i].Call))
		if entry == 0 || !origin.LanguageFunction(name) {
			return i
		}
	}
	return 0
}

// schedulerSpins reports whether a thread is in the code of Go's scheduler. It looks for work for a
// while and then sleeps, so there is no need to take it off its core; and it would miss what it
// looks for.
func (pl *places) schedulerSpins(t *thread) bool {
	return t.schedules() && (t.hosts.on == nil || !pl.images.own(t.ctx.RIP))
}
