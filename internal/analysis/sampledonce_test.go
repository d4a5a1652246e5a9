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

// A branch to which no other thread comes, as all others began in another function, is not why they
// differ: it is what is called behind it.
func TestBranchOfOneThreadAlone(t *testing.T) {
	const main, work = 0, 1
	tab := &profile.Tables{Nodes: []profile.Node{
		{Function: main, Kind: profile.EndCond}, {Function: main, Kind: profile.EndCall}, {Function: main}, {Function: work},
	}}
	for _, c := range []struct {
		name   string
		others profile.NodeID // where the other threads have their samples
		again  bool           // the branch is inside of a loop
		want   boundaryKind
	}{
		{"the others go the other way", 2, false, boundBranch},
		{"the others begin elsewhere", 3, false, boundCall},
		{"the others begin elsewhere, and it is asked again and again", 3, true, boundLoop},
	} {
		for _, join := range []bool{false, true} {
			root := &part{}
			add := func(m mass, id profile.ThreadID, way ...boundary) {
				q := root
				q.add(m, 1, map[profile.ThreadID]float64{id: m.n})
				for _, b := range way {
					q = q.kid(b)
					q.add(m, 1, map[profile.ThreadID]float64{id: m.n})
				}
			}
			way := []boundary{{kind: boundBranch, node: 0, join: join}, {kind: boundCall, node: 1}, {kind: boundLeaf, node: 2}}
			if c.again {
				way = append([]boundary{{kind: boundLoop, node: 0}}, way...)
			}
			add(mass{n: 1000, cov: 5000, vari: 1e4}, 0, way...)
			for id := range profile.ThreadID(3) {
				add(mass{n: 100}, 1+id, boundary{kind: boundLeaf, node: c.others})
			}
			w := &walker{ps: newProcs(tab), total: root.m, once: true, sums: true, loop: func(boundary) length { return length{} }}
			w.walk(root, nil)
			if len(w.found) != 1 || w.found[0].cause.b.kind != c.want {
				t.Errorf("%s, join %t: %+v, want a boundary of kind %d", c.name, join, w.found, c.want)
			}
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

// An even loop within one that goes round more often the longer a thread takes is no work that costs
// some threads more, even if the few samples of what else the outer one holds are even by chance. If
// samples do not tell how often the outer one goes round, nobody says that it is as often in all.
func TestTheLoopAroundIsLookedAt(t *testing.T) {
	for _, c := range []struct {
		name        string
		outer       length
		around      bool // the outer loop holds the section's end: all threads pass it
		causes      int
		same, claim bool
	}{
		{"goes round more often", length{verdict: loopUneven, odds: 9}, false, 1, false, false},
		{"nothing is known", length{}, false, 0, true, false},
		{"likely even", length{verdict: loopEven}, false, 0, true, false},
		{"surely even", length{verdict: loopEven, sure: true}, false, 0, true, true},
		{"all threads pass it", length{}, true, 0, true, true},
	} {
		root := &part{m: mass{n: 1000, cov: 5000, vari: 1e4}, ends: true}
		outer := root.kid(boundary{kind: boundLoop, node: 1})
		outer.m, outer.ends = root.m, c.around
		inner := outer.kid(boundary{kind: boundLoop, node: 2})
		inner.m = mass{n: 990, cov: 5000, vari: 1e4}
		w := &walker{total: root.m, loop: func(b boundary) length {
			if b.node == 1 {
				return c.outer
			}
			return length{verdict: loopEven, sure: true}
		}}
		w.walk(root, nil)
		if len(w.found) != c.causes || (w.price > 0) != c.same || c.same && w.unsure == c.claim {
			t.Errorf("%s: %d causes, price %v, unsure %t", c.name, len(w.found), w.price, w.unsure)
		}
		if len(w.found) > 0 && w.found[0].cause != outer {
			t.Errorf("%s: the cause is not the loop", c.name)
		}
	}
}
