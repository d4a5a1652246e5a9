package engine

import "lime/internal/x86"

// How far the search for the death of flags looks: blocks deep, instructions each.
const (
	liveDepth = 4
	liveInsts = 24
)

// liveAt returns the status flags that code at pc, or what follows it, may read
// before it writes them.
func (e *Engine) liveAt(pc uint64, depth int) x86.Flags {
	if live, ok := e.flagsAt[pc]; ok {
		return live
	}
	if depth == 0 {
		return x86.StatusFlags
	}
	if e.flagsAt == nil {
		e.flagsAt, e.scanned = map[uint64]x86.Flags{}, map[uint64]bool{}
	}
	e.flagsAt[pc] = x86.StatusFlags // for cycles
	live := e.scanLive(pc, depth)
	e.flagsAt[pc] = live
	return live
}

func (e *Engine) scanLive(pc uint64, depth int) x86.Flags {
	var buf [liveInsts * 8]byte
	code, r := e.fetch(pc, buf[:])
	if r.Changes() {
		return x86.StatusFlags
	}
	e.scanned[pc/pageSize], e.scanned[(pc+uint64(len(buf)))/pageSize] = true, true
	s := liveScan{}
	off := uint64(0)
	for range liveInsts {
		var in x86.Inst
		if x86.Decode(code[off:], &in) != nil || s.add(&in) {
			break
		}
		at := pc + off
		off += uint64(in.Len)
		if in.EndsBlock() {
			return s.live | e.liveBehind(&in, at, depth)&^s.written
		}
	}
	return s.result()
}

// liveScan collects the flags read and written by instructions in order.
type liveScan struct{ live, written x86.Flags }

// add reports whether all flags are decided.
func (s *liveScan) add(in *x86.Inst) bool {
	s.live |= in.FlagsRead & x86.StatusFlags &^ s.written
	s.written |= surelyWrites(in)
	return (s.live|s.written)&x86.StatusFlags == x86.StatusFlags
}

// result takes what is undecided for live.
func (s *liveScan) result() x86.Flags { return s.live | x86.StatusFlags&^s.written }

// liveBehind returns the flags live behind a branch at pc.
func (e *Engine) liveBehind(in *x86.Inst, pc uint64, depth int) x86.Flags {
	switch in.Branch {
	case x86.BranchJump, x86.BranchCall:
		return e.liveAt(in.Target(pc), depth-1)
	case x86.BranchCond, x86.BranchLoop:
		live := e.liveAt(in.Target(pc), depth-1)
		if live == x86.StatusFlags {
			return live
		}
		return live | e.liveAt(pc+uint64(in.Len), depth-1)
	}
	return x86.StatusFlags
}

// liveIn returns the flags that the block, or what follows, may read from before it.
func (t *translation) liveIn(writable bool) x86.Flags {
	s := liveScan{}
	pc := t.b.pc
	for i := range t.insts {
		if s.add(&t.insts[i]) {
			return s.live
		}
		pc += uint64(t.insts[i].Len)
	}
	last := &t.insts[len(t.insts)-1]
	switch {
	case writable || emulated(last):
		return s.result()
	case last.EndsBlock():
		return s.live | t.e.liveBehind(last, pc-uint64(last.Len), liveDepth)&^s.written
	}
	return s.live | t.e.liveAt(pc, liveDepth)&^s.written
}
