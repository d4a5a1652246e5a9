package graph

import (
	"maps"
	"slices"
)

func sortedKeys(m map[int32]bool) []int32 { return slices.Sorted(maps.Keys(m)) }

// flow is a plain graph in adjacency lists with a virtual root, node n, that leads to the roots.
type flow struct {
	n          int
	succ, pred [][]int32
}

func newFlow(n int) *flow {
	return &flow{n: n, succ: make([][]int32, n+1), pred: make([][]int32, n+1)}
}

func (f *flow) add(u, v int32) {
	f.succ[u] = append(f.succ[u], v)
	f.pred[v] = append(f.pred[v], u)
}

// postorder returns the nodes in the order in which a depth-first walk from the virtual root leaves them.
func (f *flow) postorder() []int32 {
	order := make([]int32, 0, f.n+1)
	seen := make([]bool, f.n+1)
	type frame struct {
		v    int32
		next int
	}
	stack := []frame{{v: int32(f.n)}}
	seen[f.n] = true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(f.succ[top.v]) {
			order = append(order, top.v)
			stack = stack[:len(stack)-1]
			continue
		}
		w := f.succ[top.v][top.next]
		top.next++
		if !seen[w] {
			seen[w] = true
			stack = append(stack, frame{v: w})
		}
	}
	return order
}

// rootAll makes every node reachable: nodes without predecessors become roots, then the smallest
// of those still unreached, until there are none.
func (f *flow) rootAll() {
	seen := make([]bool, f.n+1)
	root := func(v int32) {
		f.add(int32(f.n), v)
		f.mark(v, seen)
	}
	for _, v := range f.succ[f.n] {
		f.mark(v, seen)
	}
	for v := range int32(f.n) {
		if len(f.pred[v]) == 0 && !seen[v] {
			root(v)
		}
	}
	for v := range int32(f.n) {
		if !seen[v] {
			root(v)
		}
	}
}

func (f *flow) mark(v int32, seen []bool) {
	if seen[v] {
		return
	}
	seen[v] = true
	stack := []int32{v}
	for len(stack) > 0 {
		u := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, w := range f.succ[u] {
			if !seen[w] {
				seen[w] = true
				stack = append(stack, w)
			}
		}
	}
}

// domTree answers which nodes dominate which, by intervals of a walk of the dominator tree.
type domTree struct {
	idom        []int32 // the virtual root dominates itself
	enter, exit []int32
}

// dominators computes immediate dominators by iteration over reverse postorder (Cooper,
// Harvey, Kennedy).
func (f *flow) dominators() *domTree {
	post := f.postorder()
	rank := make([]int32, f.n+1)
	for i, v := range post {
		rank[v] = int32(i)
	}
	idom := make([]int32, f.n+1)
	for i := range idom {
		idom[i] = None
	}
	idom[f.n] = int32(f.n)
	for changed := true; changed; {
		changed = false
		for _, v := range slices.Backward(post[:len(post)-1]) {
			if d := f.meet(v, idom, rank); d != idom[v] {
				idom[v], changed = d, true
			}
		}
	}
	return newDomTree(idom)
}

// meet returns the nearest common dominator of v's predecessors that are known so far.
func (f *flow) meet(v int32, idom, rank []int32) int32 {
	d := int32(None)
	for _, p := range f.pred[v] {
		switch {
		case idom[p] == None:
		case d == None:
			d = p
		default:
			for d != p {
				for rank[d] < rank[p] {
					d = idom[d]
				}
				for rank[p] < rank[d] {
					p = idom[p]
				}
			}
		}
	}
	return d
}

func newDomTree(idom []int32) *domTree {
	n := int32(len(idom) - 1)
	kids := make([][]int32, n+1)
	for v := range n {
		if idom[v] != None {
			kids[idom[v]] = append(kids[idom[v]], v)
		}
	}
	t := &domTree{idom: idom, enter: make([]int32, n+1), exit: make([]int32, n+1)}
	clock := int32(0)
	stack := []int32{n}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v < 0 { // leaving
			t.exit[-v-1] = clock
			continue
		}
		clock++
		t.enter[v] = clock
		stack = append(stack, -v-1)
		stack = append(stack, kids[v]...)
	}
	return t
}

// dominates reports whether every way to b passes a; a node dominates itself.
func (t *domTree) dominates(a, b int32) bool {
	return t.enter[a] <= t.enter[b] && t.enter[b] <= t.exit[a]
}
