package engine

import (
	"fmt"
	"slices"
	"sort"
	"syscall"

	"lime/internal/cpu"
)

// errWrite is the bit of the page-fault error code that says "a write".
const errWrite = 2

// fault turns a fault in generated code into the guest's: exact registers, the
// PC of the guest instruction. Writes to pages that the engine has protected go on.
func (e *Engine) fault(ctx *cpu.Context) (uint64, cpu.Exit) {
	s := &ctx.Scratch
	host := s[cpu.SlotSigPC]
	b := e.faultedIn(ctx, host)
	if b == nil {
		return 0, cpu.Exit{Reason: cpu.ExitUnsupported, Err: fmt.Errorf(
			"engine: signal %d at %#x in generated code that belongs to no block (address %#x)",
			s[cpu.SlotSig], host, s[cpu.SlotSigAddr])}
	}
	ahead := e.restore(ctx, b, host)
	front, tail := b.around(ctx.RIP).cutAt(e, ctx.RIP)
	x := cpu.Exit{Reason: cpu.ExitFault, Signal: int(s[cpu.SlotSig]), Code: int32(s[cpu.SlotSigCode]),
		Addr: s[cpu.SlotSigAddr], Trapno: s[cpu.SlotSigTrap], ErrNo: s[cpu.SlotSigErr]}
	if ahead || e.ownProtection(x.Addr, x.Trapno, x.ErrNo) || e.othersLifted(&x) { // the instruction's own fault may be another one
		b, err := e.stepOver(ctx.RIP, ahead)
		if err != nil {
			return 0, exitOf(err)
		}
		front.ranTo(e, ctx, b)
		return b.body, cpu.Exit{}
	}
	front.ranTo(e, ctx, tail)
	if x.Trapno == trapUD || x.Signal == int(syscall.SIGFPE) {
		x.Addr = ctx.RIP // the kernel reports the address of the instruction
	}
	return 0, x
}

// cutAt ends a block that has been left before the instruction at pc there, from now on. It returns
// the part before that, which is to be counted, and the one behind; nil if there is none before.
func (b *block) cutAt(e *Engine, pc uint64) (front, tail *block) {
	if e.cfg.Mode == Plain || pc <= b.pc || pc >= b.end() {
		return nil, nil
	}
	tail, err := e.block(pc)
	if err != nil {
		return nil, nil // its code is gone
	}
	return b.front(e, pc), tail
}

// ranTo counts that ctx has run the front of a block and has come to what is behind it.
func (b *block) ranTo(e *Engine, ctx *cpu.Context, next *block) {
	if b != nil {
		id := e.edgeBetween(b.id, EdgeFall, next)
		ctx.Counters(len(e.edges))[id]++
	}
}

// around is the block that holds pc: b, or one of those of its region if it is the code of one.
func (b *block) around(pc uint64) *block {
	if b.region == nil || b.region.code != b {
		return b
	}
	i := slices.IndexFunc(b.region.nodes, func(n *node) bool { return n.b != nil && n.b.pc <= pc && pc < n.b.end() })
	return b.region.nodes[i].b
}

// blockAt returns the block whose code is at host.
func (e *Engine) blockAt(host uint64) *block {
	i := sort.Search(len(e.order), func(i int) bool { return e.order[i].hostHi > host })
	if i < len(e.order) && e.order[i].host <= host {
		return e.order[i]
	}
	return nil
}

// restore makes the state of ctx that of the guest before the instruction at host. ahead: the code
// there reads where the instruction will write.
func (e *Engine) restore(ctx *cpu.Context, b *block, host uint64) (ahead bool) {
	off := uint32(host - b.host)
	i := sort.Search(len(b.marks), func(i int) bool { return b.marks[i].off > off }) - 1
	if i < 0 {
		ctx.RIP = b.pc
		return false
	}
	m := &b.marks[i]
	for _, s := range m.spill {
		if s.used {
			ctx.GPR[s.reg] = ctx.Scratch[s.slot]
		}
	}
	if b.region != nil && b.region.code == b {
		b.region.leave(e, ctx, int(m.inst))
		return false
	}
	ctx.RIP = b.pc + uint64(b.starts[m.inst])
	ctx.Budget -= int64(m.inst)
	if !b.late {
		ctx.Budget += int64(b.n)
	}
	if b.counted {
		ctx.Counters(len(e.edges))[b.endEdge]--
	}
	e.cutLog(ctx, b, m)
	return m.ahead
}
