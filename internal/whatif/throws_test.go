package whatif

import (
	"testing"

	"lime/internal/analysis"
)

// thrownResult is a run of one section, whose line 7 is charged with time; nothing if that is 0.
func thrownResult(imbalance, time float64, last int) *analysis.Result {
	s := analysis.Section{Kind: "barrier", EndsAt: analysis.Place{File: "/src/a.c", Line: 9}, Imbalance: imbalance, LostTime: 10 * time,
		Threads: []analysis.ThreadTotal{{Thread: 0, Time: 5}, {Thread: 1, Time: 5}, {Thread: 2, Time: 5}}}
	s.Threads[last].Time = 8
	if time > 0 {
		l2 := cause("l2-miss", "/src/a.c", 7, true)
		l1 := cause("l1d-miss", "/src/a.c", 7, false)
		l2.LedgerTime, l1.LedgerTime = time*3/4, time/4
		s.Causes = []analysis.Cause{{Family: analysis.FamilyControl, Event: "loop",
			Place: analysis.Place{File: "/src/a.c", Line: 7}, LedgerTime: 1000}, l2}
		s.Candidates = []analysis.Cause{l1}
	}
	return &analysis.Result{Whole: analysis.Whole{RunTime: 1000 + time}, Sections: []analysis.Section{s}}
}

// A cause is the program's if it is there under every seed, and luck where it is not.
func TestThrow(t *testing.T) {
	own := thrownResult(0.3, 100, 1)
	for _, c := range []struct {
		name        string
		others      []*analysis.Result
		there, last int
		most        float64 // time charged
	}{
		{"the program's", []*analysis.Result{thrownResult(0.31, 110, 1), thrownResult(0.28, 90, 1), thrownResult(0.2, 50, 1)}, 4, 4, 110},
		{"luck", []*analysis.Result{thrownResult(0, 0, 0), thrownResult(0.01, 4, 2), thrownResult(0.1, 49, 1)}, 1, 2, 100},
		{"gone", []*analysis.Result{{}, {}}, 1, 1, 100},
	} {
		seeds := []int{4, 5, 6, 7}[:1+len(c.others)]
		got := Throw(own, c.others, seeds)
		s := got.Sections[0]
		if s.Cause == nil || s.Cause.Event != "l2-miss" || s.Cause.There != c.there || s.Last != c.last ||
			s.Cause.Time.Most != c.most || s.Cause.Time.Own != 100 {
			t.Errorf("%s: %+v %+v", c.name, s, s.Cause)
		}
		if s.Imbalance.Own != 0.3 || got.RunTime.Own != 1100 || len(got.Seeds) != len(seeds) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if r := over([]float64{3, 1, 2, 10}, func(x float64) float64 { return x }); r != (Range{Own: 3, Least: 1, Median: 2.5, Most: 10}) {
		t.Errorf("range %+v", r)
	}
}
