package sim

import (
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/x86"
)

// trueSite completes the place of a call that was reached by a jump: the return address on the
// stack is then that of the caller's call, not of the function in which the source
// says "wait here".
func (r *run) trueSite(s *section.Site, p *piece, entry, ret uint64) {
	jump := uint64(0)
	in, at, ok := r.callInst(ret)
	if r.images.own(ret-1) && ok && in.Branch == x86.BranchCall {
		target := in.Target(at)
		if r.leadsTo(target, entry, 0) {
			return
		}
		jump = r.tailJump(target, entry, p)
	} else {
		jump = r.jumpRun(p, entry)
	}
	if jump != 0 && r.images.own(jump) {
		s.Stack = append([]section.Frame{r.frame(jump, jump)}, s.Stack...)
	}
}

// jumpRun finds the jump to entry that the piece ran, when the call before it says nothing: a
// library called the thread's function, or a pointer did. Such a jump ends its piece, so there is
// one at most.
func (r *run) jumpRun(p *piece, entry uint64) uint64 {
	blocks, edges := r.blocks.sync(), r.eng.Edges()
	for _, e := range p.edges {
		from := edges[e.id].From
		if from < 0 || int(from) >= len(blocks) || edges[e.id].Kind != engine.EdgeJump {
			continue
		}
		at := blocks[from].LastPC
		if in, ok := r.decode(at); ok && in.Branch == x86.BranchJump && r.images.own(at) && r.jumpsTo(&in, at, entry, 0) {
			return at
		}
	}
	return 0
}

// callInst decodes the call that returns to ret.
func (r *run) callInst(ret uint64) (in x86.Inst, at uint64, ok bool) {
	at = r.blocks.callBefore(ret)
	if at == ret-1 {
		return in, at, false
	}
	in, ok = r.decode(at)
	return in, at, ok
}

func (r *run) decode(at uint64) (in x86.Inst, ok bool) {
	code := r.proc.Readable(at, 15)
	if len(code) == 0 {
		code = r.proc.Readable(at, 4096-at%4096)
	}
	ok = len(code) > 0 && x86.Decode(code, &in) == nil
	return in, ok
}

// leadsTo reports whether code at an address does nothing but jump to entry: a PLT stub,
// or a thunk.
func (r *run) leadsTo(at, entry uint64, depth int) bool {
	if at == entry {
		return true
	}
	in, ok := r.decode(at)
	if ok && isEndbr(&in) {
		at += uint64(in.Len)
		in, ok = r.decode(at)
	}
	if !ok || depth > 2 {
		return false
	}
	return r.jumpsTo(&in, at, entry, depth)
}

func (r *run) jumpsTo(in *x86.Inst, at, entry uint64, depth int) bool {
	switch in.Branch {
	case x86.BranchJump:
		return r.leadsTo(in.Target(at), entry, depth+1)
	case x86.BranchJumpInd:
		if in.HasMem && in.Mem.Base == x86.RIP && in.Mem.Index == x86.NoReg {
			v, ok := r.word(at + uint64(in.Len) + uint64(int64(in.Mem.Disp)))
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
func (r *run) tailJump(fn, entry uint64, p *piece) uint64 {
	found := uint64(0)
	for at, end := fn, fn+r.functionSize(fn); at < end; {
		in, ok := r.decode(at)
		if !ok {
			break
		}
		if r.jumpsTo(&in, at, entry, 0) {
			if r.ran(p, at+uint64(in.Len)) {
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

func (r *run) functionSize(fn uint64) uint64 {
	const most = 1 << 16
	im := r.images.at(fn)
	if im == nil {
		return 0
	}
	if s, ok := im.Func(fn - im.Bias); ok && s.Size > 0 {
		return min(s.Size, most)
	}
	return min(im.Hi-fn, 4096)
}

// ran reports whether the block that ends at an address was run in the piece.
func (r *run) ran(p *piece, end uint64) bool {
	id, ok := r.blocks.endingAt(end)
	if !ok {
		return false
	}
	edges := r.eng.Edges()
	for _, e := range p.edges {
		if edges[e.id].From == id && edges[e.id].Kind != engine.EdgeReturn {
			return true
		}
	}
	return false
}
