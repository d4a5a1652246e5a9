package ledger

import (
	"slices"
	"strings"

	"lime/internal/origin"
	"lime/internal/profile"
)

// What a library does, it does for whoever calls it: nobody mends the C library's sort, but the
// line that has it sort so much. So a row in library code stands at the line of the program's own
// from which all ways lead there, if there is one.

// Labels of library code that no single line leads to.
const (
	homeless   = -1 // no call of the program's own leads there
	sharedHome = -2 // several do, or threads start there
	unasked    = -3 // only the dynamic linker calls it: what libraries do as they are loaded and left
	beginning  = -4 // threads start there, and none of the program's own lines leads there
)

// library says for every node whether it is library code: of a system's image, of a source file of
// a standard library, a stub of the linkage table, or without source in an image that has some (an
// archive that was linked in).
func library(tab *profile.Tables) []bool {
	lib, sourced := make([]bool, len(tab.Nodes)), make([]bool, len(tab.Images))
	for v := range tab.Nodes {
		if n := &tab.Nodes[v]; valid(profile.NodeID(n.Image), len(sourced)) && len(n.Frames) > 0 && n.Frames[0].Line > 0 {
			sourced[n.Image] = true
		}
	}
	for v := range tab.Nodes {
		n := &tab.Nodes[v]
		if !valid(profile.NodeID(n.Image), len(sourced)) {
			continue
		}
		lib[v] = sourced[n.Image] && !ownFunction(tab, n) || origin.LibraryImage(tab.Images[n.Image].Path) ||
			stub(tab, profile.NodeID(v)) || inLibraryFile(tab, n.Frames)
	}
	return lib
}

// ownFunction says whether a node has a line, or lies in a function that has one.
func ownFunction(tab *profile.Tables, n *profile.Node) bool {
	return len(n.Frames) > 0 && n.Frames[0].Line > 0 || n.Function >= 0 && int(n.Function) < len(tab.Functions) &&
		tab.Functions[n.Function].File != profile.None
}

func inLibraryFile(tab *profile.Tables, fs []profile.Frame) bool {
	return len(fs) > 0 && fs[0].File >= 0 && int(fs[0].File) < len(tab.Files) && origin.LibraryFile(tab.Files[fs[0].File].Path)
}

// homes finds the calls of the program's own that led to library code.
type homes struct {
	g     *guide
	lines map[int32]int32  // by spot
	at    []profile.NodeID // by line: one of its calls
	label []int32          // by node: a line, homeless or sharedHome
}

// homesOf follows the edges that were used from the program's own calls, and from where threads
// started, through library code. The dynamic linker, which goes on to a function that is called for
// the first time, has been called from anywhere: its ways say nothing, but for whose stub the
// function is, and that what it calls, and no line does, belongs to the loading of libraries.
func (g *guide) homesOf(used, started []bool) *homes {
	h := &homes{g: g, lines: map[int32]int32{}, label: make([]int32, len(g.tab.Nodes))}
	var from, to, loaded []int32
	for i := range g.tab.Edges {
		e := &g.tab.Edges[i]
		switch {
		case i >= len(used) || !used[i] || !valid(e.From, len(h.label)) || !valid(e.To, len(h.label)) || !g.library[e.To]:
		case !linker(g.tab, e.From):
			from, to = append(from, int32(e.From)), append(to, int32(e.To))
		case g.bound[int32(i)] != nil:
			for _, v := range g.bound[int32(i)] {
				from, to = append(from, v), append(to, int32(e.To))
			}
		case isCall(e.Kind) && !linker(g.tab, e.To):
			loaded = append(loaded, int32(e.To))
		}
	}
	for _, p := range g.split {
		from, to = append(from, p[0], p[1]), append(to, p[1], p[0])
	}
	off, heads := rows(len(h.label), from, to)
	var work []int32
	give := func(v, label int32) {
		if was := h.label[v]; was != label && was != sharedHome {
			if was != homeless {
				label = sharedHome
			}
			h.label[v] = label
			work = append(work, v)
		}
	}
	for v := range h.label {
		h.label[v] = homeless
	}
	for v := range h.label {
		if g.library[v] && v < len(started) && started[v] {
			give(int32(v), beginning)
		}
		if g.library[v] {
			continue
		}
		for _, t := range heads[off[v]:off[v+1]] {
			give(t, h.line(profile.NodeID(v)))
		}
	}
	spread := func() {
		for len(work) > 0 {
			v := work[len(work)-1]
			work = work[:len(work)-1]
			for _, t := range heads[off[v]:off[v+1]] {
				give(t, h.label[v])
			}
		}
	}
	spread()
	give = func(v, label int32) {
		if h.label[v] == homeless {
			h.label[v] = label
			work = append(work, v)
		}
	}
	for _, v := range loaded {
		give(v, unasked)
	}
	spread()
	return h
}

