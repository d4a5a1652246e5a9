package whatif

import (
	"math"
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// missing is a profile of two threads: the first misses on line 5, which costs it 60 of its 100
// cycles in the first level and 20 in the second, in two instances.
func missing(t *testing.T) *profile.Profile {
	t.Helper()
	p := profile.New(profile.Meta{ClockUnit: "cycles"})
	p.AddFile(profile.File{Path: "/src/a.c"})
	p.AddKind(profile.EventKind{Name: "l1d-miss", Title: "L1 data miss"})
	p.AddKind(profile.EventKind{Name: "l2-miss", Title: "L2 miss", Superior: "l1d-miss"})
	p.AddKind(profile.EventKind{Name: "tlb-miss", Title: "TLB miss"})
	at := []profile.Frame{{File: 0, Line: 5}}
	for k := range int32(3) {
		p.AddEvent(profile.Event{Kind: k, Node: profile.None, Addr: 0x10, Frames: at})
	}
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
	for i := range profile.ThreadID(2) {
		p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None, TID: int32(i)})
	}
	for k := range uint64(2) {
		err := p.WriteInstance(&profile.Instance{
			Parts: []profile.Part{{Thread: 0, Start: 200 * k, Arrive: 200*k + 100, Release: 200*k + 100},
				{Thread: 1, Start: 200 * k, Arrive: 200*k + 20, Release: 200*k + 100}},
			Costs: []profile.Count{{Row: 0, Part: 0, N: 60}, {Row: 1, Part: 0, N: 15}, {Row: 2, Part: 0, N: 5}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func verified(causes ...analysis.Cause) *analysis.Result {
	return &analysis.Result{Sections: []analysis.Section{{Kind: "barrier",
		EndsAt: analysis.Place{File: "a.c", Line: 9}, Imbalance: 0.4, Matters: true,
		LostTime: 160, InstanceCount: 2, Causes: causes}}}
}

func TestChecks(t *testing.T) {
	lock := cause("lock-wait", "/src/a.c", 5, true)
	loop := analysis.Cause{Family: analysis.FamilyControl, Event: "loop", Important: true}
	res := verified(cause("l2-miss", "/src/a.c", 5, true), lock, loop, cause("tlb-miss", "/src/a.c", 5, false))
	checks, err := Checks(res, missing(t))
	if err != nil || len(checks) != 3 {
		t.Fatalf("%d checks, %v", len(checks), err)
	}
	c := checks[0] // all misses of the line are hits: 75 of 80 cycles
	if c.How != Erased || math.Abs(c.Said-75.0/80) > 1e-12 || math.Abs(c.ImbalancePredicted-5.0/50) > 1e-12 || len(c.Erasures) != 1 ||
		strings.Join(c.Erasures[0].Kinds, " ") != "l1d-miss l2-miss" {
		t.Errorf("%+v", c)
	}
	for _, c := range checks[1:] {
		if c.How != NotRun || c.Why == "" {
			t.Errorf("%+v: a run was planned", c)
		}
	}
}

func TestJudge(t *testing.T) {
	base := verified()
	for _, tt := range []struct {
		how, verdict string
		said, lost   float64
		instances    int
		gone         float64
	}{
		{Erased, Confirmed, 0.9, 16, 2, 0.9}, {Erased, Confirmed, 0.9, 26, 2, 0.8375}, {Erased, Partly, 0.9, 60, 2, 0.625},
		{Erased, Refuted, 0.9, 150, 2, 0.0625}, {Erased, Refuted, 0.14, 150, 2, 0.0625},
		{Erased, Confirmed, 0.0625, 152, 2, 0.05}, {Erased, Partly, 0.4, 112, 2, 0.3},
		{Erased, Refuted, 0.3, 200, 2, -0.25}, {Erased, Confirmed, 0.9, 16, 1, 0.9},
		{Evened, Confirmed, 0.9, 16, 2, 0.9}, {Evened, "", 0.9, 16, 1, 0},
	} {
		after := verified()
		after.Sections[0].LostTime, after.Sections[0].InstanceCount = tt.lost, tt.instances
		c := Check{Verification: Verification{How: tt.how, Said: tt.said}}
		c.Judge(base, after)
		if c.Verdict != tt.verdict || math.Abs(c.Gone-tt.gone) > 1e-12 || (c.Verdict == "") != (c.Why != "") {
			t.Errorf("%+v: %+v", tt, c.Verification)
		}
	}
}

func TestRepeated(t *testing.T) {
	before, again := verified(analysis.Cause{}), verified(analysis.Cause{})
	again.Sections[0].LostTime *= 1.01
	if err := Repeated(before, again); err != nil {
		t.Error(err)
	}
	again.Sections[0].LostTime *= 1.05
	if err := Repeated(before, again); err == nil || !strings.Contains(err.Error(), "a.c:9") {
		t.Errorf("another loss: %v", err)
	}
	if err := Repeated(before, &analysis.Result{}); err == nil {
		t.Error("no sections: no error")
	}
}

func TestSchedule(t *testing.T) {
	s, err := newSchedule(missing(t))
	if err != nil {
		t.Fatal(err)
	}
	plan := s.plan()
	plan[0][1].Save = 7
	if len(plan) != 2 || len(plan[0]) != 2 || plan[1][0].Of != 20 {
		t.Fatalf("%v", plan)
	}
	got, err := plan.Numbered([][]int{{1, 4}, {0, 2}})
	if err != nil || len(got[0]) != 5 || got[0][4] != (Stretch{7, 100}) || got[0][1] != (Stretch{0, 100}) || got[0][0] != (Stretch{}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, numbers := range [][][]int{{{1, 4}}, {{1, 4, 5}, {0, 2}}, {{1, -4}, {0, 2}}} {
		if _, err := plan.Numbered(numbers); err == nil {
			t.Errorf("%v: no error", numbers)
		}
	}
}
