package native

import (
	"lime/internal/collect/native/hook"
	"lime/internal/section"
	"lime/internal/unit"
	"lime/internal/unwind"
)

// siteKey names the place of a hooked call.
type siteKey struct{ caller, sp, body uint64 }

const maxSites = 1 << 14

// site is the place at which a thread called a hooked function, as the recogniser wants it. The program runs on, so
// only the return address is sure; what lies above it is read from the thread's stack as it is now, which
// holds as long as the calls are open.
func (r *run) site(h *hook.Record) section.Site {
	key := siteKey{h.Caller, h.SP, r.body(h)}
	if s, ok := r.sites[key]; ok {
		return s
	}
	s := r.readSite(h)
	if len(r.sites) >= maxSites {
		clear(r.sites)
	}
	if len(s.Stack) > 0 {
		r.sites[key] = s
	}
	return s
}

// body is the function of the region in which a thread called a hooked function, 0 if there is none.
func (r *run) body(h *hook.Record) uint64 {
	t := r.byTID[h.TID]
	if t == nil {
		return 0
	}
	for i := len(t.calls) - 1; i >= 0; i-- {
		if c := &t.calls[i]; c.body {
			return c.function
		}
	}
	return 0
}

// tailCall finds the place of a call that was reached by a jump: the return address is then that of the caller's call, not of the
// function in which the source says "wait here".
func (r *run) tailCall(h *hook.Record) (f section.Frame, ok bool) {
	target := r.code.definition(r.table[h.Func].name)
	entry := uint64(0)
	if r.sampler.stubs != nil && r.sampler.stubs(h.Caller) {
		entry = r.body(h)
	} else if b := r.code.at(h.Caller - 1).b; b != nil && b.end == h.Caller && b.target != 0 {
		entry = r.code.callee(b.target)
	}
	if target == 0 || entry == 0 || entry == target || !r.images.own(entry) {
		return f, false
	}
	jump := r.code.jump(entry, target)
	return section.Frame{Call: unit.Addr(jump), Func: unit.Addr(entry)}, jump != 0
}

func (r *run) readSite(h *hook.Record) section.Site {
	var s section.Site
	if f, ok := r.tailCall(h); ok {
		s.Stack = append(s.Stack, f)
	}
	var regs unwind.Regs
	regs[unwind.PC], regs[unwind.RSP], regs[unwind.RBP] = h.Caller, h.SP+8, h.FP
	stack := make([]byte, siteStack)
	stack = stack[:peek(r.images.pid, h.SP, stack)]
	first := true
	visit := func(pc, _ uint64) bool {
		if !first && !r.sampler.followsCall(pc) { // the stack has changed meanwhile
			return false
		}
		first = false
		if r.images.own(pc - 1) {
			s.Stack = append(s.Stack, r.frame(pc))
		}
		return len(s.Stack) < siteFrames
	}
	regs[unwind.PC] = h.Caller
	_, _ = r.sampler.walker.Walk(regs, stackMemory(h.SP, stack), visit)
	return s
}

const (
	siteStack  = 4096
	siteFrames = 24
)

func (r *run) frame(ret uint64) section.Frame {
	f := section.Frame{Call: unit.Addr(r.code.callBefore(ret))}
	if _, lo, _, _ := r.code.bounds(ret - 1); lo != 0 {
		f.Func = unit.Addr(lo)
	}
	return f
}
