// The loops of a function that wait.

package busywait

import (
	"maps"
	"slices"
	"sort"

	"lime/internal/graph"
	"lime/internal/x86"
)

// Function is a function's code.
type Function struct {
	Parts []Part // its blocks, by address
	Proc  *graph.Proc
	Text  []byte // from the first of them on
	// Calls says what is known of what a block calls; without it nothing is.
	Calls func(Part) Call

	known []Constants // at each block's beginning; nil: nobody has asked
	codes []Code
}

// Waiting is a loop that waits.
type Waiting struct {
	Verdict
	Parts []int32 // its blocks, the head first
	PC    uint64  // of Verdict.At
}

// longest is the number of instructions of a loop that is looked at: to judge one costs its length
// times the depth of loops in it, and all loops of a program are judged. Unoptimised code with a backoff
// has some 100.
const longest = 256

// Waits lists the loops that wait, those around others before these. Of loops with one head, which are
// one to the graph, each may wait for itself: for one flag, then for the next.
func (f *Function) Waits() (out []Waiting) {
	for i := range f.Proc.Loops {
		l := &f.Proc.Loops[i]
		if w, ok := f.judge(l.Header, l.Body); ok {
			out = append(out, w)
			continue
		}
		latches := f.Proc.Latches(l)
		if len(latches) == 1 {
			continue
		}
		for _, latch := range latches {
			// a block has an instruction or more
			if w, ok := f.judge(l.Header, f.Proc.Around(l.Header, latch, longest)); ok && !w.Counts {
				out = append(out, w)
			}
		}
	}
	return out
}

// judge judges a loop by its blocks.
func (f *Function) judge(header int32, body map[int32]bool) (w Waiting, ok bool) {
	if w.Parts = f.order(header, body); len(w.Parts) == 0 || slices.ContainsFunc(w.Parts, f.harms) {
		return w, false
	}
	list := make([]Part, len(w.Parts))
	for i, p := range w.Parts {
		list[i] = f.Parts[p]
	}
	from := f.Parts[0].Addr
	l, ok := LoopOf(list, f.Text, from)
	if !ok {
		return w, false
	}
	l.Frame = framed(f.Text)
	if l.Times, ok = f.times(w.Parts); !ok {
		return w, false
	}
	if len(l.Times) > 0 {
		l.Known = f.constants(header)
	}
	if w.Verdict = Judge(l); w.Waits && w.Tries {
		l.Known = f.constants(header)
		w.Verdict = Judge(l)
	}
	if !w.Waits {
		return w, false
	}
	w.PC = list[w.At.Block].Addr
	for _, in := range l.Blocks[w.At.Block].Insts[:w.At.Inst] {
		w.PC += uint64(in.Len)
	}
	return w, true
}

// order lists a loop's blocks, its head first, then by address; nil if it is too long, or has none.
func (f *Function) order(header int32, body map[int32]bool) (order []int32) {
	if len(body) == 0 {
		return nil
	}
	n := uint32(0)
	for i := range body {
		if n += f.Parts[i].Instrs; n > longest {
			return nil
		}
	}
	order = append(order, header)
	for _, i := range slices.Sorted(maps.Keys(body)) {
		if i != header {
			order = append(order, i)
		}
	}
	return order
}

// harms reports whether a block ends in anything that goes elsewhere but what only waits there.
func (f *Function) harms(i int32) bool {
	switch p := &f.Parts[i]; p.Branch {
	case x86.BranchNone:
		return false
	case x86.BranchCall, x86.BranchCallInd:
		return f.Calls == nil || !f.Calls(f.calls(i)).Idle
	default:
		return !p.jumps()
	}
}

// calls is a block whose call is known, if need be by where the register that it goes through was
// loaded from: a compiler loads the address of a function that is called in a loop before that.
func (f *Function) calls(i int32) Part {
	p := f.Parts[i]
	if p.Branch != x86.BranchCallInd || p.Slot != 0 {
		return p
	}
	k := f.constants(i)
	if int(i) >= len(f.codes) || len(f.codes[i].Insts) == 0 {
		return p
	}
	if in := f.codes[i].Insts[len(f.codes[i].Insts)-1]; !in.HasMem {
		p.Slot = k.From(f.codes[i], in.RMField())
	}
	return p
}

