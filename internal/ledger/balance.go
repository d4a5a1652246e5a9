package ledger

import "slices"

// balance makes visits the larger of what comes in and what goes out. What starts without a way in
// is a broken start; what does not go on is an end.
func (f *flow) balance() {
	endings{f}.redirect()
	f.dropStray()
	slices.Sort(f.odd)
	odd := slices.Compact(f.odd)
	f.odd = odd[:0]
	for _, i := range odd {
		switch in, out := f.visits[i], f.left[i]; {
		case out > in:
			f.visits[i], f.left[i] = out, in
			f.odd = append(f.odd, ^i)
		case in > out:
			f.odd = append(f.odd, i)
		}
	}
}

// ends yields the visits that do not go on, by node.
func (f *flow) ends(yield func(int, lack) bool) {
	n := 0
	for _, i := range f.odd {
		if i < 0 {
			continue
		}
		if !yield(n, f.lackOf(i)) {
			return
		}
		n++
	}
}

// broken yields the starts without a way in: those that were invented, then the others by node.
func (f *flow) broken(yield func(int, lack) bool) {
	for n, l := range f.invented {
		if !yield(n, l) {
			return
		}
	}
	n := len(f.invented)
	for _, i := range f.odd {
		if i >= 0 {
			continue
		}
		if !yield(n, f.lackOf(^i)) {
			return
		}
		n++
	}
}

func (f *flow) lackOf(i int32) lack {
	parts := int32(f.parts)
	return lack{node: i / parts, part: i % parts, n: f.visits[i] - f.left[i]}
}

// endsAt returns a node's ends, in memory that is used again. It looks at f.odd from a place on,
// which it moves to the next node: nodes are asked for in their order.
func (f *flow) endsAt(v int32, place *int, ends []lack) []lack {
	ends = ends[:0]
	for next := (v + 1) * int32(f.parts); *place < len(f.odd); *place++ {
		i := f.odd[*place]
		if max(i, ^i) >= next {
			break
		}
		if i >= 0 {
			ends = append(ends, f.lackOf(i))
		}
	}
	return ends
}

// dropStray drops returns to calls that nobody made in the instance: what they lead to starts
// without a way in.
func (f *flow) dropStray() {
	for i := range f.edges {
		e := &f.edges[i]
		if !isReturn(e.kind) || e.from < 0 || e.total == 0 || !allNil(f.visitsOf(e.from)) || !allNil(f.row(f.left, e.from, nil)) {
			continue
		}
		for p := range f.parts {
			if n := f.edgeCount(int32(i), p); n > 0 && e.to >= 0 {
				f.change(f.visits, e.to, p, -int(n))
			}
		}
		e.total, e.subs, e.dense, e.cells = 0, false, false, nil
		f.subs = slices.DeleteFunc(f.subs, func(s sub) bool { return s.edge == int32(i) })
	}
}

func allNil(xs []uint64) bool {
	for _, x := range xs {
		if x != 0 {
			return false
		}
	}
	return true
}

// change adds to a cell of left or visits.
func (f *flow) change(m []uint64, v int32, p, by int) {
	i := int(v)*f.parts + p
	m[i] += uint64(by)
	f.odd = append(f.odd, int32(i))
}

// findOdd lists the cells in which what enters is not what leaves; later changes add theirs.
func (f *flow) findOdd() {
	visits := f.visits[:len(f.left)]
	f.odd = f.scratch.odd[:0]
	for i, out := range f.left {
		if out != visits[i] {
			f.odd = append(f.odd, int32(i))
		}
	}
}

// takeBack takes one traversal by a part off an edge.
func (f *flow) takeBack(i int32, p int) {
	e := &f.edges[i]
	if e.to >= 0 {
		f.change(f.visits, e.to, p, -1)
	}
	e.total--
	e.subs = true
	f.subs = append(f.subs, sub{i, int32(p)})
}

// entered is the set of nodes in which parts start: one who works for several, one after the other,
// enters again where they begin.
func (f *flow) entered() map[int32]bool {
	nodes := map[int32]bool{}
	for _, s := range f.starts {
		nodes[s.node] = true
	}
	return nodes
}

// tasks returns the nodes at which broken starts are calls from outside of what is counted: of the
// functions of tasks, which a runtime runs in threads that wait. They come back to where nothing is
// counted.
func (f *flow) tasks() []bool {
	tasks := make([]bool, len(f.nodes))
	for i := range f.edges {
		if e := &f.edges[i]; e.from < 0 && e.to >= 0 && isCall(e.kind) {
			tasks[e.to] = true
		}
	}
	return tasks
}

// holes returns which of the broken starts, and in which parts, go on where the same part's flow
// has ended elsewhere: a collector leaves out what is waiting, such as a spin loop, and the edges
// into and out of it. They are starts like any other. It takes them for holes in a part if there
// are as many ends as starts, those apart that were invented for a circle, and tasks.
func (f *flow) holes(tasks []bool) (hole, parts []bool) {
	ended := f.scratch.nils(4, len(f.nodes)*f.words) // [node][word] set of parts
	balance := make([]int64, f.parts)
	for _, e := range f.ends {
		if !f.exits(e) && f.goesOn(e.node) {
			ended[int(e.node)*f.words+int(e.part>>6)] |= 1 << (e.part & 63)
			balance[e.part] += int64(e.n)
		}
	}
	for _, b := range f.broken {
		if !tasks[b.node] {
			balance[b.part] -= int64(b.n)
		}
	}
	hole, parts = make([]bool, len(f.invented)+len(f.odd)), make([]bool, f.parts)
	for i, b := range f.broken {
		ended := ended[int(b.node)*f.words+int(b.part>>6)]>>(b.part&63)&1 == 1
		if balance[b.part] == 0 && !ended && !tasks[b.node] {
			hole[i], parts[b.part] = true, true
		}
	}
	return hole, parts
}

// goesOn reports whether a way leads on from a node in any part: else all behind it is left out for
// all, as is a call that only waits.
func (f *flow) goesOn(v int32) bool {
	for i := f.off[v]; i < f.off[v+1]; i++ {
		if !isReturn(f.edges[i].kind) {
			return true
		}
	}
	return false
}
