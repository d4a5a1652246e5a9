package analysis

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// loopProfile: node 0 enters, 1 is the body (its own loop test), 2 a branch that is even, 3 and 4
// its sides, 5 the end. Thread i runs the loop 10(i+1) times.
func loopProfile(threads int) *builder {
	b := newBuilder(threads, 6, 1, 2)
	enter := b.edge(0, 1, profile.EdgeFall)
	again := b.edge(1, 1, profile.EdgeTaken)
	leave := b.edge(1, 2, profile.EdgeFall)
	left := b.edge(2, 3, profile.EdgeTaken)
	right := b.edge(2, 4, profile.EdgeFall)
	b.edge(3, 5, profile.EdgeJump)
	b.edge(4, 5, profile.EdgeFall)
	ts, ones, n := make([]uint64, threads), make([]uint64, threads), make([]uint64, threads)
	odd, other := make([]uint64, threads), make([]uint64, threads)
	for i := range ts {
		n[i], ones[i] = uint64(10*(i+1)), 1
		odd[i], other[i] = uint64(i*7919%13), 20-uint64(i*7919%13)
		ts[i] = 100 + 40*n[i]
	}
	b.instance(ts, map[int][]uint64{enter: ones, again: n, leave: ones, left: odd, right: other}, nil)
	return b
}

func TestLoopIsTheCause(t *testing.T) {
	res, err := Run(loopProfile(8).p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sec := res.Sections[0]
	if len(sec.Causes) == 0 {
		t.Fatalf("no causes; candidates %+v, verdicts %+v", sec.Candidates, sec.Verdicts)
	}
	c := sec.Causes[0]
	if c.Event != EventLoop || c.Line != 11 || c.Family != FamilyControl || math.Abs(c.Score-1) > 1e-9 {
		t.Errorf("first cause %s at line %d, %s, score %v", c.Event, c.Line, c.Family, c.Score)
	}
	if want := "Thread 7 runs this loop for 81 iterations, thread 0 11 iterations; threads that do so more " +
		"often take longer: thread 7 takes 6.60 times as long as thread 0."; c.Sentence != want {
		t.Errorf("sentence %q", c.Sentence)
	}
}
