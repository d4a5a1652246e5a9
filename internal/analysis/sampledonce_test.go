package analysis

import (
	"testing"

	"lime/internal/profile"
)

// A branch that each thread comes to once says yes or no. It is not why threads differ that have
// all gone that way, such as one that asks whether a lock was free.
func TestBranchThatIsPassedOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		again bool // it is inside of a loop
		extra []uint64
		line  int
		event string
	}{
		{"half of the threads go there, alike", false, []uint64{0, 90, 0, 85}, 12, EventBranch},
		{"one goes there", false, []uint64{0, 0, 0, 88}, 12, EventBranch},
		{"all but one have been there, one far longer", false, []uint64{3, 2, 0, 88}, 31, EventLoop},
		{"all have been there", false, []uint64{3, 2, 4, 88}, 31, EventLoop},
		{"the branch is asked again and again", true, []uint64{3, 2, 0, 88}, 12, EventBranch},
	} {
		p := sampledProgram(t, []uint64{4, 4, 4, 4}, c.extra)
		if edge := &p.Tables().Edges[5]; !c.again { // what leads round the loop
			edge.To = p.Tables().Sections[0].EndNode
		}
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Sections) != 1 || len(res.Sections[0].Causes) == 0 {
			t.Errorf("%s: no cause", c.name)
			continue
		}
		if first := res.Sections[0].Causes[0]; first.Line != c.line || first.Event != c.event {
			t.Errorf("%s: the first cause is the %s on line %d, want the %s on line %d", c.name, first.Event, first.Line, c.event, c.line)
		}
	}
}

// Where samples are too few to tell which part of the program is uneven, all of it is no cause.
func TestAllOfTheProgramIsNoCause(t *testing.T) {
	root := &part{m: mass{n: 30, cov: 100, vari: 1e6}}
	for i := range 3 {
		k := root.kid(boundary{kind: boundLeaf, node: profile.NodeID(i)})
		k.m = mass{n: 10, cov: 33, vari: 1e6 / 3}
	}
	w := &walker{total: root.m, loop: func(boundary) length { return length{} }}
	w.walk(root, nil)
	if len(w.found) != 0 || w.price != 0 {
		t.Errorf("%d causes, price %v", len(w.found), w.price)
	}
}
