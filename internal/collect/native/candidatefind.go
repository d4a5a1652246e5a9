package native

import (
	"maps"
	"slices"
	"strings"

	"lime/internal/collect/busywait"
	"lime/internal/collect/native/hook"
	"lime/internal/graph"
	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/x86"
)

// Before the program runs, lime looks for code in which its threads may wait for one another by
// spinning: a function that spins and calls nothing, or, where such a function was inlined into one
// that works, the piece from an atomic instruction to behind the loop that spins. Whether it is a
// barrier shows later (candidate.go).

// Limits of what is looked at.
const (
	mostText      = 8 << 20 // bytes of a program's code
	mostCandidate = 1 << 10 // bytes of a function
	mostPiece     = 128     // instructions of a piece
)

// findCandidates finds the program's own. In a program without symbols it looks for none: reading
// its unwind tables would keep it waiting.
func (c *code) findCandidates() (out []hook.Candidate) {
	if len(c.images.List) == 0 {
		return nil
	}
	im := c.images.List[0]
	if im.Bin == nil || im.Library || im.Go || !im.Bin.HasSection(".symtab") {
		return nil
	}
	text, addr, err := im.Bin.Section(".text")
	if err != nil || len(text) > mostText {
		return nil
	}
	seen := map[*function]bool{}
	yields := func(at int) bool { // the call's target, from the beginning of text
		s, ok := im.Func(addr + uint64(at))
		return ok && strings.Contains(s.Name, "sched_yield")
	}
	for _, at := range quietLoops(text, yields) {
		f := c.look(addr + im.Bias + uint64(at)).fn
		if seen[f] || len(f.blocks) == 0 || origin.RuntimeFunction(f.name) || origin.LanguageFunction(f.name) {
			continue
		}
		seen[f] = true
		if p := flow(f); p != nil && len(out) < hook.MostCandidates {
			g := candidateFinder{c: c, f: f, p: p, text: im.Bin.ReadAddr(f.blocks[0].addr-im.Bias, int(f.end()-f.blocks[0].addr))}
			out = append(out, g.find()...)
		}
	}
	return out[:min(len(out), hook.MostCandidates)]
}

func (f *function) end() uint64 { return f.blocks[len(f.blocks)-1].end }

// quietLoops finds the ends of short stretches of code that jump back to their beginning and are
// alike each time round. There are few in any code, and so it takes next to no time to find out
// that there are none.
func quietLoops(text []byte, yields func(int) bool) (out []int) {
	const shortJump = 0xeb
	for i := 0; i+1 < len(text); i++ {
		if text[i]&0xf0 != 0x70 && text[i] != shortJump {
			continue
		}
		if from := i + 2 + int(int8(text[i+1])); from >= 0 && from < i && quiet(text, from, i, yields) {
			out = append(out, i)
		}
	}
	return out
}

// quiet reports whether a stretch of code, from its beginning to a jump back to there, waits.
func quiet(text []byte, from, to int, yields func(int) bool) bool {
	var in x86.Inst
	end := from
	for end <= to {
		if x86.Decode(text[end:], &in) != nil || !busywait.Allowed(&in) || in.Branch == x86.BranchCallInd ||
			in.Branch == x86.BranchCall && !yields(int(in.Target(uint64(end)))) {
			return false
		}
		end += int(in.Len)
	}
	l, ok := busywait.LoopOf(busywait.Cut(text[from:end], uint64(from)), text, 0)
	return ok && busywait.Judge(l).Waits
}

// candidateFinder looks at one function.
type candidateFinder struct {
	c    *code
	f    *function
	p    *graph.Proc
	text []byte
}

