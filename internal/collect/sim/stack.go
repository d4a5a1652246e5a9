package sim

import (
	"encoding/binary"

	"lime/internal/section"
	"lime/internal/unit"
	"lime/internal/unwind"
)

// frameRef is one open call: where it returns to, and the caller's stack pointer after the return.
type frameRef struct{ ret, cfa uint64 }

// deepest is how many open calls are looked at; a section lies rarely deeper, and a runaway
// recursion must not cost the run.
const deepest = 4096

// stack lists t's open calls, innermost first.
func (r *run) stack(t *thread) []frameRef {
	out := make([]frameRef, 0, 8)
	regs := unwind.FromMachine(&t.ctx.GPR, t.ctx.RIP)
	if ret, ok := r.bareEntry(t); ok {
		regs[unwind.PC], regs[unwind.RSP] = ret, regs[unwind.RSP]+8
	}
	_, _ = r.walker.Walk(regs, r.word, func(pc, sp uint64) bool {
		if len(out) > 0 || sp != t.ctx.GPR[rsp] || pc != t.ctx.RIP {
			out = append(out, frameRef{pc, sp})
		}
		return len(out) < deepest && r.images.at(pc) != nil
	}) // where it breaks off, what was found so far is of use
	for n := len(out); n > 0 && r.images.at(out[n-1].ret) == nil; n-- {
		out = out[:n-1]
	}
	return out
}

// bareEntry is the return address of a function at whose first instruction t stands, if only frame
// pointers tell the way: it has not set its own yet.
func (r *run) bareEntry(t *thread) (ret uint64, ok bool) {
	im := r.images.at(t.ctx.RIP)
	if im == nil || !im.Go || im.Framed(t.ctx.RIP-im.Bias) {
		return 0, false
	}
	if _, entry := r.images.function(t.ctx.RIP); entry != t.ctx.RIP {
		return 0, false
	}
	return r.word(t.ctx.GPR[rsp])
}

// word reads 8 bytes of the program's memory.
func (r *run) word(addr uint64) (uint64, bool) {
	b := r.proc.Readable(addr, 8)
	if len(b) < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// site is the place at which t stands, as the recogniser wants it.
func (r *run) site(pc uint64, stack []frameRef) section.Site {
	var s section.Site
	if r.images.own(pc) {
		s.Stack = append(s.Stack, r.frame(pc, pc))
	}
	for _, f := range stack {
		if r.images.own(f.ret - 1) {
			s.Stack = append(s.Stack, r.frame(r.blocks.callBefore(f.ret), f.ret-1))
		}
	}
	return s
}

func (r *run) frame(call, inside uint64) section.Frame {
	return section.Frame{Call: unit.Addr(call), Func: unit.Addr(r.images.start(inside))}
}

// kept counts the outermost own frames that were open during the whole piece: the same call at
// the same height, and not made again meanwhile.
func (r *run) kept(p *piece) int {
	again := r.callsMade(p)
	a, b := p.start.stack, p.stack
	n := 0
	for i := 1; i <= len(a) && i <= len(b); i++ {
		x, y := a[len(a)-i], b[len(b)-i]
		if x != y || again[x.ret] {
			break
		}
		if r.images.own(x.ret - 1) {
			n++
		}
	}
	return n
}

// callsMade is the set of return addresses of the calls that a piece made.
func (r *run) callsMade(p *piece) map[uint64]bool {
	made := map[uint64]bool{}
	edges, blocks := r.eng.Edges(), r.eng.Blocks()
	for _, e := range p.edges {
		if d := &edges[e.id]; isCall(d.Kind) && d.From >= 0 {
			b := &blocks[d.From]
			made[b.PC+uint64(b.Size)] = true
		}
	}
	return made
}
