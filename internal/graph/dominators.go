package graph

import "slices"

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

// Dominators returns the immediate dominator of every node of a graph, given by the successors of
// each: None for one that nothing dominates. Ways begin at the nodes that nothing leads to, and at
// the first of each cycle that they do not reach.
func Dominators(succ [][]int32) []int32 {
	f := newFlow(len(succ))
	for u, list := range succ {
		for _, v := range list {
			f.add(int32(u), v)
		}
	}
	f.rootAll()
	idom := idoms(int32(f.n+1), int32(f.n), f.succ, f.pred)[:f.n]
	for v, d := range idom {
		if d == int32(f.n) {
			idom[v] = None
		}
	}
	return idom
}

// domTree answers which nodes dominate which, by intervals of a walk of the dominator tree.
type domTree struct {
	idom        []int32 // None for the virtual root
	enter, exit []int32
}

// dominators computes the dominator tree from the virtual root.
func (f *flow) dominators() *domTree {
	return newDomTree(idoms(int32(f.n+1), int32(f.n), f.succ, f.pred))
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

// idoms computes immediate dominators by iteration over reverse postorder (Cooper, Harvey,
// Kennedy); None for the root and for what it does not reach.
func idoms(n, root int32, succ, pred [][]int32) []int32 {
	order, rank := reversePostorder(n, root, succ)
	idom := make([]int32, n)
	for i := range idom {
		idom[i] = None
	}
	if n == 0 {
		return idom
	}
	idom[root] = root
	for changed := true; changed; {
		changed = false
		for _, v := range order[1:] {
			best := int32(None)
			for _, u := range pred[v] {
				if idom[u] != None {
					best = meet(u, best, idom, rank)
				}
			}
			if best != idom[v] {
				idom[v], changed = best, true
			}
		}
	}
	idom[root] = None
	return idom
}

func meet(a, b int32, idom, rank []int32) int32 {
	if b == None {
		return a
	}
	for a != b {
		for rank[a] > rank[b] {
			a = idom[a]
		}
		for rank[b] > rank[a] {
			b = idom[b]
		}
	}
	return a
}

func reversePostorder(n, root int32, succ [][]int32) (order, rank []int32) {
	type frame struct{ v, next int32 }
	seen, rank := make([]bool, n), make([]int32, n)
	if n == 0 {
		return nil, rank
	}
	stack := []frame{{root, 0}}
	seen[root] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if int(f.next) < len(succ[f.v]) {
			w := succ[f.v][f.next]
			f.next++
			if !seen[w] {
				seen[w] = true
				stack = append(stack, frame{w, 0})
			}
			continue
		}
		order = append(order, f.v)
		stack = stack[:len(stack)-1]
	}
	slices.Reverse(order)
	for i, v := range order {
		rank[v] = int32(i)
	}
	return order, rank
}

// Above reports whether a stands on b's chain in a tree of dominators, or is b.
func Above(a, b int32, tree []int32) bool {
	for b != None && b != a {
		b = tree[b]
	}
	return b == a
}
