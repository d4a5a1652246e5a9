package native

import (
	"slices"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/origin"
	"lime/internal/section"
	"lime/internal/unit"
	"lime/internal/unwind"
)

// siteKey names the place of a hooked call.
type siteKey struct{ caller, sp, body, near uint64 }

// site is the place of a hooked call. calls names, for each frame, the open call of its function
// (openCall); 0 if that is not known.
type site struct {
	section.Site
	calls   []uint64
	lock    bool // the functions that lead to the call are those of a lock, by their names
	through bool // a thread says there that it has done its work
	named   bool // the function that calls has a name
	cut     bool // the stack had changed before it was read: callers further out are not known
}

// from is the program's own open call in which the place lies, 0 if it is not known.
func (s site) from() uint64 {
	if len(s.calls) == 0 {
		return 0
	}
	return s.calls[0]
}

const maxSites = 1 << 14

// site finds the place at which a thread called a hooked function, as the recogniser wants it. The
// program runs on, so only the return address and a few words above it are sure; the rest is read
// from the thread's stack as it is now, which holds as long as the calls are open.
func (r *run) site(h *hook.Record) site {
	key := siteKey{h.Caller, h.SP, r.roster.body(h), r.near(h)}
	if s, ok := r.sites[key]; ok {
		return s
	}
	s := r.readSite(h)
	r.fresh = true
	if len(r.sites) >= maxSites {
		clear(r.sites)
	}
	if len(s.Stack) > 0 && !s.cut {
		r.sites[key] = s
	}
	return s
}

// near sums up the callers that the record itself tells of: those are sure.
func (r *run) near(h *hook.Record) (sum uint64) {
	_, _ = r.program.sampler.walker.Walk(callerRegs(h), recordMemory(h, nil), func(pc, _ uint64) bool {
		sum = (sum ^ pc) * fnvPrime
		return true
	})
	return sum
}

// outward makes of the record of a call inside of a hooked function one of the call of that
// function, as far as the words in the record tell.
func (r *run) outward(h *hook.Record) {
	frames := 0
	_, _ = r.program.sampler.walker.WalkRegs(callerRegs(h), recordMemory(h, nil), func(at *unwind.Regs) bool {
		if frames++; frames == 1 {
			return true
		}
		sp := at[unwind.RSP] - 8
		words := min(int(sp-h.SP)/8, h.Words)
		h.Caller, h.SP, h.FP = at[unwind.PC], sp, at[unwind.RBP]
		h.Words = copy(h.Stack[:], h.Stack[words:h.Words])
		return false
	})
}

// callerRegs are the registers of a hooked call's caller, as far as they are known.
func callerRegs(h *hook.Record) (regs unwind.Regs) {
	regs[unwind.PC], regs[unwind.RSP], regs[unwind.RBP] = h.Caller, h.SP+8, h.FP
	return regs
}

// recordMemory is the stack as the record has it, and above that as beyond has it.
func recordMemory(h *hook.Record, beyond unwind.Memory) unwind.Memory {
	return func(addr uint64) (uint64, bool) {
		if i := (addr - h.SP) / 8; addr >= h.SP+8 && i <= uint64(h.Words) && addr%8 == 0 {
			return h.Stack[i-1], true
		}
		if beyond == nil {
			return 0, false
		}
		return beyond(addr)
	}
}

// tailCall finds the place of a call that was reached by a jump: the return address is then that of
// the caller's call, not of the function in which the source says "wait here".
func (r *run) tailCall(h *hook.Record) (f section.Frame, ok bool) {
	target := r.program.target(h.Func)
	entry := uint64(0)
	if r.program.sampler.stubs != nil && r.program.sampler.stubs(h.Caller) {
		entry = r.roster.body(h)
	} else if b := r.program.code.look(h.Caller - 1).b; b.end == h.Caller {
		entry = r.program.code.goesTo(b)
	}
	if target == 0 || entry == 0 || entry == target || !r.program.images.own(entry) {
		return f, false
	}
	jump := r.program.code.jump(entry, target, mostJumps)
	return section.Frame{Call: unit.Addr(jump), Func: unit.Addr(entry)}, jump != 0
}

// keepFrames finds how many of the outermost calls a thread has not come back from since its piece
// began: the samples of the piece say how far it came back. What they said of one place at any time
// holds for pieces without samples, too.
func (r *run) keepFrames(s *site, p *piece) {
	if len(s.Stack) == 0 {
		return
	}
	at := s.Stack[0].Call
	if p.seen {
		left := 0
		for left < len(s.calls) && s.calls[left] != 0 && !slices.Contains(p.open, s.calls[left]) {
			left++
		}
		r.left[at] = max(r.left[at], left)
	}
	if left, ok := r.left[at]; ok {
		s.Kept = max(0, len(s.Stack)-left-1) // a call is kept if the function that it called is
	}
}

func (r *run) readSite(h *hook.Record) site {
	var s site
	if f, ok := r.tailCall(h); ok {
		s.Stack, s.calls = append(s.Stack, f), append(s.calls, openCall(h.Caller, h.SP+8))
	}
	stack := make([]byte, siteStack)
	stack = stack[:peek(r.program.images.pid, h.SP, stack)]
	first, caller := true, true
	sure := h.SP + 8 + 8*uint64(h.Words)
	inner := uint64(0) // return address of the call inside
	visit := func(at *unwind.Regs) bool {
		pc, sp := at[unwind.PC], at[unwind.RSP]
		if !first && sp > sure { // it was read while the program ran on
			if pc = r.program.code.returnsFrom(pc, inner); pc == 0 || !r.program.sampler.followsCall(pc) {
				s.cut = true
				return false
			}
			at[unwind.PC] = pc
		}
		first, inner = false, pc
		if len(s.Stack) == 0 || caller {
			caller = r.names(&s, pc-1, caller) && caller
		}
		if len(s.calls) < len(s.Stack) {
			s.calls = append(s.calls, openCall(pc, sp))
		}
		if r.program.images.own(pc - 1) {
			s.Stack = append(s.Stack, r.program.frame(pc))
		}
		return len(s.Stack) < siteFrames
	}
	_, _ = r.program.sampler.walker.WalkRegs(callerRegs(h), recordMemory(h, stackMemory(h.SP, stack)), visit)
	for len(s.calls) < len(s.Stack) {
		s.calls = append(s.calls, 0)
	}
	s.Library = r.inLibrary(s.Stack)
	s.lock = s.lock || r.program.code.jumpedFrom(h.Caller, r.program.target(h.Func), (*function).locking)
	s.through = r.saysThrough(h, &s)
	return s
}

// names looks at the name of a function between the call and the program's own code, first at the
// one that calls. It reports whether that one only makes the system call for its caller, which may
// be in the program's own file.
func (r *run) names(s *site, pc uint64, caller bool) (wraps bool) {
	_, sym, ok := r.program.images.symbol(pc)
	if wraps = ok && known.FutexCall(sym.Name); wraps {
		return true
	}
	if caller {
		s.named = ok
	}
	s.lock = s.lock || ok && known.Locking(sym.Name)
	return false
}

// inLibrary counts the innermost calls that stand in functions of the language's own library, if
// there are others further out: generic code of the library is compiled into the program, and who
// waits looks for the line that asked for it.
func (r *run) inLibrary(stack []section.Frame) int {
	for i, f := range stack {
		if _, s, ok := r.program.images.symbol(uint64(f.Call)); !ok || !origin.LanguageFunction(s.Name) || origin.HoldsProgram(s.Name) {
			return i
		}
	}
	return 0
}

const (
	siteStack  = 4096
	siteFrames = 24
)