// bindings finds, by edge of the dynamic linker's, the stubs of the linkage table for which it goes
// on to a function: those of the function's name.
func bindings(tab *profile.Tables) map[int32][]int32 {
	stubs, bound := map[string][]int32{}, map[int32][]int32{}
	for v := range tab.Nodes {
		if name, ok := strings.CutSuffix(functionName(tab, profile.NodeID(v)), "@plt"); ok {
			stubs[name] = append(stubs[name], int32(v))
		}
	}
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if e.Kind == profile.EdgeJumpInd && valid(e.From, len(tab.Nodes)) && linker(tab, e.From) && startsFunction(tab, e.To) {
			if list := stubs[functionName(tab, e.To)]; list != nil {
				bound[int32(i)] = list
			}
		}
	}
	return bound
}

// splits pairs library blocks that begin at the same address: one that was split meanwhile keeps
// its events, and its parts are led to.
func splits(tab *profile.Tables, library []bool) (pairs [][2]int32) {
	first := map[uint64]int32{}
	for v := range tab.Nodes {
		if !library[v] {
			continue
		}
		if u, ok := first[tab.Nodes[v].Addr]; ok {
			pairs = append(pairs, [2]int32{u, int32(v)})
		} else {
			first[tab.Nodes[v].Addr] = int32(v)
		}
	}
	return pairs
}

// line numbers the line of a call.
func (h *homes) line(v profile.NodeID) int32 {
	k := h.g.nodes[v]
	i, ok := h.lines[k]
	if !ok {
		i = int32(len(h.at))
		h.lines[k], h.at = i, append(h.at, v)
	}
	return i
}

// of returns the call that led to all nodes, None if there is no such one.
func (h *homes) of(nodes []int32) profile.NodeID {
	label := int32(homeless)
	for i, v := range nodes {
		if !valid(profile.NodeID(v), len(h.label)) || !h.g.library[v] || h.label[v] < 0 || i > 0 && h.label[v] != label {
			return profile.None
		}
		label = h.label[v]
	}
	if label < 0 {
		return profile.None
	}
	return h.at[label]
}

// loads says whether nodes are run as libraries are loaded and left, and no line of the program
// asks for them.
func (h *homes) loads(nodes []int32) bool {
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(v int32) bool {
		return !valid(profile.NodeID(v), len(h.label)) || h.label[v] != unasked
	})
}

// begins says whether nodes are what a library does for a thread before it comes to the program's
// own code: what decides there is which function the thread was given.
func (h *homes) begins(nodes []int32) bool {
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(v int32) bool {
		return !valid(profile.NodeID(v), len(h.label)) || h.label[v] != beginning
	})
}

// home brings the rows of library code to the lines that called it. What none asked for is one row,
// without a place.
func (b *book) home() {
	if !slices.Contains(b.l.guide.library, true) {
		return
	}
	h := b.l.guide.homesOf(b.counts.used, b.counts.started)
	b.homes = h
	var loading *entry
	at := map[rowKey]*entry{}
	for k, i := range b.byKey {
		if k.group == groupCall || k.group == groupPrice {
			at[k] = b.rows[i]
		}
	}
	for _, e := range b.rows {
		nodes := b.nodesOf(e)
		call := h.of(nodes)
		if h.loads(nodes) {
			if loading == nil {
				loading = e
				e.key = rowKey{group: groupLoading, kind: -1, spot: -1}
			} else {
				b.absorb(loading, e)
			}
			continue
		}
		if call == profile.None || b.links(e) {
			continue
		}
		k := rowKey{group: e.key.group, kind: e.key.kind, spot: b.l.guide.nodes[call]}
		if e.class == classDecision {
			k.group = groupCall
		}
		e.home, e.homed = call, true
		if into := at[k]; into != nil && into != e {
			b.absorb(into, e)
			into.home, into.homed = call, true
		} else {
			at[k] = e
		}
	}
}

