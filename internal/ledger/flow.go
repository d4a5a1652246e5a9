package ledger

import (
	"fmt"
	"sort"

	"lime/internal/profile"
)

// flow is one instance, made compact: the nodes that were visited, the edges
// that were taken, and for every thread a flow that is conserved. visits of a
// node = what comes in along edges + what starts there.
type flow struct {
	tab   *profile.Tables
	inst  *profile.Instance
	parts int
	words int // of a set of parts

	local []int32          // NodeID -> index into nodes, -1
	nodes []profile.NodeID // visited
	edges []edge           // by the node that they leave, then by id; those that leave none at the end
	off   []int32          // edges of v: edges[off[v]:off[v+1]]
	to    []int32          // where the edges lead, local, -1 = nowhere

	left   []uint64 // [node][part] flow out of the node (Return edges apart)
	visits []uint64 // [node][part]; while the flow is built, what comes in
	seen   []uint64 // [node][word] set of parts that have been there
	ways   []uint64 // [edge][word] set of parts that have taken it

	// odd are the cells of left and visits that differ, or may; once the flow is balanced, ends,
	// and the complements of broken starts.
	odd      []int32
	starts   []start
	subs     []sub    // to be taken off the counts of edges
	invented []lack   // starts
	early    []uint64 // instructions by part that were executed before its start, which was moved on

	calls map[uint64][]int32 // blocks that call, by the address of the call

	comps   [][]int32 // strongly connected components, those first that lead to no other
	comp    []int32   // component of every node
	scratch *scratch
}

// edge is a row of Instance.Edges.
type edge struct {
	id       profile.EdgeID
	from, to int32 // local, -1 = none
	kind     profile.EdgeKind
	cells    []profile.Count // by part
	total    uint64          // over all parts, subs taken off
	subs     bool            // there are some
	dense    bool            // one cell for each part
}

// start is a place where a part's flow begins: depth 0 is its entry, depth d the
// continuation of the d-th call that was open at the start and has returned. back says that it is
// the continuation of a call: the part may have come back there and not run it any more.
type start struct {
	node  int32
	part  int32
	depth int32
	back  bool
}

// sub takes one traversal of an edge away: a return from a call made before the instance, or the
// edge out of the part's last block.
type sub struct {
	edge int32
	part int32
}

// lack is a visit count without an edge: into the node (broken) or out of it (ends).
type lack struct {
	node int32
	part int32
	n    uint64
}

// exits reports whether an end is the regular one of its part.
func (f *flow) exits(end lack) bool {
	return end.n == 1 && f.inst.Parts[end.part].Exit == f.nodes[end.node]
}

func isReturn(k profile.EdgeKind) bool { return k == profile.EdgeReturn }

// buildFlow makes the flow of an instance, and repairs what does not add up.
func buildFlow(tab *profile.Tables, inst *profile.Instance, mem *scratch) (*flow, error) {
	f := &flow{tab: tab, inst: inst, parts: len(inst.Parts), words: (len(inst.Parts) + 63) / 64, scratch: mem}
	f.local = make([]int32, len(tab.Nodes))
	for i := range f.local {
		f.local[i] = -1
	}
	if err := f.collect(); err != nil {
		return nil, err
	}
	if err := f.shareReturns(); err != nil {
		return nil, err
	}
	f.index()
	if err := f.count(); err != nil {
		return nil, err
	}
	f.comps, f.comp = components(len(f.nodes), f.off, f.to)
	f.begin()
	f.balance()
	return f, nil
}

