package analysis

import (
	"fmt"
	"testing"

	"lime/internal/profile"
)

// Compilers test once in front of a loop whether it runs at all. Without lines that branch is known
// by where its ways lead; one with anything else behind it is the program's.
func TestGuardsOfLoops(t *testing.T) {
	const fall, taken = profile.EdgeFall, profile.EdgeTaken
	type edge struct {
		from, to int
		kind     profile.EdgeKind
	}
	loop := []edge{{2, 3, fall}, {3, 2, taken}} // its test is block 3
	for _, row := range []struct {
		name          string
		edges         []edge
		with, without string // tests around block 2, if lines are known, and if they are not
	}{
		{"the loop, and what sets it up", []edge{{0, 1, fall}, {0, 5, taken}, {1, 2, fall}, {3, 5, fall}}, "[0 3]", "[3]"},
		{"the loop at once", []edge{{0, 2, fall}, {0, 5, taken}, {3, 5, fall}}, "[0 3]", "[3]"},
		{"work behind the loop", []edge{{0, 1, fall}, {0, 5, taken}, {1, 2, fall}, {3, 4, fall}, {4, 5, fall}}, "[0 3]", "[0 3]"},
		{"work on the other way", []edge{{0, 1, fall}, {0, 4, taken}, {1, 2, fall}, {3, 5, fall}, {4, 5, fall}}, "[0 3]", "[0 3]"},
	} {
		for _, lines := range []bool{true, false} {
			b := newBuilder(2, 6, 0, 3)
			for _, e := range append(row.edges, loop...) {
				b.edge(e.from, e.to, e.kind)
			}
			for v := range b.p.Nodes {
				if !lines {
					b.p.Nodes[v].Frames, b.p.Nodes[v].First = nil, nil
				}
			}
			var got []profile.NodeID
			for _, c := range newProcs(b.p.Tables()).chain(2) {
				got = append(got, c.node)
			}
			want := row.with
			if !lines {
				want = row.without
			}
			if fmt.Sprint(got) != want {
				t.Errorf("%s, lines %t: tests %v, want %s", row.name, lines, got, want)
			}
		}
	}
}
