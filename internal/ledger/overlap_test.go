package ledger

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// TestEventsOfOverlappingBlocks has a loop whose body is written down twice: as the block that
// comes into the loop, code before it included, and as the block that goes round. The misses of the
// body's instruction are known for one of them only. Every round costs every thread the same, so
// that nothing but the number of the rounds may be charged.
func TestEventsOfOverlappingBlocks(t *testing.T) {
	w := newWorld(4, map[string]int32{"before": 9, "into": 10, "round": 10, "out": 12}, nil)
	_ = w.prof.UpdateMeta(profile.Meta{NodeTime: "stored"})
	miss := w.prof.AddKind(profile.EventKind{Name: "l2-miss"})
	into, round := w.node("into"), w.node("round")
	a, b := &w.prof.Nodes[into], &w.prof.Nodes[round]
	b.Addr, b.LastAddr = a.Addr+4, a.LastAddr
	w.prof.AddEvent(profile.Event{Kind: miss, Node: into, Addr: b.Addr, Frames: []profile.Frame{{File: w.file, Line: 11, Function: "f"}}})
	var times [4]uint64
	for p, rounds := range []uint64{10, 10, 10, 100} {
		tr := w.thread("before")
		tr.fall("into")
		tr.fall("round")
		tr.repeat(rounds-1, func() { tr.take("round") })
		tr.fall("out")
		tr.end()
		n, part := rounds+1, int32(p)
		w.inst.Costs = append(w.inst.Costs, profile.Count{Row: 0, Part: part, N: 30 * n})
		times[p] = 50 * n
	}
	for _, id := range []profile.NodeID{into, round} {
		for p, rounds := range []uint64{10, 10, 10, 100} {
			n := map[profile.NodeID]uint64{into: 1, round: rounds}[id]
			w.inst.Times = append(w.inst.Times, profile.Count{Row: int32(id), Part: int32(p), N: 50 * n})
		}
	}
	for p := range w.inst.Parts {
		w.inst.Parts[p].Arrive = times[p]
	}
	w.barrier(t)
	acc := w.account(t)
	for _, r := range acc.Rows {
		if r.Kind == Price && math.Abs(r.Share) > 1e-9 {
			t.Errorf("%q is charged %.3f though all threads pay the same for a round", r.Event, r.Share)
		}
	}
}

// TestEventsOfBlocksThatWereCut has a block that ran as a whole before something jumped into its
// middle, and as its first half from then on. The event stands at the whole one, which did not run
// in this section. What it costs some threads more is the event's, and nothing else's.
func TestEventsOfBlocksThatWereCut(t *testing.T) {
	w := newWorld(4, map[string]int32{"before": 9, "whole": 10, "half": 13, "rest": 11, "out": 12}, nil)
	_ = w.prof.UpdateMeta(profile.Meta{NodeTime: "stored"})
	miss := w.prof.AddKind(profile.EventKind{Name: "l2-miss"})
	whole, half, rest := w.node("whole"), w.node("half"), w.node("rest")
	a, b, c := &w.prof.Nodes[whole], &w.prof.Nodes[half], &w.prof.Nodes[rest]
	c.Addr, c.LastAddr = a.LastAddr-4, a.LastAddr
	b.Addr, b.LastAddr = a.Addr, c.Addr-1
	w.prof.AddEvent(profile.Event{Kind: miss, Node: whole, Addr: a.Addr, Frames: []profile.Frame{{File: w.file, Line: 10, Function: "f"}}})
	for p, dear := range []uint64{0, 0, 0, 900} {
		tr := w.thread("before")
		tr.fall("half")
		tr.fall("rest")
		tr.repeat(9, func() { tr.take("half"); tr.fall("rest") })
		tr.fall("out")
		tr.end()
		part := int32(p)
		if dear > 0 {
			w.inst.Costs = append(w.inst.Costs, profile.Count{Row: 0, Part: part, N: dear})
		}
		w.inst.Parts[p].Arrive = 200 + dear
	}
	for _, id := range []profile.NodeID{half, rest} {
		for p, dear := range []uint64{0, 0, 0, 900} {
			n := uint64(100)
			if id == half {
				n += dear
			}
			w.inst.Times = append(w.inst.Times, profile.Count{Row: int32(id), Part: int32(p), N: n})
		}
	}
	w.barrier(t)
	acc := w.account(t)
	for _, r := range acc.Rows {
		if want := r.Event == "l2-miss"; r.Kind == Price && (math.Abs(r.Share-1) < 1e-9) != want {
			t.Errorf("%q is charged %.3f", r.Event, r.Share)
		}
	}
	if len(acc.Rows) == 0 || acc.Rows[0].Event != "l2-miss" {
		t.Errorf("first row %+v, want the miss", acc.Rows)
	}
}
