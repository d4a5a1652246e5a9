// Calls in a loop, and where those that tell the time leave it.

package busywait

import "lime/internal/x86"

// Call is what is known of a function that a loop calls.
type Call struct {
	Idle   bool    // it does nothing that others see: it gives the core away, pauses, or tells the time
	Stores bool    // and it stores that, at the address in a register
	At     x86.Reg // that one
}

// timeBytes is what such a call stores at most: a timespec, or a timeval.
const timeBytes = 16

// times is where the calls of a loop store the time. What is there changes by itself.
type times []slot

// meet reports whether a place of the frame may be one of these.
func (t times) meet(s slot) bool {
	for _, at := range t {
		if at.meets(s) {
			return true
		}
	}
	return false
}

// times lists where a loop's calls store the time. ok is false if one stores it elsewhere than in the
// function's own frame, or where it cannot be told.
func (f *Function) times(parts []int32) (list times, ok bool) {
	for _, i := range parts {
		if p := &f.Parts[i]; p.Branch != x86.BranchCall && p.Branch != x86.BranchCallInd {
			continue
		}
		c := f.Calls(f.calls(i))
		if !c.Stores {
			continue
		}
		at, none, ok := f.Argument(i, c.At)
		if !ok {
			return nil, false
		}
		if !none {
			list = append(list, at)
		}
	}
	return list, true
}

// Argument is the place of the frame whose address a register holds where a block ends in a call; none
// says that it holds no address, but zero. ok is false if it may hold anything else.
func (f *Function) Argument(i int32, r x86.Reg) (at slot, none, ok bool) {
	k := f.constants(i)
	if int(i) >= len(f.codes) || len(f.codes[i].Insts) == 0 {
		return at, false, false
	}
	before := f.codes[i]
	before.Insts = before.Insts[:len(before.Insts)-1]
	k.through(&before)
	switch h := k[r&15]; {
	case h.known == zero:
		return at, true, true
	case h.framed && (h.base == x86.RSP || framed(f.Text)):
		return slot{h.base, h.disp, timeBytes}, false, true
	}
	return at, false, false
}

// inFrame is what a register holds behind an instruction that puts the address of a place of the frame
// there: lea, and mov of the frame pointer's value.
func inFrame(in *x86.Inst) (h held, is bool) {
	m := &in.Mem
	if in.Map != 0 || in.Enc != x86.Legacy || in.Rex&rexW == 0 {
		return h, false
	}
	switch {
	case in.Opcode == 0x8d && m.Index == x86.NoReg && (m.Base == x86.RSP || m.Base == x86.RBP):
		return held{framed: true, base: m.Base, disp: m.Disp}, true
	case in.Opcode == 0x89 && !in.HasMem && in.RegField() == x86.RSP:
		return held{framed: true, base: x86.RSP}, true
	case in.Opcode == 0x8b && !in.HasMem && in.RMField() == x86.RSP:
		return held{framed: true, base: x86.RSP}, true
	}
	return h, false
}
