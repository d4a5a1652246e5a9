package ledger

import (
	"testing"

	"lime/internal/profile"
)

// TestWaitsInOneQueue has threads that wait for the bus at two lines, the last one longer at the
// first and shorter at the second: the account has one row with what is left, at the first.
func TestWaitsInOneQueue(t *testing.T) {
	w := newWorld(3, map[string]int32{"one": 10, "two": 20}, nil)
	_ = w.prof.UpdateMeta(profile.Meta{NodeTime: "stored"})
	bus := w.prof.AddKind(profile.EventKind{Name: "bus-wait"})
	for range 3 {
		tr := w.thread("one")
		tr.fall("two")
		tr.end()
	}
	costs := [3][2]uint64{{1000, 9000}, {1000, 9000}, {9000, 1300}}
	for e, name := range []string{"one", "two"} {
		id := w.nodes[name]
		w.prof.AddEvent(profile.Event{Kind: bus, Node: id, Frames: w.prof.Nodes[id].Frames})
		for p := range costs {
			w.inst.Costs = append(w.inst.Costs, profile.Count{Row: int32(e), Part: int32(p), N: costs[p][e]})
			w.inst.Times = append(w.inst.Times, profile.Count{Row: int32(id), Part: int32(p), N: 50 + costs[p][e]})
		}
	}
	for p := range costs {
		w.inst.Parts[p].Arrive = 100 + costs[p][0] + costs[p][1]
	}
	w.barrier(t)
	a := w.account(t)
	if len(a.Rows) != 1 || a.Rows[0].Place.Line != 10 || a.Rows[0].Share < 0.999 || a.Rows[0].Share > 1.001 || len(a.Rows[0].With) != 1 {
		t.Errorf("rows %+v", a.Rows)
	}
}
