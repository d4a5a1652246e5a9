package ledger

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// One of two threads is the first to call two library functions: through the stubs it gets into the
// dynamic linker, where it takes 500 instructions each time, and then, as the others do at once,
// into the functions.
func TestFirstCallsAreOneRow(t *testing.T) {
	p := newProfile(2)
	node := func(name string, instrs uint32) profile.NodeID {
		f := p.AddFunction(profile.Function{Name: name, File: profile.None})
		return p.AddNode(profile.Node{Instrs: instrs, Function: f, Image: profile.None,
			Addr: uint64(0x1000 + 64*len(p.Nodes)), LastAddr: uint64(0x1008 + 64*len(p.Nodes))})
	}
	start, linker := node("main", 100), node("_dl_runtime_resolve", 500)
	in := &profile.Instance{}
	edge := func(from, to profile.NodeID, k profile.EdgeKind, n ...uint64) {
		row := p.AddEdge(profile.Edge{From: from, To: to, Kind: k})
		for part, n := range n {
			if n > 0 {
				in.Edges = append(in.Edges, profile.Count{Row: int32(row), Part: int32(part), N: n})
			}
		}
	}
	at := start
	for _, name := range []string{"sin", "exp"} {
		plt, lib := node(name+"@plt", 1), node(name, 10)
		edge(at, plt, profile.EdgeJump, 1, 1)
		edge(plt, linker, profile.EdgeJumpInd, 1, 0)
		edge(plt, lib, profile.EdgeJumpInd, 0, 1)
		edge(linker, lib, profile.EdgeJumpInd, 1, 0)
		at = lib
	}
	for part, time := range []uint64{100 + 2*(500+11), 100 + 2*11} {
		in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(part), Arrive: time, Entry: start, Exit: at})
	}
	in.Sort()
	a, err := Section(repeated{p, in, 1}, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Rows) != 1 || a.Rows[0].Kind != FirstCalls || math.Abs(a.Rows[0].Share-1) > 1e-9 || a.Rows[0].Place.File != "" {
		t.Errorf("%+v", a.Rows)
	}
}
