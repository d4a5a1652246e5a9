package sim

import (
	"testing"

	"lime/internal/section"
	"lime/internal/unit"
)

// Two threads meet at a barrier; what is planned for a part happens in it, and neither before nor
// after.
func TestEvening(t *testing.T) {
	rec := section.New(func(section.Instance) {})
	feed := func(kind section.OpKind, id section.ThreadID, at int) {
		t.Helper()
		if err := rec.Feed(section.Op{Kind: kind, Thread: id, Other: section.NoThread, At: unit.Cycles(at), Object: 7}); err != nil {
			t.Fatal(err)
		}
	}
	feed(section.OpStart, 0, 0)
	feed(section.OpStart, 1, 0)
	e := newEvening([][]Stretch{{{100, 200}, {-30, 10}}, {{0, 10}, {20, 30}}})
	step := func(id section.ThreadID, units, want uint64) {
		t.Helper()
		if got := e.time(rec, id, units); got != want {
			t.Errorf("thread %d moves by %d, want %d", id, got, want)
		}
	}
	step(0, 70, 35)
	step(0, 110, 55)
	step(0, 70, 60) // it works longer than was planned
	step(1, 10, 10)
	feed(section.OpArrive, 0, 200)
	step(0, 5, 5) // in the barrier
	feed(section.OpArrive, 1, 210)
	feed(section.OpLeave, 0, 211)
	step(1, 5, 5) // still in the barrier
	step(0, 5, 20)
	step(0, 5, 20)
	step(0, 5, 5)
	feed(section.OpLeave, 1, 212)
	step(1, 15, 5)
	step(1, 15, 5)
	if m := e.missed(); m != 0 {
		t.Errorf("%v of the plan was missed", m)
	}
	feed(section.OpArrive, 1, 300)
	feed(section.OpArrive, 0, 310)
	feed(section.OpLeave, 0, 311)
	step(0, 9, 9) // no plan for the third part
	step(2, 9, 9) // nor for the third thread

	if none := newEvening(nil); none.time(rec, 0, 70) != 70 {
		t.Error("without a plan the clock goes as ever")
	}
}

func TestNumbering(t *testing.T) {
	n := &numbering{}
	n.add(&section.Instance{Parts: []section.Part{{Thread: 1, Start: 50, Number: 4}, {Thread: 0, Start: 50, Number: 2}}})
	n.add(&section.Instance{Parts: []section.Part{{Thread: 1, Start: 10, Number: 1}}})
	if got := n.list(); len(got) != 2 || len(got[1]) != 2 || got[1][0] != 1 || got[1][1] != 4 || got[0][0] != 2 {
		t.Errorf("%v", got)
	}
}