// constants is what is known of registers where a block begins.
func (f *Function) constants(at int32) (known Constants) {
	if f.known == nil {
		f.codes = nil
		for i := range f.Parts {
			insts, ok := f.Parts[i].Insts(f.Text, f.Parts[0].Addr)
			if !ok {
				return known
			}
			f.codes = append(f.codes, Code{Addr: f.Parts[i].Addr, Insts: insts})
		}
		f.known = Known(f.codes, f.Proc.Succ)
	}
	return f.known[at]
}

// Holding is the block that holds an address, -1 if none does.
func (f *Function) Holding(pc uint64) int32 {
	i := sort.Search(len(f.Parts), func(i int) bool { return f.Parts[i].Addr > pc }) - 1
	if i < 0 || pc >= f.Parts[i].End {
		return -1
	}
	return int32(i)
}

// LoopOf is the loop of some blocks, of which the first is its head. text is the code from an address on.
func LoopOf(list []Part, text []byte, from uint64) (*Loop, bool) {
	index := map[uint64]int{}
	for i := range list {
		index[list[i].Addr] = i
	}
	within := func(addr uint64) int {
		if at, ok := index[addr]; ok {
			return at
		}
		return Out
	}
	l := &Loop{}
	for i := range list {
		p := &list[i]
		insts, ok := p.Insts(text, from)
		if !ok {
			return nil, false
		}
		one := Block{Code: Code{Addr: p.Addr, Insts: insts}, Taken: None, Fall: None}
		if p.jumps() {
			one.Taken = within(p.Target)
		}
		if p.falls() {
			one.Fall = within(p.End)
		}
		l.Blocks = append(l.Blocks, one)
	}
	return l, true
}

// framed reports whether a function begins by making rbp its frame pointer: push rbp; mov rsp, rbp,
// behind endbr64 where there is one.
func framed(text []byte) bool {
	var in x86.Inst
	pushed := false
	for range 3 {
		if x86.Decode(text, &in) != nil {
			return false
		}
		switch {
		case in.Map == 0 && in.Opcode == 0x50|uint8(x86.RBP) && in.Rex&1 == 0:
			pushed = true
		case in.Map == 0 && (in.Opcode == 0x89 && in.ModRM == 0xe5 || in.Opcode == 0x8b && in.ModRM == 0xec) && in.Rex == 0x48:
			return pushed
		case in.HasMem && in.Mem.Bytes > 0 || in.Branch != x86.BranchNone:
			return false
		}
		text = text[in.Len:]
	}
	return false
}

// MayTake reports whether who leaves a loop may try to take a word before it does anything that others
// see, as who has waited for a lock does. What is called is not looked at.
func (f *Function) MayTake(loop []int32) bool {
	seen := make([]bool, len(f.Parts))
	for _, i := range loop {
		seen[i] = true
	}
	for work := slices.Clone(loop); len(work) > 0; {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range f.Proc.Succ[i] {
			if seen[to] {
				continue
			}
			seen[to] = true
			takes, on := f.first(to)
			if takes {
				return true
			}
			if on {
				work = append(work, to)
			}
		}
	}
	return false
}

// first is what a block does first that others see: whether it tries to take a word, and whether it does
// nothing. What it calls, or goes on to elsewhere, may try.
func (f *Function) first(i int32) (takes, on bool) {
	p := &f.Parts[i]
	insts, ok := p.Insts(f.Text, f.Parts[0].Addr)
	if !ok {
		return true, false
	}
	for k := range insts {
		switch in := &insts[k]; {
		case Tries(in):
			return true, false
		case fences(in):
		case in.Lock, stores(in) && in.Mem.Base != x86.RSP && in.Mem.Base != x86.RBP:
			return false, false
		}
	}
	calls := p.Branch == x86.BranchCall || p.Branch == x86.BranchCallInd || p.Branch == x86.BranchJumpInd
	return calls, !calls
}
