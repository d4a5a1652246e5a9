package analysis

import (
	"math"
	"slices"
	"testing"

	"lime/internal/profile"
)

// Two threads work for 60 and 100 of a run of 200; before that, one alone for 50, in its own
// section.
func TestWholeProgram(t *testing.T) {
	p := profile.New(profile.Meta{RunTime: 200, ClockUnit: "instructions", Complete: true})
	p.AddSection(profile.Section{Kind: profile.SectionSerial, EndNode: profile.None})
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
	p.AddThread(profile.Thread{})
	p.AddThread(profile.Thread{})
	put := func(s profile.SectionID, parts ...profile.Part) {
		if err := p.WriteInstance(&profile.Instance{Section: s, Parts: parts}); err != nil {
			t.Fatal(err)
		}
	}
	put(0, profile.Part{Thread: 0, Start: 0, Arrive: 50})
	put(1, profile.Part{Thread: 0, Start: 50, Arrive: 110}, profile.Part{Thread: 1, Start: 50, Arrive: 150, LockWait: 10})
	res, err := Run(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := res.Whole
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"width", float64(w.Width), 2}, {"useful", w.UsefulTime, 200}, {"parallel efficiency", w.ParallelEfficiency, 0.5},
		{"load balance", w.LoadBalance, 100.0 / 110}, {"communication", w.CommunicationEfficiency, 110.0 / 200},
		{"serial share", w.SerialShare, 0.5}, {"lost", w.LostTime, 40}, {"lost share", w.LostShare, 0.1},
		{"locks", w.LockShare, 10.0 / 210}, {"product", w.LoadBalance * w.CommunicationEfficiency, w.ParallelEfficiency},
		{"imbalance", res.Sections[0].Imbalance, 0.2}, {"time to win", res.Sections[0].TimeToWin, 20},
		{"speed-up", res.Sections[0].Speedup, 1.25},
	} {
		if math.Abs(tt.got-tt.want) > 1e-12 {
			t.Errorf("%s %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if len(res.Serial) != 1 || len(res.Sections) != 1 {
		t.Errorf("%d serial sections, %d parallel", len(res.Serial), len(res.Sections))
	}
}

// A thread alone within a section is alone all the same, and sections that overlap lose no more
// than there is.
func TestOverlappingSections(t *testing.T) {
	p := profile.New(profile.Meta{RunTime: 200, ClockUnit: "ns", Complete: true})
	for _, k := range []profile.SectionKind{profile.SectionSerial, profile.SectionJoin, profile.SectionJoin} {
		p.AddSection(profile.Section{Kind: k, EndNode: profile.None})
	}
	p.AddThread(profile.Thread{})
	p.AddThread(profile.Thread{})
	for s, parts := range [][]profile.Part{
		{{Thread: 0, Start: 50, Arrive: 100}},
		{{Thread: 0, Start: 0, Arrive: 200}, {Thread: 1, Start: 0, Arrive: 20}},
		{{Thread: 0, Start: 0, Arrive: 200}, {Thread: 1, Start: 0, Arrive: 20}},
	} {
		if err := p.WriteInstance(&profile.Instance{Section: profile.SectionID(s), Parts: parts}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := Run(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w := res.Whole; w.SerialShare != 0.25 || w.LostShare > 1-w.ParallelEfficiency {
		t.Errorf("serial share %v, lost share %v at an efficiency of %v", w.SerialShare, w.LostShare, w.ParallelEfficiency)
	}
}

// Threads that are joined one by one by another than their creator are stretches of their own, but
// not alone: what they did side by side is no serial share, and no stretch is longer than the run.
func TestStretchesSideBySide(t *testing.T) {
	p := profile.New(profile.Meta{RunTime: 200, ClockUnit: "ns", Complete: true})
	p.AddSection(profile.Section{Kind: profile.SectionSerial, EndNode: profile.None})
	for range 3 {
		p.AddThread(profile.Thread{})
	}
	for _, part := range []profile.Part{
		{Thread: 0, Start: 0, Arrive: 150},
		{Thread: 1, Start: 20, Arrive: 170},
		{Thread: 2, Start: 0, Arrive: 200, OffCPU: 190}, // sleeps in the background
	} {
		if err := p.WriteInstance(&profile.Instance{Parts: []profile.Part{part}}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := Run(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// alone are 0 to 20 and 150 to 170, and what the sleeper spans besides
	if s := res.Serial[0]; s.Time >= 200 || s.TimeShare > 1 || s.Time < 40 {
		t.Errorf("alone for %v, %v of the run", s.Time, s.TimeShare)
	}
	spans := slices.Values([]span{{lo: 0, hi: 10}, {lo: 20, hi: 60}, {lo: 90, hi: 95}})
	got := slices.Collect(outside(spans, []stretch{{5, 25}, {30, 40}, {80, 100}}))
	want := []stretch{{0, 5}, {25, 30}, {40, 60}}
	if !slices.Equal(got, want) {
		t.Errorf("outside: %v, want %v", got, want)
	}
}

func TestCourse(t *testing.T) {
	series := func(n int, f func(i int) float64) []timing {
		ts := make([]timing, n)
		for i := range ts {
			ts[i] = timing{seq: i, n: 2, lost: f(i), time: 1000}
		}
		return ts
	}
	for _, tt := range []struct {
		name   string
		ts     []timing
		shape  string
		seq, k int
	}{
		{"one", series(1, func(int) float64 { return 5 }), CourseSingle, 0, 0},
		{"even", series(20, func(i int) float64 { return 100 + float64(i%3) }), CourseEven, 0, 0},
		{"first", series(20, func(i int) float64 { return 1 + 900*float64((20-i)/20) }), CourseFirst, 0, 0},
		{"first of three", series(3, func(i int) float64 { return 1 + 16*float64(btoi(i == 0)) }), CourseFirst, 0, 0},
		{"the seventh", series(20, func(i int) float64 { return 1 + 900*float64(btoi(i == 6)) }), CourseOne, 6, 0},
		{"every fifth", series(40, func(i int) float64 { return 1 + 100*float64(btoi(i%5 == 3)) }), CoursePeriodic, 0, 5},
		{"growing", series(30, func(i int) float64 { return float64(10 * i) }), CourseGrowing, 0, 0},
		{"shrinking", series(30, func(i int) float64 { return float64(10 * (30 - i)) }), CourseShrinking, 0, 0},
		{"no loss", series(9, func(int) float64 { return 0 }), CourseEven, 0, 0},
		{"without a pattern", series(31, func(i int) float64 { return float64(i * i * 7919 % 101) }), CourseUneven, 0, 0},
	} {
		c := course(tt.ts)
		if c.Shape != tt.shape || c.Seq != tt.seq || c.Period != tt.k {
			t.Errorf("%s: %s, seq %d, period %d", tt.name, c.Shape, c.Seq, c.Period)
		}
	}
	if c := course(series(10_000, func(int) float64 { return 1 })); len(c.Points) != maxPoints || c.Points[1].Count != 10 {
		t.Errorf("%d points", len(c.Points))
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestChoose(t *testing.T) {
	ts := make([]timing, 1000)
	total := 0.0
	for i := range ts {
		ts[i].lost = float64(1 + i%7)
		total += ts[i].lost
	}
	for _, limit := range []int{1, 2, 10, 256, 999, 1000, -1} {
		got := choose(ts, limit)
		sum := 0.0
		for k, c := range got {
			sum += c.weight
			if k > 0 && c.index <= got[k-1].index {
				t.Fatalf("limit %d: not in order", limit)
			}
		}
		if limit > 0 && (len(got) > limit || len(got) < limit/2) || limit < 0 && len(got) != len(ts) {
			t.Errorf("limit %d: %d chosen", limit, len(got))
		}
		if math.Abs(sum-total) > 1e-9 {
			t.Errorf("limit %d: they stand for %v of %v", limit, sum, total)
		}
	}
}

func TestOverInstances(t *testing.T) {
	for _, tt := range []struct {
		ps   []float64
		n    int
		want float64
	}{
		{nil, 0, 1}, {[]float64{0.01}, 1, 0.01}, {[]float64{0.001}, 10, 0.02}, {[]float64{0.01, 0.01, 0.01}, 4, 0.04},
		{[]float64{0.5, 0.5}, 2, 1},
	} {
		if got := overInstances(tt.ps, tt.n); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v of %d: %v, want %v", tt.ps, tt.n, got, tt.want)
		}
	}
}