// links says whether a row is the dynamic linker's, which looks a function up for the first who
// calls it: no line's fault.
func (b *book) links(e *entry) bool {
	return slices.ContainsFunc(b.nodesOf(e), func(v int32) bool { return linker(b.l.tab, profile.NodeID(v)) })
}

// linker says whether a node is the dynamic linker's.
func linker(tab *profile.Tables, v profile.NodeID) bool {
	im := tab.Nodes[v].Image
	return im >= 0 && int(im) < len(tab.Images) && origin.Linker(tab.Images[im].Path)
}

// nodesOf lists the nodes of a row's places, none if some have none.
func (b *book) nodesOf(e *entry) []int32 {
	var nodes []int32
	for m := range b.membersOf(e) {
		switch {
		case m.class == classEvent:
			nodes = append(nodes, int32(b.l.tab.Events[m.id].Node))
		case e.key.group != groupFirstCall && (m.class == classDecision || m.class == classPrice):
			nodes = append(nodes, m.id)
		default:
			return nil
		}
	}
	return nodes
}

// absorb adds a row of library code to another.
func (b *book) absorb(e, row *entry) {
	e.threads = grown(e.threads, len(row.threads))
	with := e.with
	e.take(row)
	e.with = with
	e.passed += row.passed
	b.members[e.last].next, e.last = row.first, row.last
	e.members += row.members
}

// inside is where a homed row's time went: the heaviest of its places in the library; nil if it is
// in the call's own line.
func (b *book) inside(e *entry, top *memberWeight) *Place {
	if !e.homed {
		return nil
	}
	var p Place
	if top.class == classEvent {
		p = b.l.guide.eventPlace(&b.l.tab.Events[top.id])
	} else {
		p = b.l.guide.place(profile.NodeID(top.id))
	}
	if p.Node >= 0 && !b.l.guide.library[p.Node] {
		return nil
	}
	return &p
}

// inLibrary says whether a row stands in library code.
func (b *book) inLibrary(e *entry) bool {
	nodes := b.nodesOf(e)
	return !e.homed && len(nodes) > 0 && valid(profile.NodeID(nodes[0]), len(b.l.guide.library)) && b.l.guide.library[nodes[0]]
}

// callee is the name of the function that is called at a node: of what the linkage table leads to,
// where it has no name itself.
func (g *guide) callee(v profile.NodeID) string {
	name := ""
	for range maxStubs {
		next := g.calls[v]
		if next == profile.None {
			break
		}
		f := g.tab.Nodes[next].Function
		if f < 0 || int(f) >= len(g.tab.Functions) {
			break
		}
		name = g.tab.Functions[f].Name
		if plain, ok := strings.CutSuffix(name, "@plt"); ok {
			return plain
		}
		v = next
	}
	return name
}

// maxStubs is how many jumps may lie between a call and the function it enters.
const maxStubs = 3

// callTargets finds, by node, the block that a call enters, or an indirect jump without another
// way.
func callTargets(tab *profile.Tables) []profile.NodeID {
	to, done := make([]profile.NodeID, len(tab.Nodes)), make([]bool, len(tab.Nodes))
	for v := range to {
		to[v] = profile.None
	}
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if !valid(e.From, len(to)) || !valid(e.To, len(to)) || done[e.From] {
			continue
		}
		switch {
		case isCall(e.Kind):
			to[e.From], done[e.From] = e.To, true
		case e.Kind == profile.EdgeJumpInd && to[e.From] == profile.None:
			to[e.From] = e.To
		case e.Kind != profile.EdgeReturn:
			to[e.From], done[e.From] = profile.None, true
		}
	}
	return to
}
