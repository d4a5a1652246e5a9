package graph

import "slices"

// Structure is what the analysis wants to know of a program's graph: back edges, loops
// and recursion. Procedures are found from the call edges alone, so that stripped
// binaries and code that jumps between functions do as well.
type Structure struct {
	g     *Graph
	dom   *domTree // over all edges but calls
	proc  []int32  // procedure of each node: the root of its dominator tree
	Back  []bool   // by edge: it leads to a node that dominates its source
	Recur []bool   // by edge: a call that leads back into a procedure under way
	loops []loop
	inner []int32 // innermost loop of each node, None if in none
}

type loop struct {
	header int32
	outer  int32 // the loop around it, None
}

// Analyse computes the structure of g.
func Analyse(g *Graph) *Structure {
	s := &Structure{g: g, Back: make([]bool, len(g.edges)), Recur: make([]bool, len(g.edges))}
	s.dom = s.plain().dominators()
	s.findProcs()
	s.findBack()
	s.findLoops()
	return s
}

// plain is the graph without calls; entries of callees are roots.
func (s *Structure) plain() *flow {
	f := newFlow(s.g.n)
	rooted := make([]bool, s.g.n)
	for _, e := range s.g.edges {
		switch {
		case e.Call && e.To != None && !rooted[e.To]:
			rooted[e.To] = true
			f.add(int32(f.n), e.To)
		case !e.Call && e.From != None && e.To != None:
			f.add(e.From, e.To)
		}
	}
	f.rootAll()
	return f
}

// findProcs gives every node the root of its dominator tree.
func (s *Structure) findProcs() {
	n := int32(s.g.n)
	s.proc = make([]int32, n)
	for v := range s.proc {
		s.proc[v] = None
	}
	for v := range n {
		u := v
		for s.proc[u] == None && s.dom.idom[u] != n {
			u = s.dom.idom[u]
		}
		root := s.proc[u]
		if root == None {
			root = u
		}
		for w := v; s.proc[w] == None; w = s.dom.idom[w] {
			s.proc[w] = root
			if w == root {
				break
			}
		}
	}
}

// findBack marks back edges: within procedures by dominators, calls by the dominators of the call
// graph.
func (s *Structure) findBack() {
	calls := s.callGraph()
	procs := calls.dominators()
	comp := calls.components()
	for i, e := range s.g.edges {
		switch {
		case e.From == None || e.To == None:
		case e.Call:
			s.Back[i] = procs.dominates(s.proc[e.To], s.proc[e.From])
			s.Recur[i] = comp[s.proc[e.To]] == comp[s.proc[e.From]]
		default:
			s.Back[i] = s.dom.dominates(e.To, e.From)
		}
	}
}

// callGraph joins procedures by calls, and by jumps from one into another.
func (s *Structure) callGraph() *flow {
	f := newFlow(s.g.n)
	for _, e := range s.g.edges {
		if e.From != None && e.To != None && (e.Call || s.proc[e.From] != s.proc[e.To]) {
			f.add(s.proc[e.From], s.proc[e.To])
		}
	}
	f.rootAll()
	return f
}

// components gives every node the number of its strongly connected component (Kosaraju).
func (f *flow) components() []int32 {
	comp := make([]int32, f.n+1)
	for i := range comp {
		comp[i] = None
	}
	next := int32(0)
	order, _ := reversePostorder(int32(f.n+1), int32(f.n), f.succ)
	for _, v := range order {
		if comp[v] != None {
			continue
		}
		comp[v] = next
		stack := []int32{v}
		for len(stack) > 0 {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, p := range f.pred[u] {
				if comp[p] == None {
					comp[p] = next
					stack = append(stack, p)
				}
			}
		}
		next++
	}
	return comp
}

// findLoops builds the forest of natural loops, inner ones first.
func (s *Structure) findLoops() {
	latches := map[int32][]int32{}
	for i, e := range s.g.edges {
		if s.Back[i] && !e.Call {
			latches[e.To] = append(latches[e.To], e.From)
		}
	}
	s.inner = make([]int32, s.g.n)
	for v := range s.inner {
		s.inner[v] = None
	}
	headers := make([]int32, 0, len(latches))
	for h := range latches {
		headers = append(headers, h)
	}
	// A loop's header is entered, in the dominator tree, before those of the loops inside it.
	slices.SortFunc(headers, func(a, b int32) int { return int(s.dom.enter[b]) - int(s.dom.enter[a]) })
	for _, h := range headers {
		s.addLoop(h, latches[h])
	}
}

