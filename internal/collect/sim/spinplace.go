// Which instructions of a spin loop stand for it: where its threads meet, and look.

package sim

import (
	"lime/internal/engine"
	"lime/internal/origin"
	"lime/internal/x86"
)

// passPoint finds the instruction that every thread passes on its way to where one waits, the
// releasing one too: the last atomic instruction or call in front of that place in its function that
// the waiting thread came through in its last segment, outside of the loop in which it waits.
func (ls *loops) passPoint(head uint64, loop extents, taken []edgeCount) uint64 {
	const reach = 1 << 14
	_, fn := ls.images.function(head)
	if !ls.images.own(head) {
		return 0
	}
	lo := max(fn, head-min(head, reach))
	found := uint64(0)
	edges, blocks := ls.eng.Edges(), ls.eng.Blocks()
	for _, e := range taken {
		if d := &edges[e.id]; d.From >= 0 && d.Kind != engine.EdgeReturn {
			if b := &blocks[d.From]; b.PC >= lo && b.PC < head && b.PC+uint64(b.Size) > found {
				found = max(found, ls.meeting(loop, b, head))
			}
		}
	}
	return found
}

// meeting is the last instruction of a block before head, and outside of the loop, at which threads
// can meet, or 0.
func (ls *loops) meeting(loop extents, b *engine.Block, head uint64) (found uint64) {
	for at := b.PC; at < min(b.PC+uint64(b.Size), head); {
		in, ok := ls.memory.decode(at)
		if !ok {
			break
		}
		if meets(in) && !loop.have(at) {
			found = at
		}
		at += uint64(in.Len)
	}
	return found
}

// meets reports whether threads can meet at an instruction: an atomic access (but not to the stack,
// which is a fence), or a call.
func meets(in *x86.Inst) bool {
	return in.Lock && in.HasMem && in.Mem.Base != x86.RSP || in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd
}

// waitsAt is the program's own instruction that looks at what a thread in the loop waits for, or
// else the loop's place. (Where a loop's block begins, compilers put what belongs to the lines
// around it.)
func (ls *loops) waitsAt(s *spinner) uint64 {
	for i := range s.loop.Watches {
		if w := &s.loop.Watches[i]; w.Addr == s.object && ls.whose(w.PC) == ofProgram {
			return w.PC
		}
	}
	return ls.place(s)
}

// place is the lowest address at which a thread in the loop can be found that is the program's own
// code, or else what is compiled into it from its language's library, or else any.
func (ls *loops) place(s *spinner) uint64 {
	lowest := [...]uint64{ofProgram: never, ofLanguage: never, ofOthers: never}
	for _, pc := range s.loop.Stops {
		x := ls.whose(pc)
		lowest[x] = min(lowest[x], pc)
	}
	for _, pc := range lowest {
		if pc != never {
			return pc
		}
	}
	return never
}

// codeOwner is whose code is.
type codeOwner uint8

const (
	ofProgram codeOwner = iota
	ofLanguage
	ofOthers
)

// whose is whose the code at an address is.
func (ls *loops) whose(pc uint64) codeOwner {
	if !ls.images.own(pc) {
		return ofOthers
	}
	if name, _ := ls.images.function(pc); origin.LanguageFunction(name) {
		return ofLanguage
	}
	return ofProgram
}
