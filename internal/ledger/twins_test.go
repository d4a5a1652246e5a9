package ledger

import (
	"testing"

	"lime/internal/profile"
)

// TestReturnCountedTwice accounts for blocks that end in the same call, one of which has two rows
// of returns: no collector writes that, but a file may say so.
func TestReturnCountedTwice(t *testing.T) {
	prof := newProfile(2)
	block := func(addr, last uint64) profile.NodeID {
		return prof.AddNode(profile.Node{Instrs: 1, Image: profile.None, Function: profile.None, Addr: addr, LastAddr: last})
	}
	a, b, callee, next := block(0x10, 0x18), block(0x14, 0x18), block(0x80, 0x88), block(0x20, 0x28)
	inst := &profile.Instance{}
	add := func(from, to profile.NodeID, kind profile.EdgeKind, counts ...uint64) {
		id := prof.AddEdge(profile.Edge{From: from, To: to, Kind: kind})
		for p, n := range counts {
			inst.Edges = append(inst.Edges, profile.Count{Row: int32(id), Part: int32(p), N: n})
		}
	}
	add(a, callee, profile.EdgeCall, 3, 1)
	add(b, callee, profile.EdgeCall, 2, 2)
	add(callee, profile.None, profile.EdgeEnd, 5, 3)
	add(a, next, profile.EdgeReturn, 4, 2)
	add(a, next, profile.EdgeReturn, 1, 1)
	add(next, a, profile.EdgeTaken, 2, 1)
	add(next, b, profile.EdgeFall, 2, 2)
	add(next, profile.None, profile.EdgeEnd, 1, 0)
	for p, time := range []uint64{15, 9} {
		inst.Parts = append(inst.Parts, profile.Part{Thread: profile.ThreadID(p), Arrive: time, Entry: a, Exit: next})
	}
	acc, err := Section(repeated{prof, inst, 1}, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if acc.RelResidual > 1e-9 {
		t.Errorf("the account is off by %v", acc.RelResidual)
	}
}
