package ledger

// components returns the strongly connected components of a graph in compressed rows, those
// that lead to no other first, and the component of every node. Edges to -1 are passed over.
func components(n int, off, to []int32) ([][]int32, []int32) {
	t := &tarjan{off: off, to: to, index: make([]int32, n), low: make([]int32, n), comp: make([]int32, n),
		order: make([]int32, 0, n)}
	for v := range t.comp {
		t.comp[v] = -1
	}
	for v := range int32(n) {
		if t.index[v] == 0 {
			t.visit(v)
		}
	}
	return t.comps, t.comp
}

// tarjan is Tarjan's algorithm with a stack of its own, as call chains can be deep.
type tarjan struct {
	off, to     []int32
	index, low  []int32
	comp        []int32
	next        int32
	open, order []int32
	frames      []frame
	comps       [][]int32
}

type frame struct{ v, e int32 }

func (t *tarjan) visit(root int32) {
	t.enter(root)
	for len(t.frames) > 0 {
		f := &t.frames[len(t.frames)-1]
		if f.e == t.off[f.v+1] {
			t.leave(f.v)
			continue
		}
		s := t.to[f.e]
		f.e++
		switch {
		case s < 0:
		case t.index[s] == 0:
			t.enter(s)
		case t.comp[s] < 0:
			t.low[f.v] = min(t.low[f.v], t.index[s])
		}
	}
}

func (t *tarjan) enter(v int32) {
	t.next++
	t.index[v], t.low[v] = t.next, t.next
	t.open = append(t.open, v)
	t.frames = append(t.frames, frame{v, t.off[v]})
}

func (t *tarjan) leave(v int32) {
	t.frames = t.frames[:len(t.frames)-1]
	if len(t.frames) > 0 {
		p := t.frames[len(t.frames)-1].v
		t.low[p] = min(t.low[p], t.low[v])
	}
	if t.low[v] == t.index[v] {
		t.close(v)
	}
}

// close moves everything above v from the open stack into a component.
func (t *tarjan) close(v int32) {
	start := len(t.order)
	for {
		last := len(t.open) - 1
		w := t.open[last]
		t.open = t.open[:last]
		t.comp[w] = int32(len(t.comps))
		t.order = append(t.order, w)
		if w == v {
			break
		}
	}
	t.comps = append(t.comps, t.order[start:len(t.order):len(t.order)])
}