// collect finds the edges and nodes of the instance. It reads only where rows begin and end; check
// reads the rest.
func (f *flow) collect() error {
	counts := f.inst.Edges
	f.edges = f.scratch.edges[:0]
	for lo := 0; lo < len(counts); {
		row := counts[lo].Row
		if row < 0 || int(row) >= len(f.tab.Edges) || (len(f.edges) > 0 && profile.EdgeID(row) <= f.edges[len(f.edges)-1].id) {
			return fmt.Errorf("instance %d: edge %d out of order, or not among the profile's %d", f.inst.Seq, row, len(f.tab.Edges))
		}
		hi := rowEnd(counts, lo, f.parts)
		f.addEdge(profile.EdgeID(row), counts[lo:hi])
		lo = hi
	}
	for i := range f.inst.Parts {
		f.node(f.inst.Parts[i].Entry)
		f.node(f.inst.Parts[i].Exit)
	}
	return nil
}

// rowEnd returns where the row ends that begins at lo, and has a cell for each of the parts as a
// rule.
func rowEnd(counts []profile.Count, lo, parts int) int {
	row, hi := counts[lo].Row, min(lo+parts, len(counts))
	if counts[hi-1].Row != row {
		return lo + sort.Search(hi-lo, func(i int) bool { return counts[lo+i].Row != row })
	}
	for hi < len(counts) && counts[hi].Row == row {
		hi++
	}
	return hi
}

// check says whether an edge's cells are its own, and of parts that there are.
func (f *flow) check(e *edge) error {
	for k := range e.cells {
		c := &e.cells[k]
		if c.Row != int32(e.id) {
			return fmt.Errorf("instance %d: edge %d out of order: it stands among the counts of edge %d", f.inst.Seq, c.Row, e.id)
		}
		if uint32(c.Part) >= uint32(f.parts) {
			return fmt.Errorf("instance %d: edge %d: part %d of %d", f.inst.Seq, e.id, c.Part, f.parts)
		}
	}
	return nil
}

func (f *flow) addEdge(id profile.EdgeID, cells []profile.Count) {
	t := &f.tab.Edges[id]
	e := edge{id: id, from: f.node(t.From), to: f.node(t.To), kind: t.Kind, cells: cells}
	if e.kind == profile.EdgeVisit { // where the visits come from and go to is unknown
		e.from, e.to = e.to, -1
	}
	f.edges = append(f.edges, e)
}

// node returns the local index of a node, a new one at first sight.
func (f *flow) node(id profile.NodeID) int32 {
	if id < 0 || int(id) >= len(f.local) {
		return -1
	}
	if f.local[id] < 0 {
		f.local[id] = int32(len(f.nodes))
		f.nodes = append(f.nodes, id)
	}
	return f.local[id]
}

// index sorts the edges by the node that they leave.
func (f *flow) index() {
	n := len(f.nodes)
	f.off = make([]int32, n+2)
	at := func(e *edge) int { // edges that leave no node follow the last one
		if e.from < 0 {
			return n
		}
		return int(e.from)
	}
	for i := range f.edges {
		f.off[at(&f.edges[i])+1]++
	}
	for v := range n + 1 {
		f.off[v+1] += f.off[v]
	}
	sorted := make([]edge, len(f.edges))
	f.to = make([]int32, len(f.edges))
	next := append([]int32(nil), f.off...)
	for i := range f.edges {
		e := &f.edges[i]
		k := next[at(e)]
		next[at(e)]++
		sorted[k], f.to[k] = *e, e.to
	}
	clear(f.edges) // their cells belong to the instance
	f.scratch.edges = f.edges
	f.edges, f.off = sorted, f.off[:n+1]
}

// count adds up what leaves and enters every node, by part.
func (f *flow) count() error {
	c := adder{flow: f, none: make([]uint64, f.parts), all: make([]uint64, f.words), met: make([]bool, len(f.nodes))}
	for p := range f.parts {
		c.all[p/64] |= 1 << (p % 64)
	}
	n := len(f.nodes) * f.parts
	f.left, f.visits = f.scratch.matrix(0, n), f.scratch.matrix(1, n)
	f.seen = f.scratch.nils(2, len(f.nodes)*f.words)
	f.ways = f.scratch.nils(3, len(f.edges)*f.words)
	edge := int32(0)
	for v := range int32(len(f.nodes)) {
		clear(f.row(f.left, v, nil))
		for ; edge < f.off[v+1]; edge++ {
			if err := c.add(edge); err != nil {
				return err
			}
		}
	}
	for ; int(edge) < len(f.edges); edge++ {
		if err := c.add(edge); err != nil {
			return err
		}
	}
	for v, met := range c.met {
		if !met {
			clear(f.row(f.visits, int32(v), nil))
		}
	}
	return nil
}

