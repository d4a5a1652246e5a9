package analysis

import (
	"testing"

	"lime/internal/profile"
)

// The calls by which one loop of a function begins a recursion are one, of another loop another one.
func TestOneBeginningOfARecursion(t *testing.T) {
	b := newBuilder(2, 8, 3, 6)
	for _, e := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}, {4, 5}, {5, 6}, {6, 5}, {6, 7}} {
		b.edge(e[0], e[1], profile.EdgeFall)
	}
	callee := b.p.AddFunction(profile.Function{Name: "visit"})
	other := b.p.AddFunction(profile.Function{Name: "other"})
	ps := newProcs(b.p.Tables())
	for _, row := range []struct {
		at     profile.NodeID
		callee profile.FunctionID
		want   profile.NodeID
	}{{1, callee, 1}, {2, callee, 1}, {2, other, 2}, {5, callee, 5}, {0, callee, 0}, {4, callee, 0}, {1, callee, 1}} {
		if got := ps.begins(row.at, row.callee); got != row.want {
			t.Errorf("the call of function %d at %d stands for %d, want %d", row.callee, row.at, got, row.want)
		}
	}
}
