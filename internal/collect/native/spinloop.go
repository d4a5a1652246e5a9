// Loops of the program's own that wait for others: samples in them are no work, whoever wrote it
// (package busywait has the definition).

package native

import (
	"maps"
	"slices"
	"sort"

	"lime/internal/collect/busywait"
	"lime/internal/collect/known"
	"lime/internal/graph"
	"lime/internal/profile"
	"lime/internal/x86"
)

// longestSpin is the number of instructions of a loop that is looked at: to judge one costs its
// length times the depth of loops in it, and all loops of a program are judged. Unoptimised code
// with a backoff has some 100.
const longestSpin = 256

// spinLoops marks the blocks of loops that wait. text is the function's code. Of loops with one head,
// which are one to the graph, each may wait for itself: for one flag, then for the next.
func (c *code) spinLoops(f *function, p *graph.Proc, text []byte) {
	for i := range p.Loops {
		l := &p.Loops[i]
		body := bodyOf(f, l.Header, l.Body)
		if v := c.waits(f, p, body, text); v.Waits {
			mark(body, v)
			continue
		}
		latches := p.Latches(l)
		for _, latch := range latches {
			body := bodyOf(f, l.Header, p.Around(l.Header, latch))
			if v := c.waits(f, p, body, text); v.Waits && !v.Counts {
				mark(body, v)
			}
		}
	}
}

// mark marks the blocks of a loop that waits.
func mark(loop []*block, v busywait.Verdict) {
	for _, b := range loop {
		b.spins, b.saves, b.takes = true, b.saves || v.Saves, b.takes || v.Takes
	}
}

// waits judges a loop of a function.
func (c *code) waits(f *function, p *graph.Proc, loop []*block, text []byte) (v busywait.Verdict) {
	if len(loop) == 0 || slices.ContainsFunc(loop, c.harmfulCall) {
		return v
	}
	return judge(loop, before(f, p, loop), text, f.blocks[0].addr, framed(text))
}

// mostBefore is how many blocks in front of a loop are looked at for the constants that it uses:
// compilers put them right there.
const mostBefore = 4

// before is the code from which alone control comes to a loop's head, as far as each block is entered
// from one other only.
func before(f *function, p *graph.Proc, loop []*block) (out []*block) {
	at := loop[0]
	for range mostBefore {
		var from *block
		for _, i := range p.Pred[f.index(at)] {
			b := f.blocks[i]
			if slices.Contains(loop, b) {
				continue
			}
			if from != nil || slices.Contains(out, b) {
				return out
			}
			from = b
		}
		if from == nil {
			return out
		}
		out, at = slices.Insert(out, 0, from), from
	}
	return out
}

// bodyOf lists a loop's blocks, its head first, then by address; nil if it is too long.
func bodyOf(f *function, header int32, body map[int32]bool) (order []*block) {
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

// judge judges a loop, whose first block is its head. text is the code from an address on.
func judge(loop, before []*block, text []byte, from uint64, frame bool) (v busywait.Verdict) {
	index := map[uint64]int{}
	for i, b := range loop {
		index[b.addr] = i
	}
	l := busywait.Loop{Frame: frame}
	for _, b := range before {
		insts, ok := decoded(text, from, b)
		if !ok {
			return v
		}
		l.Before = append(l.Before, insts...)
	}
	for _, b := range loop {
		insts, ok := decoded(text, from, b)
		if !ok {
			return v
		}
		one := busywait.Block{Insts: insts, Taken: busywait.None, Fall: busywait.None}
		if b.kind == profile.EndCond || b.kind == profile.EndJump {
			one.Taken = within(index, b.target)
		}
		if b.falls() {
			one.Fall = within(index, b.end)
		}
		l.Blocks = append(l.Blocks, one)
	}
	return busywait.Judge(&l)
}

// index is the number of one of the function's blocks.
func (f *function) index(b *block) int {
	return sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].addr >= b.addr })
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

// harmfulCall reports whether a block calls what does anything but wait or yield.
func (c *code) harmfulCall(b *block) bool {
	switch b.kind {
	case profile.EndFall, profile.EndCond, profile.EndJump:
		return false
	case profile.EndCall:
		_, s, ok := c.images.symbol(c.callee(b.target))
		return !ok || !known.Waiting(s.Name)
	}
	return true
}