// adder adds edges up.
type adder struct {
	*flow
	none []uint64 // for edges that come from or lead to nowhere
	all  []uint64 // the set of all parts
	met  []bool   // by node: something enters it, and its visits are not what another instance has left there
}

func (c *adder) add(i int32) error {
	e := &c.edges[i]
	leaves, enters := e.from, e.to
	switch {
	case e.from < 0:
		enters = -1 // from nowhere: what it leads to is left without being entered
	case isReturn(e.kind):
		leaves = -1
	}
	left, entered := c.row(c.left, leaves, c.none), c.row(c.visits, enters, c.none)
	if enters >= 0 && !c.met[enters] {
		c.met[enters] = true
		clear(entered)
	}
	ways := c.ways[int(i)*c.words : (int(i)+1)*c.words]
	if e.total, e.dense = addAll(e, left, entered); e.dense {
		copy(ways, c.all)
	} else if err := c.check(e); err != nil {
		return err
	} else {
		e.total = addSome(e.cells, left, entered, ways)
	}
	c.see(leaves, ways)
	c.see(enters, ways)
	return nil
}

// addAll adds an edge's cells to two rows if there is one for each part, and none is nil. It
// returns their sum, and whether that is so.
func addAll(e *edge, left, entered []uint64) (total uint64, is bool) {
	cells := e.cells
	if len(cells) != len(left) || len(cells) != len(entered) {
		return 0, false
	}
	odd := uint64(0)
	for p := range cells {
		c := &cells[p]
		left[p] += c.N
		entered[p] += c.N
		total += c.N
		odd |= uint64(c.Row^int32(e.id)) | uint64(c.Part) ^ uint64(p) | (c.N-1)>>63
	}
	if odd == 0 {
		return total, true
	}
	for p := range cells {
		left[p] -= cells[p].N
		entered[p] -= cells[p].N
	}
	return 0, false
}

// addSome adds cells to the rows of their parts, and returns their sum, and in ways the set of
// parts.
func addSome(cells []profile.Count, left, entered, ways []uint64) (total uint64) {
	for k := range cells {
		n, p := cells[k].N, cells[k].Part
		if n == 0 {
			continue
		}
		left[p] += n
		entered[p] += n
		total += n
		ways[p>>6] |= 1 << (p & 63)
	}
	return total
}

func (f *flow) row(m []uint64, v int32, none []uint64) []uint64 {
	if v < 0 {
		return none
	}
	return m[int(v)*f.parts : (int(v)+1)*f.parts]
}

func (f *flow) see(v int32, ways []uint64) {
	if v >= 0 {
		for w, b := range ways {
			f.seen[int(v)*f.words+w] |= b
		}
	}
}

// release forgets what only the account of the instance itself needs.
func (f *flow) release() {
	f.scratch.odd = f.odd
	f.left, f.visits, f.seen, f.ways, f.odd = nil, nil, nil, nil, nil
}

// scratch is the memory of one worker, used again for every instance.
type scratch struct {
	m     [5][]uint64
	odd   []int32
	edges []edge // in the order of their ids
	twins []bool // by node: another block ends in the same call

	contrasts []contrast
	chosen    []choice
}

// nils returns n zeros.
func (s *scratch) nils(i, n int) []uint64 {
	m := s.matrix(i, n)
	clear(m)
	return m
}

// matrix returns n numbers, whatever they are.
func (s *scratch) matrix(i, n int) []uint64 {
	if cap(s.m[i]) < n {
		s.m[i] = make([]uint64, n)
	}
	return s.m[i][:n]
}
