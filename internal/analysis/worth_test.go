package analysis

import (
	"slices"
	"testing"

	"lime/internal/profile"
)

// Each limit of what is told at length and of what counts as even moves the answer: a section
// matters by its share of the parallel part, and is balanced by what one event of scheduling takes,
// unless many passages make that matter.
func TestWorth(t *testing.T) {
	for _, c := range []struct {
		name              string
		win, time, others float64 // lost in each passage by the mean of 10 threads, of so much; time of the threads in other sections
		passages          int
		matters, balanced bool
	}{
		{"nothing", 0, 1e6, 1e9, 1, false, true},
		{"one event", 200, 1e6, 1e9, 1, false, true},
		{"two events", 500, 1e6, 1e9, 1, false, false},
		{"one event of a short passage", 200, 1000, 1e9, 1, false, false},
		{"one event, the only section", 200, 1e6, 0, 1, false, true},
		{"one event in every short passage, the only section", 200, 10_000, 0, 1000, true, false},
		{"much, of a section that is little", 3e5, 1e6, 1e10, 1, false, false},
		{"much", 3e5, 1e6, 1e7, 1, true, false},
	} {
		n := float64(c.passages)
		s := &summary{instances: c.passages, win: c.win * n, lost: 10 * c.win * n, time: c.time * n, span: 10 * c.time * n}
		r := &runner{meta: &profile.Meta{ClockUnit: "instructions"}, parallel: s.span + c.others}
		sec := &Section{LostTime: s.lost, Imbalance: s.lost / s.span}
		r.weigh(sec)
		if got := r.even(sec, s); got != c.balanced || sec.Matters != c.matters {
			t.Errorf("%s: balanced %v, matters %v", c.name, got, sec.Matters)
		}
	}
}

// A section is worth a person's time for all that it loses; what its threads differ in is no cause
// of the rest.
func TestAllLossMatters(t *testing.T) {
	for _, c := range []struct {
		name    string
		sec     Section
		matters bool
		causes  int
		told    bool
	}{
		{"imbalance", Section{Matters: true, AllLost: 0.3, Causes: []Cause{{Important: true}}}, true, 1, false},
		{"nothing", Section{AllLost: 0.005, Causes: []Cause{{Important: true}}}, false, 1, false},
		{"waits", Section{AllLost: 0.7, Loss: LossShares{TermWait: 0.7, TermSerial: 0.2}, Causes: []Cause{{Important: true}}}, true, 0, true},
		{"locks", Section{AllLost: 0.7, Loss: LossShares{TermLock: 0.6, TermWait: 0.1},
			Causes: []Cause{{Important: true, CostShare: 0.5}, {Important: true}}}, true, 1, true},
	} {
		res := &Result{Sections: []Section{c.sec}}
		(&runner{}).weighAll(res)
		sec, important := &res.Sections[0], 0
		for i := range sec.Causes {
			if sec.Causes[i].Important {
				important++
			}
		}
		told := slices.ContainsFunc(sec.Verdicts, func(v Verdict) bool { return v.Code == "other-loss" })
		if sec.Matters != c.matters || important != c.causes || told != c.told {
			t.Errorf("%s: matters %t, %d causes, verdicts %v", c.name, sec.Matters, important, sec.Verdicts)
		}
	}
}

// Threads that had ended before others began do not meet them at the end of the program.
func TestWhoStayed(t *testing.T) {
	in := &profile.Instance{Parts: []profile.Part{{Arrive: 10, Release: 10}, {Arrive: 50, Release: 90}, {Arrive: 90, Release: 90}}}
	if got := stayed(in, profile.SectionTail); got != 2 {
		t.Errorf("%d threads at the program's end, want 2", got)
	}
	if got := stayed(in, profile.SectionJoin); got != 3 {
		t.Errorf("%d threads at a join, want 3", got)
	}
}
