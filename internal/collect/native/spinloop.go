// Loops of the program's own that wait for others: samples in them are no work, whoever wrote it
// (package busywait has the definition).

package native

import (
	"maps"
	"slices"

	"lime/internal/collect/busywait"
	"lime/internal/graph"
	"lime/internal/profile"
	"lime/internal/x86"
)

// longestSpin is the number of instructions of a loop that is looked at: to judge one costs its
// length times the depth of loops in it, and all loops of a program are judged. Unoptimised code
// with a backoff has some 100.
const longestSpin = 256

// loopJudge judges the loops of a function.
type loopJudge struct {
	c      *code
	f      *function
	p      *graph.Proc
	text   []byte
	known  []busywait.Constants // at each block's beginning; nil: nobody has asked
	blocks []busywait.Code
}

// spinLoops marks the blocks of loops that wait. text is the function's code. Of loops with one head,
// which are one to the graph, each may wait for itself: for one flag, then for the next.
func (c *code) spinLoops(f *function, p *graph.Proc, text []byte) {
	j := loopJudge{c: c, f: f, p: p, text: text}
	for i := range p.Loops {
		l := &p.Loops[i]
		body := bodyOf(f, l.Header, l.Body)
		if v := j.judge(l.Header, body); v.Waits {
			j.mark(body, v)
			continue
		}
		latches := p.Latches(l)
		if len(latches) == 1 {
			continue
		}
		for _, latch := range latches {
			body := bodyOf(f, l.Header, p.Around(l.Header, latch, longestSpin)) // a block has an instruction or more
			if v := j.judge(l.Header, body); v.Waits && !v.Counts {
				j.mark(body, v)
			}
		}
	}
}

// mark marks the blocks of a loop that waits. Loops in it wait where it waits.
func (j *loopJudge) mark(loop []*block, v busywait.Verdict) {
	b := loop[v.At.Block]
	at := b.addr
	insts, _ := decoded(j.text, j.f.blocks[0].addr, b)
	for _, in := range insts[:v.At.Inst] {
		at += uint64(in.Len)
	}
	for _, b := range loop {
		if !b.spins {
			b.spins, b.waitsAt = true, at
		}
		b.saves, b.takes = b.saves || v.Saves, b.takes || v.Takes
	}
}

// judge judges a loop by its blocks.
func (j *loopJudge) judge(header int32, loop []*block) (v busywait.Verdict) {
	if len(loop) == 0 || slices.ContainsFunc(loop, j.harmfulCall) {
		return v
	}
	l, ok := loopOf(loop, j.text, j.f.blocks[0].addr)
	if !ok {
		return v
	}
	l.Frame = framed(j.text)
	if v = busywait.Judge(l); v.Waits && v.Tries {
		l.Known = j.constants(header)
		v = busywait.Judge(l)
	}
	return v
}

// constants is what is known of registers where a block begins.
func (j *loopJudge) constants(at int32) (known busywait.Constants) {
	if j.known == nil {
		for _, b := range j.f.blocks {
			insts, ok := decoded(j.text, j.f.blocks[0].addr, b)
			if !ok {
				return known
			}
			j.blocks = append(j.blocks, busywait.Code{Addr: b.addr, Insts: insts})
		}
		j.known = busywait.Known(j.blocks, j.p.Succ)
	}
	return j.known[at]
}

// bodyOf lists a loop's blocks, its head first, then by address; nil if it is too long, or has none.
func bodyOf(f *function, header int32, body map[int32]bool) (order []*block) {
	if len(body) == 0 {
		return nil
	}
	n := uint32(0)
	for i := range body {
		if n += f.blocks[i].instrs; n > longestSpin {
			return nil
		}
	}
	order = append(order, f.blocks[header])
	for _, i := range slices.Sorted(maps.Keys(body)) {
		if i != header {
			order = append(order, f.blocks[i])
		}
	}
	return order
}

// loopOf is a loop whose first block is its head. text is the code from an address on.
func loopOf(loop []*block, text []byte, from uint64) (*busywait.Loop, bool) {
	index := map[uint64]int{}
	for i, b := range loop {
		index[b.addr] = i
	}
	l := &busywait.Loop{}
	for _, b := range loop {
		insts, ok := decoded(text, from, b)
		if !ok {
			return nil, false
		}
		one := busywait.Block{Code: busywait.Code{Addr: b.addr, Insts: insts}, Taken: busywait.None, Fall: busywait.None}
		if b.kind == profile.EndCond || b.kind == profile.EndJump {
			one.Taken = within(index, b.target)
		}
		if b.falls() {
			one.Fall = within(index, b.end)
		}
		l.Blocks = append(l.Blocks, one)
	}
	return l, true
}

func within(index map[uint64]int, addr uint64) int {
	if at, ok := index[addr]; ok {
		return at
	}
	return busywait.Out
}

// decoded is a block's instructions. text is the code from an address on.
func decoded(text []byte, from uint64, b *block) ([]x86.Inst, bool) {
	list := make([]x86.Inst, 0, b.instrs)
	for pc := b.addr; pc <= b.last; {
		var in x86.Inst
		at := pc - from
		if at >= uint64(len(text)) || x86.Decode(text[at:], &in) != nil {
			return nil, false
		}
		list, pc = append(list, in), pc+uint64(in.Len)
	}
	return list, true
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
