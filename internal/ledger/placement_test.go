package ledger

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"lime/internal/profile"
)

// misses is a world in which all threads run the same, and miss in the second level as often as n
// says, for ten cycles each; in other placements of pages as often as elsewhere says.
func misses(t *testing.T, n []uint64, elsewhere ...[]uint64) *world {
	w := newWorld(len(n), map[string]int32{"guard": 10, "body": 10}, nil)
	_ = w.prof.UpdateMeta(profile.Meta{NodeTime: "stored"})
	kinds := []int32{w.prof.AddKind(profile.EventKind{Name: "l2-miss"})}
	for k := range elsewhere {
		kinds = append(kinds, w.prof.AddKind(profile.EventKind{Name: fmt.Sprintf("l2-miss-elsewhere-%d", k+1)}))
	}
	for range n {
		tr := w.thread("start")
		tr.loop("guard", "body", 100, nil)
		tr.end()
	}
	node := w.nodes["body"]
	frames := []profile.Frame{{File: w.file, Line: 11, Function: "f"}}
	for row, counts := range append([][]uint64{n}, elsewhere...) {
		if counts == nil { // it never happened
			continue
		}
		id := int32(w.prof.AddEvent(profile.Event{Kind: kinds[row], Node: node, Addr: 77, Frames: frames}))
		for p, x := range counts {
			w.inst.Events = append(w.inst.Events, profile.Count{Row: id, Part: int32(p), N: x})
			if row == 0 {
				w.inst.Costs = append(w.inst.Costs, profile.Count{Row: id, Part: int32(p), N: 10 * x})
				w.inst.Times = append(w.inst.Times, profile.Count{Row: int32(node), Part: int32(p), N: 500 + 10*x})
				w.inst.Parts[p].Arrive = 500 + 10*x
			}
		}
	}
	return w
}

// A row says what of its charge would not be there in other placements of pages: nothing where the
// thread misses as often in them, all of it where it has no more misses than the others, or none,
// and more than that where it has less.
func TestLuckOfMisses(t *testing.T) {
	w := misses(t, []uint64{10, 10, 10, 50}, []uint64{10, 10, 10, 50}, []uint64{20, 20, 20, 20}, []uint64{50, 10, 10, 10}, nil)
	w.barrier(t)
	a := w.account(t)
	row := a.find(Price, 11)
	if a.Total != 300 || math.Abs(row.Cycles-300) > 1e-9 {
		t.Fatalf("%g of %g", row.Cycles, a.Total)
	}
	if want := []float64{0, 300, 400}; !slices.EqualFunc(row.Luck[:3], want, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }) {
		t.Errorf("luck %v, want %v", row.Luck, want)
	}
}

// An event that happens in no other placement is luck altogether.
func TestLuckOfMissesThatAreNowhereElse(t *testing.T) {
	w := misses(t, []uint64{0, 0, 0, 40}, nil, []uint64{0, 0, 0, 40})
	w.barrier(t)
	a := w.account(t)
	row := a.find(Price, 11)
	if len(row.Luck) != 2 || math.Abs(row.Luck[0]-300) > 1e-9 || math.Abs(row.Luck[1]) > 1e-9 {
		t.Errorf("%g cycles, luck %v", row.Cycles, row.Luck)
	}
}

// Where nobody looked at other placements, nothing is said.
func TestLuckIsNotGuessed(t *testing.T) {
	w := misses(t, []uint64{10, 10, 10, 50})
	w.barrier(t)
	a := w.account(t)
	if row := a.find(Price, 11); row.Luck != nil {
		t.Errorf("luck %v", row.Luck)
	}
}

// Misses that are dearer to one thread, and as many as the others', are no luck.
func TestDearerMissesAreNoLuck(t *testing.T) {
	same := []uint64{10, 10, 10, 10}
	w := misses(t, same, same)
	w.inst.Costs[3].N, w.inst.Times[3].N, w.inst.Parts[3].Arrive = 900, 1400, 1400
	w.barrier(t)
	if row := w.account(t).find(Price, 11); math.Abs(row.Luck[0]) > 1e-9 || row.Cycles < 1 {
		t.Errorf("%g cycles, luck %v", row.Cycles, row.Luck)
	}
}
