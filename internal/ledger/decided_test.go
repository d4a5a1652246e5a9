package ledger

import (
	"testing"

	"lime/internal/profile"
)

// TestTheCallerDecides has a search that was inlined, and what it returns tested by jumps out of
// it: found nothing leads to much work, found something to none. The decision is the caller's, not
// one on the rounds of the search. Where both ways go on behind the search alike, the rounds are
// what is charged.
func TestTheCallerDecides(t *testing.T) {
	for name, c := range map[string]struct {
		heavy string // where the search leads that finds nothing
		line  int32
		kind  Kind
	}{
		"threaded": {"compress", 98, Branch},
		"rounds":   {"next", 48, Branch},
	} {
		w := newWorld(4, map[string]int32{"start": 90, "none": 48, "same": 48, "compress": 98, "next": 95},
			map[string]uint32{"compress": 5000, "same": 50})
		for _, n := range []string{"none", "same"} {
			node := &w.prof.Nodes[w.node(n)]
			node.Kind = profile.EndCond
			node.Frames = []profile.Frame{{File: w.file, Line: 48, Function: "lookup"}, {File: w.file, Line: 96, Function: "f"}}
			node.First = node.Frames
		}
		for p := range 4 {
			tr := w.thread("start")
			for i := range 20 {
				tr.fall("none")
				if p == 3 && i < 10 {
					if name == "rounds" {
						for range 30 {
							tr.fall("same")
							tr.take("none")
						}
					}
					tr.take(c.heavy)
				} else {
					tr.fall("same")
					tr.fall("next")
				}
				if tr.at == w.node("compress") {
					tr.fall("next")
				}
				tr.fall("start")
			}
			tr.end()
		}
		w.barrier(t)
		row := w.account(t).Rows[0]
		if row.Place.Line != c.line || row.Kind != c.kind {
			t.Errorf("%s: %s at line %d is charged first, want %s at %d", name, row.Kind, row.Place.Line, c.kind, c.line)
		}
		if got := row.Test != nil && row.Test.Line == 48; got != (name == "threaded") {
			t.Errorf("%s: tested at %+v", name, row.Test)
		}
	}
}

// TestRoundsAreTheFunctionsOwn has a loop of a function that was inlined, whose rounds begin with
// an instruction that the compiler counts as the caller's: what decides is the loop's test.
func TestRoundsAreTheFunctionsOwn(t *testing.T) {
	w := newWorld(4, map[string]int32{"start": 90, "test": 48, "move": 97, "out": 51, "next": 95}, map[string]uint32{"move": 50})
	w.node("start") // where the run begins is the head of the loop around all
	for name, line := range map[string]int32{"test": 48, "out": 51} {
		node := &w.prof.Nodes[w.node(name)]
		node.Frames = []profile.Frame{{File: w.file, Line: line, Function: "escape"}, {File: w.file, Line: 96, Function: "f"}}
		node.First = node.Frames
	}
	w.prof.Nodes[w.node("test")].Kind = profile.EndCond
	for p := range 4 {
		tr := w.thread("start")
		for range 20 {
			tr.fall("test")
			for range 10 * p {
				tr.fall("move")
				tr.fall("test")
			}
			tr.take("out")
			tr.fall("next")
			tr.fall("start")
		}
		tr.end()
	}
	w.barrier(t)
	if row := w.account(t).Rows[0]; row.Place.Line != 48 || row.Test != nil {
		t.Errorf("%s at line %d is charged first, tested at %+v; want line 48", row.Kind, row.Place.Line, row.Test)
	}
}
