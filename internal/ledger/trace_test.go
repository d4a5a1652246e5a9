package ledger

import (
	"testing"

	"lime/internal/profile"
)

// world collects the blocks and edges of a program that a test writes down as Go code.
type world struct {
	prof   *profile.Profile
	nodes  map[string]profile.NodeID
	lines  map[string]int32 // source line of a block; 0 = no symbols
	instrs map[string]uint32
	ids    map[profile.Edge]profile.EdgeID
	file   profile.FileID
	inst   *profile.Instance
}

func newWorld(threads int, lines map[string]int32, instrs map[string]uint32) *world {
	w := &world{prof: newProfile(threads), nodes: map[string]profile.NodeID{}, lines: lines, instrs: instrs,
		ids: map[profile.Edge]profile.EdgeID{}}
	w.file = w.prof.AddFile(profile.File{Path: "a.c"})
	w.prof.AddImage(profile.Image{Path: "a.out"})
	w.inst = &profile.Instance{}
	return w
}

// node returns the block of a name, with its line and instructions (1 unless said).
func (w *world) node(name string) profile.NodeID {
	if id, ok := w.nodes[name]; ok {
		return id
	}
	n := profile.Node{Addr: uint64(0x1000 + 16*len(w.nodes)), Instrs: 1, Function: profile.None}
	n.LastAddr = n.Addr + 8
	if i, ok := w.instrs[name]; ok {
		n.Instrs = i
	}
	if l := w.lines[name]; l > 0 {
		n.Frames = []profile.Frame{{File: w.file, Line: l, Function: "f"}}
		n.First = n.Frames
	}
	w.nodes[name] = w.prof.AddNode(n)
	return w.nodes[name]
}

// track is one thread's way through the world.
type track struct {
	w       *world
	part    profile.Part
	edges   map[profile.Edge]uint64
	at      profile.NodeID
	back    profile.NodeID // the call that has just returned
	time    uint64
	openers []profile.NodeID
}

// thread starts a thread at a block.
func (w *world) thread(entry string, openCalls ...string) *track {
	t := &track{w: w, edges: map[profile.Edge]uint64{}, at: w.node(entry), back: profile.None}
	t.part = profile.Part{Thread: profile.ThreadID(len(w.inst.Parts)), Entry: t.at, EntryStack: []profile.NodeID{}}
	for _, c := range openCalls {
		t.openers = append(t.openers, w.node(c))
	}
	t.part.EntryStack = append(t.part.EntryStack, t.openers...)
	t.spend()
	return t
}

func (t *track) spend() { t.time += uint64(t.w.prof.Nodes[t.at].Instrs) }

// to goes on to a block; n times counts for n equal passages of the same edge.
func (t *track) to(name string, kind profile.EdgeKind) {
	next := t.w.node(name)
	if t.back != profile.None {
		t.edges[profile.Edge{From: t.back, To: next, Kind: profile.EdgeReturn}]++
		t.back = profile.None
	} else {
		t.edges[profile.Edge{From: t.at, To: next, Kind: kind}]++
	}
	t.at = next
	t.spend()
}

func (t *track) take(name string) { t.to(name, profile.EdgeTaken) }
func (t *track) fall(name string) { t.to(name, profile.EdgeFall) }

// call calls the block of a name; body runs in it until it returns.
func (t *track) call(name string, kind profile.EdgeKind, body func()) {
	t.openers = append(t.openers, t.at)
	t.to(name, kind)
	body()
	t.ret()
}

// ret returns from the block at hand.
func (t *track) ret() {
	t.edges[profile.Edge{From: t.at, To: profile.None, Kind: profile.EdgeEnd}]++
	t.back = t.openers[len(t.openers)-1]
	t.openers = t.openers[:len(t.openers)-1]
}

// repeat counts everything that body does n times over.
func (t *track) repeat(n uint64, body func()) {
	if n == 0 {
		return
	}
	before, time := t.edges, t.time
	t.edges = map[profile.Edge]uint64{}
	body()
	for e, c := range t.edges {
		before[e] += c * n
	}
	t.edges, t.time = before, time+(t.time-time)*n
}

// end ends the thread's part and adds it to the instance.
func (t *track) end() {
	t.part.Exit, t.part.Arrive = t.at, t.time
	t.part.ExitStack = append([]profile.NodeID{}, t.openers...)
	for e, n := range t.edges {
		id, ok := t.w.ids[e]
		if !ok {
			id = t.w.prof.AddEdge(e)
			t.w.ids[e] = id
		}
		t.w.inst.Edges = append(t.w.inst.Edges, profile.Count{Row: int32(id), Part: int32(len(t.w.inst.Parts)), N: n})
	}
	t.w.inst.Parts = append(t.w.inst.Parts, t.part)
}

// barrier ends the instance.
func (w *world) barrier(t *testing.T) {
	t.Helper()
	if err := w.prof.WriteInstance(w.inst); err != nil {
		t.Fatal(err)
	}
	w.inst = &profile.Instance{}
}

// account is the account of the world's section, with its sums checked.
func (w *world) account(t *testing.T) *Account {
	t.Helper()
	a, err := Section(w.prof, 0, Options{MinShare: -1, MaxRows: -1})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, a)
	return a
}

// byLine returns the row of a kind at a line.
func (a *Account) find(kind Kind, line int32) *Row {
	for i := range a.Rows {
		if r := &a.Rows[i]; r.Kind == kind && r.Place.Line == line {
			return r
		}
	}
	return &Row{}
}
