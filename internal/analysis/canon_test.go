package analysis

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// A loop whose first iteration was met as part of a longer block: block 1 enters the loop and goes
// on through block 2's code to the same end, so that the loop seems to have two heads.
func TestBlocksWithACommonEnd(t *testing.T) {
	b := newBuilder(8, 6, 1, 2, 4)
	long, short := &b.p.Nodes[1], &b.p.Nodes[2]
	long.LastAddr, long.Frames, long.Size = short.LastAddr, short.Frames, 32
	enter := b.edge(0, 1, profile.EdgeFall)
	left1, right1 := b.edge(1, 3, profile.EdgeTaken), b.edge(1, 4, profile.EdgeFall)
	left2, right2 := b.edge(2, 3, profile.EdgeTaken), b.edge(2, 4, profile.EdgeFall)
	join := b.edge(3, 4, profile.EdgeFall)
	again, leave := b.edge(4, 2, profile.EdgeTaken), b.edge(4, 5, profile.EdgeFall)
	counts := map[int][]uint64{}
	var times []uint64
	for i := range 8 {
		n := uint64(20 * (i + 2)) // iterations, all through the left side
		times = append(times, 10*n)
		for e, c := range map[int]uint64{enter: 1, left1: 1, right1: 0, left2: n - 1, right2: 0, join: n, again: n - 1, leave: 1} {
			counts[e] = append(counts[e], c)
		}
	}
	b.instance(times, counts, nil)
	res, err := Run(b.p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Sections[0].Causes) == 0 {
		t.Fatalf("no cause: %+v", res.Sections[0].Candidates)
	}
	c := res.Sections[0].Causes[0]
	if c.Event != EventLoop || c.Line != 14 || math.Abs(c.Score-1) > 1e-9 {
		t.Errorf("first cause: %s at line %d, score %v; want the loop's test at line 14, 1", c.Event, c.Line, c.Score)
	}
}
