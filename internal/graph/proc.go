package graph

import "slices"

// Proc is the control-flow graph of one function, from its static edges; block 0 is its entry.
type Proc struct {
	Succ, Pred [][]int32
	Idom       []int32 // immediate dominators; None for the entry and for what it does not reach
	Pdom       []int32 // immediate post-dominators; the exit is len(Succ)
	Inner      []int32 // innermost loop of each block, None
	Loops      []ProcLoop
	fails      []bool // all ways from the block end in a failure
}

// ProcLoop is a natural loop.
type ProcLoop struct {
	Header int32
	Body   map[int32]bool
	Parent int32 // loop around it, None
	Test   int32 // block that decides over another iteration, None
	fails  bool  // all ways out of it end in a failure
}

// ProcBlock tells what NewProc must know of a block's end.
type ProcBlock struct {
	Cond     bool // conditional branch
	Indirect bool // jump whose targets are not known
	Fails    bool // the program fails here: control goes no further
}

// NewProc computes dominators and loops. Indirect jumps without successors are taken to lead to
// every block that nothing else leads to.
func NewProc(succ [][]int32, blocks []ProcBlock) *Proc {
	p := &Proc{Succ: make([][]int32, len(succ)), Pred: make([][]int32, len(succ))}
	for v, list := range succ {
		for _, w := range list {
			p.connect(int32(v), w)
		}
	}
	p.openJumps(blocks)
	p.findFailures(blocks)
	p.dominate()
	p.findLoops(blocks)
	return p
}

func (p *Proc) connect(from, to int32) {
	if to >= 0 && int(to) < len(p.Succ) && !slices.Contains(p.Succ[from], to) {
		p.Succ[from], p.Pred[to] = append(p.Succ[from], to), append(p.Pred[to], from)
	}
}

// openJumps leads the jumps whose targets are not known to the blocks that nothing else leads to. All of
// these jumps have one list of successors, and all of these blocks one of predecessors: an interpreter
// has hundreds of either, and there is an edge for each pair.
func (p *Proc) openJumps(blocks []ProcBlock) {
	var jumps, orphans []int32
	for i := range p.Succ {
		if i > 0 && len(p.Pred[i]) == 0 {
			orphans = append(orphans, int32(i))
		}
		if blocks[i].Indirect && len(p.Succ[i]) == 0 {
			jumps = append(jumps, int32(i))
		}
	}
	for _, o := range orphans {
		p.Pred[o] = slices.Clip(jumps)
	}
	for _, j := range jumps {
		p.Succ[j] = slices.Clip(orphans)
	}
}

// findFailures finds the blocks from which all ways end in a failure: a check of bounds leads to one of
// them, and decides nothing as long as the program is right.
func (p *Proc) findFailures(blocks []ProcBlock) {
	p.fails = make([]bool, len(p.Succ))
	var work []int32
	fail := func(v int32) { p.fails[v], work = true, append(work, v) }
	left := make([]int, len(p.Succ)) // successors that do not fail
	for v := range blocks {
		left[v] = len(p.Succ[v])
		if blocks[v].Fails {
			fail(int32(v))
		}
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, u := range p.Pred[v] {
			if left[u]--; left[u] == 0 && !p.fails[u] {
				fail(u)
			}
		}
	}
}

// goesOn reports whether the edge between two blocks is no way into a failure.
func (p *Proc) goesOn(from, to int32) bool { return p.fails[from] || !p.fails[to] }

// dominate computes dominators from the first block, and post-dominators from an exit behind all
// blocks without successors; no way into a failure keeps a block from being one.
func (p *Proc) dominate() {
	n := int32(len(p.Succ))
	p.Idom = idoms(n, 0, p.Succ, p.Pred)
	back, forth := make([][]int32, n+1), make([][]int32, n+1)
	for v := range n {
		back[v] = slices.DeleteFunc(slices.Clone(p.Pred[v]), func(u int32) bool { return !p.goesOn(u, v) })
		forth[v] = slices.DeleteFunc(slices.Clone(p.Succ[v]), func(w int32) bool { return !p.goesOn(v, w) })
		if len(forth[v]) == 0 {
			back[n], forth[v] = append(back[n], v), append(forth[v], n)
		}
	}
	p.Pdom = idoms(n+1, n, back, forth)
}

