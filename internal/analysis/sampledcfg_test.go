package analysis

import (
	"fmt"
	"testing"

	"lime/internal/profile"
)

// A condition of several parts decides like one of a single part: the branch is its first test. Of
// tests with work in between, of which none alone decides, no branch is told.
func TestConditionsOfSeveralParts(t *testing.T) {
	const fall, taken = profile.EdgeFall, profile.EdgeTaken
	type edge struct {
		from, to int
		kind     profile.EdgeKind
	}
	for _, row := range []struct {
		name  string
		cond  []int
		edges []edge
		want  string // tests of the branches around block 3
	}{
		{"a", []int{0}, []edge{{0, 3, fall}, {0, 4, taken}, {3, 4, fall}}, "[0]"},
		{"a && b", []int{0, 1}, []edge{{0, 1, fall}, {0, 4, taken}, {1, 3, fall}, {1, 4, taken}, {3, 4, fall}}, "[0 1]"},
		{"a || b", []int{0, 1}, []edge{{0, 1, fall}, {0, 3, taken}, {1, 3, fall}, {1, 4, taken}, {3, 4, fall}}, "[0]"},
		{"a && b || c", []int{0, 1, 2}, []edge{{0, 1, fall}, {0, 2, taken}, {1, 2, fall}, {1, 3, taken}, {2, 3, fall}, {2, 4, taken}, {3, 4, fall}}, "[0]"},
		{"a ? (work, b) : c", []int{0, 2, 5}, []edge{{0, 1, fall}, {0, 2, taken}, {1, 5, fall}, {5, 3, taken}, {5, 4, fall}, {2, 3, fall}, {2, 4, taken}, {3, 4, fall}}, "[]"},
	} {
		b := newBuilder(2, 6, row.cond...)
		for _, e := range row.edges {
			b.edge(e.from, e.to, e.kind)
		}
		var got []profile.NodeID
		for _, c := range newProcs(b.p.Tables()).chain(3) {
			if got = append(got, c.node); !c.join || c.kind != boundBranch {
				t.Errorf("%s: %+v", row.name, c)
			}
		}
		if fmt.Sprint(got) != row.want {
			t.Errorf("%s: branches %v, want %s", row.name, got, row.want)
		}
	}
}
