// The places of calls that were reached by a jump.

package sim

import (
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/x86"
)

// tailCalls finds the places of calls that were reached by a jump.
type tailCalls struct{ *places }

// trueSite completes the place of a call that was reached by a jump: the return address on the
// stack is then that of the caller's call, not of the function in which the source
// says "wait here".
func (tc *tailCalls) trueSite(s *section.Site, p *segment, entry, ret uint64) {
	jump := uint64(0)
	in, at, ok := tc.callInst(ret)
	if tc.images.own(ret-1) && ok && in.Branch == x86.BranchCall {
		target := in.Target(at)
		if tc.leadsTo(target, entry, 0) {
			return
		}
		jump = tc.tailJump(target, entry, p)
	} else {
		jump = tc.jumpRun(p, entry)
	}
	if jump != 0 && tc.images.own(jump) {
		s.Stack = append([]section.Frame{tc.frame(jump, jump)}, s.Stack...)
	}
}

// jumpRun finds the jump to entry that the segment ran, when the call before it says nothing: a
// library called the thread's function, or a pointer did. Such a jump ends its segment, so there is
// one at most.
func (tc *tailCalls) jumpRun(p *segment, entry uint64) uint64 {
	blocks, edges := tc.blocks.sync(), tc.eng.Edges()
	for _, e := range p.edges {
		from := edges[e.id].From
		if from < 0 || int(from) >= len(blocks) || edges[e.id].Kind != engine.EdgeJump {
			continue
		}
		at := blocks[from].LastPC
		if in, ok := tc.decode(at); ok && in.Branch == x86.BranchJump && tc.images.own(at) && tc.jumpsTo(in, at, entry, 0) {
			return at
		}
	}
	return 0
}

// callInst decodes the call that returns to ret.
func (pl *places) callInst(ret uint64) (in *x86.Inst, at uint64, ok bool) {
	at = pl.blocks.callBefore(ret)
	if at == ret-1 {
		return in, at, false
	}
	in, ok = pl.decode(at)
	return in, at, ok
}

// leadsTo reports whether code at an address does nothing but jump to entry: a PLT stub,
// or a thunk.
func (tc *tailCalls) leadsTo(at, entry uint64, depth int) bool {
	if at == entry {
		return true
	}
	in, ok := tc.decode(at)
	if ok && isEndbr(in) {
		at += uint64(in.Len)
		in, ok = tc.decode(at)
	}
	if !ok || depth > 2 {
		return false
	}
	return tc.jumpsTo(in, at, entry, depth)
}

func (tc *tailCalls) jumpsTo(in *x86.Inst, at, entry uint64, depth int) bool {
	switch in.Branch {
	case x86.BranchJump:
		return tc.leadsTo(in.Target(at), entry, depth+1)
	case x86.BranchJumpInd:
		if in.HasMem && in.Mem.Base == x86.RIP && in.Mem.Index == x86.NoReg {
			v, ok := tc.word(at + uint64(in.Len) + uint64(int64(in.Mem.Disp)))
			return ok && v == entry
		}
	}
	return false
}

// isEndbr recognises endbr64 (Intel SDM vol. 2: F3 0F 1E FA).
func isEndbr(in *x86.Inst) bool {
	return in.Len == 4 && in.Map == 1 && in.Opcode == 0x1e && in.ModRM == 0xfa
}

// tailJump finds the jump in the function at fn by which entry was reached.
func (tc *tailCalls) tailJump(fn, entry uint64, p *segment) uint64 {
	found := uint64(0)
	for at, end := fn, fn+tc.functionSize(fn); at < end; {
		in, ok := tc.decode(at)
		if !ok {
			break
		}
		if tc.jumpsTo(in, at, entry, 0) {
			if tc.ranInSegment(p, at+uint64(in.Len)) {
				return at
			}
			if found == 0 {
				found = at
			}
		}
		at += uint64(in.Len)
	}
	return found
}

func (tc *tailCalls) functionSize(fn uint64) uint64 {
	const most = 1 << 16
	im := tc.images.at(fn)
	if im == nil {
		return 0
	}
	if s, ok := im.Func(fn - im.Bias); ok && s.Size > 0 {
		return min(s.Size, most)
	}
	return min(im.Hi-fn, 4096)
}

// ranInSegment reports whether the block that ends at an address was run in the segment.
func (pl *places) ranInSegment(p *segment, end uint64) bool {
	id, ok := pl.blocks.endingAt(end)
	if !ok {
		return false
	}
	edges := pl.eng.Edges()
	for _, e := range p.edges {
		if edges[e.id].From == id && edges[e.id].Kind != engine.EdgeReturn {
			return true
		}
	}
	return false
}
