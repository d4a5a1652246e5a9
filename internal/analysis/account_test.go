package analysis

import (
	"math"
	"strings"
	"testing"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// exactProfile has a flow and times that add up: block 1 is a loop of n iterations; block 3 is
// visited by some threads and costs next to nothing; every visit costs the block's 4 instructions.
func exactProfile(iterations []uint64, decoy []uint64) *builder {
	b := newBuilder(len(iterations), 6, 1, 2)
	b.p.UpdateMeta(profile.Meta{ClockUnit: "instructions", RunTime: 10000, Complete: true, NodeTime: "visits"})
	enter, again, leave := b.edge(0, 1, profile.EdgeFall), b.edge(1, 1, profile.EdgeTaken), b.edge(1, 2, profile.EdgeFall)
	aside, past := b.edge(2, 3, profile.EdgeTaken), b.edge(2, 4, profile.EdgeFall)
	back, end := b.edge(3, 4, profile.EdgeJump), b.edge(4, profile.None, profile.EdgeEnd)
	counts := map[int][]uint64{}
	var times []uint64
	for i, n := range iterations {
		d := decoy[i]
		times = append(times, 4*(1+n+1+d+1))
		for e, c := range map[int]uint64{enter: 1, again: n - 1, leave: 1, aside: d, past: 1 - d, back: d, end: 1} {
			counts[e] = append(counts[e], c)
		}
	}
	b.instance(times, counts, nil)
	for in := range b.p.Instances(0) {
		for i := range in.Parts {
			in.Parts[i].Exit = 4
		}
	}
	return b
}

func TestLedgerRanks(t *testing.T) {
	res, err := Run(exactProfile([]uint64{100, 120, 400, 130, 110, 90, 150, 100}, []uint64{0, 0, 1, 0, 0, 0, 0, 0}).p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sec := res.Sections[0]
	if !sec.HasLedger || len(sec.Causes) != 1 {
		t.Fatalf("exact %v, causes %+v, candidates %+v", sec.HasLedger, sec.Causes, sec.Candidates)
	}
	c := sec.Causes[0]
	if c.Line != 11 || c.Event != EventLoop || c.Share == nil || math.Abs(*c.Share-1) > 0.01 || c.Score < 0.9 || !c.Important {
		t.Errorf("first cause %+v", c)
	}
	for _, d := range sec.Candidates {
		if d.Line == 12 && (d.Share == nil || *d.Share > 0.01 || d.Agreement == "") {
			t.Errorf("the decoy: %+v", d)
		}
	}
}

// Two threads suffice for the account.
func TestLedgerWithTwoThreads(t *testing.T) {
	res, err := Run(exactProfile([]uint64{100, 300}, []uint64{0, 0}).p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cs := res.Sections[0].Causes
	if len(cs) != 1 || cs[0].Line != 11 || cs[0].Event != EventLoop || math.Abs(*cs[0].Share-1) > 1e-9 || cs[0].TimeToWin != 400 {
		t.Fatalf("causes %+v", cs)
	}
	if want := "Thread 1 runs this loop for 300 iterations, thread 0 100 iterations; threads that do so more " +
		"often take longer: thread 1 takes 2.94 times as long as thread 0."; cs[0].Sentence != want {
		t.Errorf("sentence %q", cs[0].Sentence)
	}
	if cs[0].Score != 0 || cs[0].Agreement == "" {
		t.Errorf("score %v, remark %q", cs[0].Score, cs[0].Agreement)
	}
}

// An account whose rows are many times the imbalance explains nothing, but for few threads.
func TestTorn(t *testing.T) {
	account := func(positive float64, threads int, exact bool) *ledger.Account {
		return &ledger.Account{Total: 1, Positive: positive, Exact: exact, Threads: make([]profile.ThreadID, threads)}
	}
	for _, tt := range []struct {
		acc  *ledger.Account
		want bool
	}{
		{account(1.5, 8, true), false}, {account(30, 8, true), true}, {account(30, 2, true), false}, {account(30, 2, false), true},
	} {
		if got := torn(tt.acc); got != tt.want {
			t.Errorf("positive rows of %v, %d threads, exact %v: %v", tt.acc.Positive, len(tt.acc.Threads), tt.acc.Exact, got)
		}
	}
}

// A loop's test may stand on the last line of its body: the sentence says which lines it covers.
func TestLoopLines(t *testing.T) {
	b := exactProfile([]uint64{100, 300}, []uint64{0, 0})
	n := &b.p.Nodes[1]
	head := n.Frames[0]
	head.Line = 8
	n.First = []profile.Frame{head}
	res, err := Run(b.p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "Thread 1 runs this loop, lines 8 to 11, for 300 iterations, thread 0 100 iterations; "
	if got := res.Sections[0].Causes[0].Sentence; !strings.HasPrefix(got, want) {
		t.Errorf("sentence %q", got)
	}
}

// Ten thousand instances, of which every fourth is uneven: a sample is analysed, and says so.
func TestTenThousandInstances(t *testing.T) {
	b := newBuilder(8, 6, 1, 2)
	b.p.UpdateMeta(profile.Meta{ClockUnit: "instructions", RunTime: 1e7, Complete: true, CountLabel: profile.Sampled})
	enter, again := b.edge(0, 1, profile.EdgeFall), b.edge(1, 1, profile.EdgeTaken)
	b.edge(1, 2, profile.EdgeFall)
	for k := range 10_000 {
		var times, n, once []uint64
		for i := range 8 {
			c := uint64(100)
			if k%4 == 1 {
				c += uint64(10 * ((i + k) % 8))
			}
			times, n, once = append(times, 10*c+uint64(k*i%3)), append(n, c), append(once, 1)
		}
		b.instance(times, map[int][]uint64{enter: once, again: n}, nil)
	}
	res, err := Run(b.p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sec := res.Sections[0]
	if sec.Course.Shape != CoursePeriodic || sec.Course.Period != 4 || sec.Course.Phase != 1 {
		t.Errorf("course %s, period %d, phase %d", sec.Course.Shape, sec.Course.Period, sec.Course.Phase)
	}
	if sec.AnalysedCount > 256 || sec.AnalysedCount < 128 || len(sec.Course.Points) != maxPoints {
		t.Errorf("%d analysed, %d points", sec.AnalysedCount, len(sec.Course.Points))
	}
	if len(sec.Causes) == 0 || sec.Causes[0].Line != 11 || sec.Causes[0].Score < 0.9 {
		t.Fatalf("%d causes, the first with score %v", len(sec.Causes), sec.Causes[0].Score)
	}
	found := false
	for _, v := range sec.Verdicts {
		found = found || v.Code == "sampled-instances"
	}
	if !found {
		t.Errorf("verdicts %+v", sec.Verdicts)
	}
}
