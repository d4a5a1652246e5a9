package native

import (
	"encoding/binary"
	"slices"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/origin"
	"lime/internal/section"
	"lime/internal/unit"
	"lime/internal/unwind"
)

// places finds where hooked functions are called: it looks, and changes nothing.
type places struct {
	program *program
	roster  *roster
	shared  *shared

	sites map[siteKey]site
	left  map[unit.Addr]int // by innermost call: how many functions the threads leave between two of them
}

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
	permit  bool // they wait for a permit of a semaphore, by their names
	cut     bool // the stack had changed before it was read: callers further out are not known
	slots   []slot
}

// slot is where a return address stood that the record does not hold.
type slot struct{ at, ret uint64 }

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
func (pl *places) site(h *hook.Record) site {
	key := siteKey{h.Caller, h.SP, pl.roster.body(h), pl.near(h)}
	known, ok := pl.sites[key]
	if ok && pl.stands(&known) {
		return known
	}
	s := pl.readSite(h)
	if ok && (s.cut || len(s.Stack) == 0) { // the thread has gone on
		return known
	}
	pl.shared.fresh = true
	if len(pl.sites) >= maxSites {
		clear(pl.sites)
	}
	if len(s.Stack) > 0 && !s.cut {
		pl.sites[key] = s
	}
	return s
}

// stands reports whether the stack still says that a call of the library's was made where it was
// made when the place was read: the library's frames may hide that from the record, and a function
// may make the call again from another line.
func (pl *places) stands(s *site) bool {
	var word [8]byte
	for _, x := range s.slots {
		if peek(pl.program.images.pid, x.at, word[:]) == len(word) && binary.LittleEndian.Uint64(word[:]) != x.ret {
			return false
		}
	}
	return true
}

// near sums up the callers that the record itself tells of: those are sure.
func (pl *places) near(h *hook.Record) (sum uint64) {
	_, _ = pl.program.sampler.walker.Walk(callerRegs(h), recordMemory(h, nil), func(pc, _ uint64) bool {
		sum = (sum ^ pc) * fnvPrime
		return true
	})
	return sum
}

// outward makes of the record of a call inside of a hooked function one of the call of that
// function, as far as the words in the record tell.
func (pl *places) outward(h *hook.Record) {
	frames := 0
	_, _ = pl.program.sampler.walker.WalkRegs(callerRegs(h), recordMemory(h, nil), func(at *unwind.Regs) bool {
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
func (pl *places) tailCall(h *hook.Record) (f section.Frame, ok bool) {
	target := pl.program.target(h.Func)
	entry := uint64(0)
	if pl.program.sampler.stubs != nil && pl.program.sampler.stubs(h.Caller) {
		entry = pl.roster.body(h)
	} else if b := pl.program.code.look(h.Caller - 1).b; b.end == h.Caller {
		entry = pl.program.code.goesTo(b)
	}
	if target == 0 || entry == 0 || entry == target || !pl.program.images.own(entry) {
		return f, false
	}
	jump := pl.program.code.jump(entry, target, mostJumps)
	return section.Frame{Call: unit.Addr(jump), Func: unit.Addr(entry)}, jump != 0
}

// keepFrames finds how many of the outermost calls a thread has not come back from since its piece
// began: the samples of the piece say how far it came back. What they said of one place at any time
// holds for pieces without samples, too.
func (pl *places) keepFrames(s *site, p *piece) {
	if len(s.Stack) == 0 {
		return
	}
	at := s.Stack[0].Call
	if p.seen {
		left := 0
		for left < len(s.calls) && s.calls[left] != 0 && !slices.Contains(p.open, s.calls[left]) {
			left++
		}
		pl.left[at] = max(pl.left[at], left)
	}
	if left, ok := pl.left[at]; ok {
		s.Kept = max(0, len(s.Stack)-left-1) // a call is kept if the function that it called is
	}
}

func (pl *places) readSite(h *hook.Record) site {
	var s site
	if f, ok := pl.tailCall(h); ok {
		s.Stack, s.calls = append(s.Stack, f), append(s.calls, openCall(h.Caller, h.SP+8))
	}
	stack := make([]byte, siteStack)
	stack = stack[:peek(pl.program.images.pid, h.SP, stack)]
	first, caller := true, true
	sure := h.SP + 8 + 8*uint64(h.Words)
	inner := uint64(0) // return address of the call inside
	visit := func(at *unwind.Regs) bool {
		pc, sp := at[unwind.PC], at[unwind.RSP]
		if !first && sp > sure { // it was read while the program ran on
			if pc = pl.program.code.returnsFrom(pc, inner); pc == 0 || !pl.program.sampler.followsCall(pc) {
				s.cut = true
				return false
			}
			at[unwind.PC] = pc
		}
		first, inner = false, pc
		if len(s.Stack) == 0 || caller {
			caller = pl.names(&s, pc-1, caller) && caller
		}
		if len(s.calls) < len(s.Stack) {
			s.calls = append(s.calls, openCall(pc, sp))
		}
		if pl.program.images.own(pc - 1) {
			if sp > sure {
				s.slots = append(s.slots, slot{sp - 8, pc})
			}
			s.Stack = append(s.Stack, pl.program.frame(pc))
		}
		return len(s.Stack) < siteFrames
	}
	_, _ = pl.program.sampler.walker.WalkRegs(callerRegs(h), recordMemory(h, stackMemory(h.SP, stack)), visit)
	for len(s.calls) < len(s.Stack) {
		s.calls = append(s.calls, 0)
	}
	s.Library = pl.inLibrary(s.Stack)
	inside := len(s.Stack) - len(s.slots) // the record holds these
	s.slots = s.slots[:max(0, min(len(s.slots), s.Library+1-inside))]
	s.lock = s.lock || pl.program.code.jumpedFrom(h.Caller, pl.program.target(h.Func), (*function).locking)
	for _, f := range s.Stack[:s.Library] {
		_, sym, ok := pl.program.images.symbol(uint64(f.Call))
		s.permit = s.permit || ok && known.Semaphore(sym.Name)
	}
	s.through = pl.saysThrough(h, &s)
	return s
}

// names looks at the name of a function between the call and the program's own code, first at the
// one that calls. It reports whether that one only makes the system call for its caller, which may
// be in the program's own file.
func (pl *places) names(s *site, pc uint64, caller bool) (wraps bool) {
	_, sym, ok := pl.program.images.symbol(pc)
	if wraps = ok && known.FutexCall(sym.Name); wraps {
		return true
	}
	if caller {
		s.named = ok
	}
	s.lock = s.lock || ok && known.Locking(sym.Name)
	s.permit = s.permit || ok && known.Semaphore(sym.Name)
	return false
}

// inLibrary counts the innermost calls that stand in functions of the language's own library, if
// there are others further out: generic code of the library is compiled into the program, and who
// waits looks for the line that asked for it.
func (pl *places) inLibrary(stack []section.Frame) int {
	for i, f := range stack {
		if _, s, ok := pl.program.images.symbol(uint64(f.Call)); !ok || !origin.LanguageFunction(s.Name) || origin.HoldsProgram(s.Name) {
			return i
		}
	}
	return 0
}

const (
	siteStack  = 4096
	siteFrames = 24
)