// findLoops finds the natural loops and what each block's innermost one is.
func (p *Proc) findLoops(blocks []ProcBlock) {
	byHeader := map[int32]int{}
	for v := range int32(len(p.Succ)) {
		for _, h := range p.Succ[v] {
			if Above(h, v, p.Idom) {
				i, ok := byHeader[h]
				if !ok {
					i = len(p.Loops)
					byHeader[h] = i
					p.Loops = append(p.Loops, ProcLoop{Header: h, Body: map[int32]bool{h: true}, Parent: None, Test: None})
				}
				p.fill(&p.Loops[i], v, len(p.Succ))
			}
		}
	}
	slices.SortStableFunc(p.Loops, func(a, b ProcLoop) int { return len(b.Body) - len(a.Body) })
	p.Inner = make([]int32, len(p.Succ))
	for v := range p.Inner {
		p.Inner[v] = None
	}
	for i := range p.Loops { // the larger ones first
		l := &p.Loops[i]
		l.Parent = p.Inner[l.Header]
		for v := range l.Body {
			p.Inner[v] = int32(i)
		}
	}
	for i := range p.Loops {
		l := &p.Loops[i]
		l.fails = !p.ends(l)
		l.Test = p.loopTest(blocks, l)
	}
}

// ends reports whether a loop has a way out that does not end in a failure.
func (p *Proc) ends(l *ProcLoop) bool {
	for v := range l.Body {
		if p.Leaves(v, l) {
			return true
		}
	}
	return false
}

// fill adds a block to a loop, and all that leads to it, up to a number of blocks; it reports whether
// they sufficed.
func (p *Proc) fill(l *ProcLoop, v int32, most int) bool {
	var work []int32
	add := func(v int32) {
		if !l.Body[v] {
			l.Body[v], work = true, append(work, v)
		}
	}
	for add(v); len(work) > 0; {
		v = work[len(work)-1]
		work = work[:len(work)-1]
		for _, u := range p.Pred[v] {
			if add(u); len(l.Body) > most {
				return false
			}
		}
	}
	return true
}

// Latches are the blocks from which a loop goes back to its header.
func (p *Proc) Latches(l *ProcLoop) (out []int32) {
	for _, v := range p.Pred[l.Header] {
		if l.Body[v] {
			out = append(out, v)
		}
	}
	return out
}

// Around is the part of a loop that leads to one of its latches; nil if it has more blocks than are
// asked for: a loop has as many parts as latches, and each may be nearly all of it.
func (p *Proc) Around(header, latch int32, most int) map[int32]bool {
	l := ProcLoop{Body: map[int32]bool{header: true}}
	if !p.fill(&l, latch, most) {
		return nil
	}
	return l.Body
}

// loopTest picks the test of a loop: a block that ends in a branch out of it, best one that also
// leads back to the header, then the header, then the last one.
func (p *Proc) loopTest(blocks []ProcBlock, l *ProcLoop) int32 {
	best, most := int32(None), -1
	for v := range int32(len(p.Succ)) {
		if !l.Body[v] || !blocks[v].Cond || !p.Leaves(v, l) {
			continue
		}
		score := 0
		switch {
		case slices.Contains(p.Succ[v], l.Header):
			score = 2
		case v == l.Header:
			score = 1
		}
		if score >= most {
			best, most = v, score
		}
	}
	return best
}

// Leaves reports whether a block ends in a branch that can leave a loop; into a failure only where the
// loop has no other way out.
func (p *Proc) Leaves(v int32, l *ProcLoop) bool {
	return slices.ContainsFunc(p.Succ[v], func(w int32) bool { return !l.Body[w] && (l.fails || !p.fails[w]) })
}