// addLoop walks backwards from the latches to the header; what it meets is in the loop.
func (s *Structure) addLoop(header int32, work []int32) {
	id := int32(len(s.loops))
	s.loops = append(s.loops, loop{header: header, outer: None})
	s.claim(header, id)
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		if v = s.claim(v, id); v == None {
			continue
		}
		for _, e := range s.g.In(v) {
			if u := s.g.edges[e].From; u != None && !s.g.edges[e].Call {
				work = append(work, u)
			}
		}
	}
}

// claim puts v, or the outermost loop that already holds it, into loop id. It returns the node
// to go on from, None if v was in the loop already.
func (s *Structure) claim(v, id int32) int32 {
	l := s.inner[v]
	if l == None {
		s.inner[v] = id
		return v
	}
	for l != id && s.loops[l].outer != None {
		l = s.loops[l].outer
	}
	if l == id {
		return None
	}
	s.loops[l].outer = id
	return s.loops[l].header
}

// LoopTest reports whether v decides over another iteration of a loop: it lies in the loop, and has
// both a way that stays in it and a way that leaves it.
func (s *Structure) LoopTest(v int32) bool {
	if s.repeats(v) {
		return true
	}
	for l := s.inner[v]; l != None; l = s.loops[l].outer {
		if s.tests(l, v) != None {
			return true
		}
	}
	return false
}

// TestedLoop returns the nodes of the innermost loop that v decides about, in order; nil if it is
// no loop's test.
func (s *Structure) TestedLoop(v int32) []int32 {
	if s.repeats(v) {
		return []int32{v}
	}
	l := s.tested(v)
	if l == None {
		return nil
	}
	var nodes []int32
	for u := range int32(s.g.n) {
		if s.holds(l, u) {
			nodes = append(nodes, u)
		}
	}
	return nodes
}

// Continues returns the header of the innermost loop that the node decides about where an edge begins,
// if the edge stays in it, else None.
func (s *Structure) Continues(edge int32) int32 {
	e := s.g.edges[edge]
	if e.From == None || e.To == None || e.Call {
		return None
	}
	if l := s.tested(e.From); l != None && s.holds(l, e.To) {
		return s.loops[l].header
	}
	return None
}

// tested is the innermost loop that v has both a way to stay in and one to leave.
func (s *Structure) tested(v int32) int32 {
	l := s.inner[v]
	for l != None && s.tests(l, v) == None {
		l = s.loops[l].outer
	}
	return l
}

// LatchTest returns the node that decides whether a loop goes round its back edge once more, with
// its edge that stays in the loop: the nearest on the way from the header that the back edge cannot
// avoid. None if the loop has no such test (it ends by a break deeper inside, or never).
func (s *Structure) LatchTest(back int32) (node, edge int32) {
	e := s.g.edges[back]
	l := s.loopOf(e.To)
	if l == None || e.Call {
		return None, None
	}
	for v := e.From; ; v = s.dom.idom[v] {
		if stay := s.tests(l, v); stay != None {
			if v == e.From {
				stay = back
			}
			return v, stay
		}
		if v == e.To || s.dom.idom[v] == v || int(s.dom.idom[v]) == s.g.n {
			return None, None
		}
	}
}

// loopOf returns the loop whose header is v.
func (s *Structure) loopOf(v int32) int32 {
	for l := s.inner[v]; l != None; l = s.loops[l].outer {
		if s.loops[l].header == v {
			return l
		}
	}
	return None
}

// tests returns v's edge that stays in loop l if v also has one that leaves it, else None.
func (s *Structure) tests(l, v int32) int32 {
	stay, leave := int32(None), false
	for _, i := range s.g.Out(v) {
		e := s.g.edges[i]
		switch {
		case e.To == None || e.Call:
		case !s.holds(l, e.To):
			leave = true
		case stay == None:
			stay = i
		}
	}
	if !leave {
		return None
	}
	return stay
}

// repeats reports whether v is a loop of its own, whatever loops share it as their header.
func (s *Structure) repeats(v int32) bool {
	self, other := false, false
	for _, e := range s.g.Out(v) {
		if e := s.g.edges[e]; e.To != None && !e.Call {
			self, other = self || e.To == v, other || e.To != v
		}
	}
	return self && other
}

// holds reports whether loop l contains v.
func (s *Structure) holds(l, v int32) bool {
	for k := s.inner[v]; k != None; k = s.loops[k].outer {
		if k == l {
			return true
		}
	}
	return false
}

// Entry returns the entry of the procedure that holds v.
func (s *Structure) Entry(v int32) int32 { return s.proc[v] }