// find returns the function as a whole, or pieces of it.
func (g *candidateFinder) find() (out []hook.Candidate) {
	var loops []int32 // that wait
	for l := range int32(len(g.p.Loops)) {
		if g.spins(l) {
			loops = append(loops, l)
		}
	}
	if len(loops) == 0 {
		return nil
	}
	if g.whole(loops) {
		return []hook.Candidate{{Name: g.f.name, Entry: g.f.entry, Runs: g.runs(g.all(), g.f.entry)}}
	}
	pieces := map[uint64]map[int32]bool{}
	for _, l := range loops {
		at, piece, ok := g.piece(l)
		switch {
		case !ok:
		case pieces[at] == nil:
			pieces[at] = piece
		default:
			maps.Copy(pieces[at], piece)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(pieces)) {
		out = append(out, hook.Candidate{Name: g.f.name, Entry: at, Inside: true, Runs: g.runs(pieces[at], at)})
	}
	return out
}

// spins reports whether a loop is one that waits, and for no lock: an innermost one.
func (g *candidateFinder) spins(l int32) bool {
	h := g.f.blocks[g.p.Loops[l].Header]
	return h.spins && !h.saves && !h.takes && g.p.Inner[g.p.Loops[l].Header] == l
}

func (g *candidateFinder) all() map[int32]bool {
	all := map[int32]bool{}
	for i := range g.f.blocks {
		all[int32(i)] = true
	}
	return all
}

// runs is the code of some blocks, the first of them from entry on.
func (g *candidateFinder) runs(in map[int32]bool, entry uint64) (out []hook.Code) {
	next := uint64(0)
	for i, b := range g.f.blocks {
		if !in[int32(i)] {
			continue
		}
		from := b.addr
		if entry > from && entry < b.end {
			from = entry
		}
		bytes := g.text[from-g.f.blocks[0].addr : b.end-g.f.blocks[0].addr]
		if n := len(out); n > 0 && next == from {
			out[n-1].Bytes = g.text[out[n-1].At-g.f.blocks[0].addr : b.end-g.f.blocks[0].addr]
		} else {
			out = append(out, hook.Code{At: from, Bytes: bytes})
		}
		next = b.end
	}
	return out
}

// whole reports whether the function does nothing but wait, as far as can be told: it is short,
// calls nothing, goes nowhere else, and no loop in it works.
func (g *candidateFinder) whole(loops []int32) bool {
	if g.f.blocks[0].addr != g.f.entry || g.f.end()-g.f.entry > mostCandidate || !g.closed(g.all()) {
		return false
	}
	for l := range int32(len(g.p.Loops)) {
		if !g.spins(l) && (g.computes(l) || g.beside(l, loops)) {
			return false
		}
	}
	return true
}

// closed reports whether the blocks can be moved: they call nothing but what yields, and jump
// nowhere that is not known.
func (g *candidateFinder) closed(in map[int32]bool) bool {
	for i := range in {
		b := g.f.blocks[i]
		switch b.kind {
		case profile.EndRet:
		case profile.EndJump:
			if b.target < g.f.blocks[0].addr || b.target >= g.f.end() {
				return false
			}
		case profile.EndCall:
			if !g.c.yields(b) {
				return false
			}
		case profile.EndFall, profile.EndCond:
		default:
			return false
		}
	}
	return true
}

// yields reports whether a block calls sched_yield. Nothing else is called from code that was
// moved: exceptions and cancellations find no way through it.
func (c *code) yields(b *block) bool {
	_, s, ok := c.images.symbol(c.callee(b.target))
	return ok && strings.Contains(s.Name, "sched_yield")
}

// computes reports whether an innermost loop calculates with floating-point numbers or vectors.
func (g *candidateFinder) computes(l int32) (yes bool) {
	for i := range g.p.Loops[l].Body {
		if g.p.Inner[i] == l {
			g.each(g.f.blocks[i], 0, func(_ uint64, in *x86.Inst) bool {
				yes = yes || in.VecReads != 0 && in.VecWrites != 0 || in.X87
				return !yes
			})
		}
	}
	return yes
}

// beside reports whether a loop, in which nobody spins, goes round again and again together with
// one that waits: that is how work and waiting take turns.
func (g *candidateFinder) beside(l int32, waiting []int32) bool {
	for _, w := range waiting {
		if g.p.Loops[l].Body[g.p.Loops[w].Header] {
			return false
		}
	}
	for a := g.p.Loops[l].Parent; a != graph.None; a = g.p.Loops[a].Parent {
		for _, w := range waiting {
			if g.p.Loops[a].Body[g.p.Loops[w].Header] {
				return true
			}
		}
	}
	return false
}

// each decodes a block, from an address on, while visit says so.
func (g *candidateFinder) each(b *block, from uint64, visit func(pc uint64, in *x86.Inst) bool) {
	var in x86.Inst
	for pc := b.addr; pc < b.end; pc += uint64(in.Len) {
		if x86.Decode(g.text[pc-g.f.blocks[0].addr:], &in) != nil {
			return
		}
		if pc >= from && !visit(pc, &in) {
			return
		}
	}
}

// piece is the code from the last atomic instruction in front of a loop, through which all come who
// come to the loop, up to the loop's ends. Who need not wait leaves it in front of the loop.
func (g *candidateFinder) piece(l int32) (entry uint64, in map[int32]bool, ok bool) {
	loop := &g.p.Loops[l]
	for v := g.p.Idom[loop.Header]; v != graph.None; v = g.p.Idom[v] {
		if entry = g.atomic(g.f.blocks[v]); entry != 0 {
			in = g.between(v, loop)
			return entry, in, in != nil && g.closed(in) && g.free(v, in, entry)
		}
	}
	return 0, nil, false
}

// atomic is the last atomic instruction of a block, 0 if there is none.
func (g *candidateFinder) atomic(b *block) (at uint64) {
	g.each(b, 0, func(pc uint64, in *x86.Inst) bool {
		if in.Lock {
			at = pc
		}
		return true
	})
	return at
}

// between is a loop and the blocks from v, through which all come who come to it, to the loop; nil
// if they are too many.
func (g *candidateFinder) between(v int32, loop *graph.ProcLoop) map[int32]bool {
	in, work, n := map[int32]bool{v: true}, []int32{loop.Header}, g.f.blocks[v].instrs
	for b := range loop.Body {
		work = append(work, b)
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if in[b] || g.p.Idom[b] == graph.None { // what fills a gap leads to code, too
			continue
		}
		in[b] = true
		if n += g.f.blocks[b].instrs; n > mostPiece {
			return nil
		}
		work = append(work, g.p.Pred[b]...)
	}
	return in
}

// free reports whether no flag is of use where the piece is entered and where it is left: recording
// changes them.
func (g *candidateFinder) free(first int32, in map[int32]bool, entry uint64) bool {
	if g.flags(g.f.blocks[first], entry) != flagsDead {
		return false
	}
	for b := range in {
		for _, to := range g.p.Succ[b] {
			inside := in[to] && (to != first || entry == g.f.blocks[first].addr)
			if !inside && !g.dead(to, map[int32]bool{}) {
				return false
			}
		}
	}
	return true
}

// dead reports whether no flag is read from a block on before all are written.
func (g *candidateFinder) dead(b int32, seen map[int32]bool) bool {
	if seen[b] {
		return true
	}
	seen[b] = true
	switch g.flags(g.f.blocks[b], 0) {
	case flagsDead:
		return true
	case flagsRead:
		return false
	}
	for _, s := range g.p.Succ[b] {
		if !g.dead(s, seen) {
			return false
		}
	}
	return true
}

// flagsUse is what becomes of the flags that a block begins with.
type flagsUse uint8

const (
	flagsKept flagsUse = iota
	flagsDead
	flagsRead
)

// flags looks at a block from an address on.
func (g *candidateFinder) flags(b *block, from uint64) (use flagsUse) {
	var written x86.Flags
	g.each(b, from, func(_ uint64, in *x86.Inst) bool {
		switch {
		case in.FlagsRead&^written != 0:
			use = flagsRead
		case in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd || in.Branch == x86.BranchRet:
			use = flagsDead // no caller or callee expects any (System V ABI, 3.2.1)
		default:
			if !in.CondWrite {
				written |= in.FlagsWrite
			}
			if written&x86.StatusFlags == x86.StatusFlags {
				use = flagsDead
			}
		}
		return use == flagsKept
	})
	return use
}
