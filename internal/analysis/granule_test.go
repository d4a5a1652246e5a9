package analysis

import (
	"testing"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// Threads are as even as their pieces of work allow where the number of the pieces is what differs:
// they do not divide, or are dealt out as threads become free. Where each has as many and those of
// one take longer, or where they wait for one another, the pieces are not to blame, though less
// than one of them is lost.
func TestGranule(t *testing.T) {
	tab := &profile.Tables{Nodes: make([]profile.Node, 2),
		Edges: []profile.Edge{{From: 0, To: 1, Kind: profile.EdgeTaken}, {From: 0, To: 0, Kind: profile.EdgeFall}}}
	r := &runner{tab: tab, prog: newProgram(tab)}
	const loop = 2 // that is dealt out
	for _, c := range []struct {
		name   string
		kind   ledger.Kind // of the row that holds most
		rounds []uint64
		times  []float64
		total  float64 // that the last thread is later than the mean
		want   bool
	}{
		{"one more for one thread", ledger.Loop, []uint64{20, 20, 20, 21}, []float64{1000, 1000, 1000, 1050}, 37.5, true},
		{"one more for one thread, which it was dealt", ledger.Dealt, []uint64{20, 20, 20, 21}, []float64{1000, 1000, 1000, 1050}, 37.5, true},
		{"three more for one thread", ledger.Loop, []uint64{20, 20, 20, 23}, []float64{1000, 1000, 1000, 1150}, 112.5, false},
		{"dearer for one thread", ledger.Price, []uint64{20, 20, 20, 20}, []float64{1000, 1000, 1000, 1040}, 30, false},
		{"dearer inside for one thread", ledger.Branch, []uint64{20, 20, 20, 20}, []float64{1000, 1000, 1000, 1040}, 30, false},
		{"dealt out as threads become free", ledger.Branch, []uint64{16, 20, 25, 20}, []float64{1010, 1000, 990, 1020}, 15, true},
		{"a wait", ledger.LockWait, []uint64{20, 20, 20, 21}, []float64{1000, 1000, 1000, 1050}, 37.5, false},
	} {
		acc := &ledger.Account{Exact: true, Total: c.total, Instances: []ledger.InstanceTotal{{Total: c.total}},
			Threads: []profile.ThreadID{0, 1, 2, 3},
			Rows:    []ledger.Row{{Kind: c.kind, Share: 0.95}, {Kind: ledger.Visits, Share: 0.05}},
			Tests:   []ledger.LoopTest{{Round: 50, Stayed: 81, Left: 4, Rounds: c.rounds}}}
		if c.kind == ledger.Dealt { // it stands at the loop, the test where one comes for the next piece
			acc.Rows[0].Place.Line, acc.Rows[0].DealtLoop, acc.Tests[0].DealtLoop = 10, loop, loop
		}
		sec := &Section{Ledger: acc, HasLedger: true, Imbalance: 0.02, ThreadsMax: 4, Causes: []Cause{{Important: true}}}
		for i, x := range c.times {
			sec.Threads = append(sec.Threads, ThreadTotal{Thread: profile.ThreadID(i), Time: x})
		}
		r.evenButForEnds(sec)
		if (sec.Granule != nil) != c.want || len(sec.Causes) != 1 || sec.Causes[0].Important == c.want {
			t.Errorf("%s: granule %+v, causes %+v", c.name, sec.Granule, sec.Causes)
		}
	}
}

// Tasks that a runtime deals out as threads become free: who did many had short ones, and the last
// thread is ahead by less than two of them. Where all did as many, their price is what differs.
func TestTasksAreDealtOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		given []uint64
		times []float64
		piece bool
	}{
		{"dealt out", []uint64{105, 80, 106, 164, 77, 244, 83, 164}, []float64{310, 305, 308, 307, 305, 309, 310, 307}, true},
		{"as many for each", []uint64{128, 128, 128, 128, 128, 128, 128, 128}, []float64{310, 305, 308, 307, 305, 309, 310, 307}, false},
		{"two tasks more", []uint64{105, 80, 106, 164, 77, 244, 83, 164}, []float64{330, 305, 308, 307, 305, 309, 310, 307}, false},
	} {
		acc, sec := &ledger.Account{Instances: make([]ledger.InstanceTotal, 1)}, &Section{ThreadsMax: len(c.times), Tasks: &Tasks{}}
		sum := 0.0
		for i, time := range c.times {
			acc.Threads = append(acc.Threads, profile.ThreadID(i))
			sec.Threads = append(sec.Threads, ThreadTotal{Thread: profile.ThreadID(i), Time: time})
			sec.Tasks.Count += c.given[i]
			sum += time
		}
		sec.Tasks.Mean = sum / float64(sec.Tasks.Count)
		acc.Rows = []ledger.Row{{Kind: ledger.Tasks, Tasks: c.given}}
		lost := aheadOfMean(c.times)
		if g := taskGranule(sec, acc, lost, lost); (g != nil) != c.piece {
			t.Errorf("%s: %+v", c.name, g)
		}
	}
}
