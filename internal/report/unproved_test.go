package report

import (
	"strings"
	"testing"

	"lime/internal/analysis"
)

// The headline claims what is proved, if it is worth a word; what is not is said beside it, and is
// no finding.
func TestHeadlineClaimsWhatIsProved(t *testing.T) {
	for _, c := range []struct {
		imbalance, unproved float64
		begins, says        string
	}{
		{0.3, 0, "30.0 % of the time of 4 cores is lost to imbalance", "70.0 % is useful work."},
		{0.1, 0.4, "10.0 % of the time of 4 cores is lost to imbalance", "50.0 % is useful work, and 40.0 % is lost to differences"},
		{0.005, 0.2, "No loss is proved to be the program's: 79.5 % of the time", ", and 20.0 % is lost to differences"},
		{0, 0.2, "No loss is proved to be the program's: 80.0 % of the time", ", and 20.0 % is lost to differences"},
		{0, 0.005, "Next to nothing is lost: 99.5 %", ""},
		{0, 0, "Next to nothing is lost: 100.0 %", ""},
	} {
		place := []LossPlace{{Share: 1, Place: Place{File: "a.c", Line: 3}}}
		l := &Loss{LossShares: LossShares{Useful: 1 - c.imbalance - c.unproved, Unproved: c.unproved}, Cores: 4, CoreTime: 100,
			Terms: []LossTerm{{Name: analysis.TermImbalance, Share: c.imbalance, Time: 100 * c.imbalance, Places: place},
				{Name: analysis.TermUnproved, Share: c.unproved, Time: 100 * c.unproved, Places: place}}}
		if got := l.headline(); !strings.HasPrefix(got, c.begins) || !strings.Contains(got, c.says) {
			t.Errorf("%v proved, %v not: %s", c.imbalance, c.unproved, got)
		}
		for _, f := range findings(&Report{Loss: l}, "") {
			if f.rule == "loss/"+analysis.TermUnproved {
				t.Errorf("a finding: %+v", f)
			}
		}
	}
}

// What is too little to be a headline has no cause in one: whatever else is lost, the sentence that says
// that no loss is proved, or that next to nothing is lost, stands alone.
func TestHeadlineOfLittleNamesNoCause(t *testing.T) {
	at := Place{File: "a.c", Line: 7}
	for _, term := range []string{analysis.TermImbalance, analysis.TermWait, analysis.TermSerial, analysis.TermOverhead} {
		for _, unproved := range []float64{0, 0.005, 0.4} {
			for _, unused := range []float64{0, 0.3} {
				for _, little := range []float64{0.002, 0.009} {
					place := LossPlace{Place: Place{File: "a.c", Line: 30}, Section: 3, Share: little, Time: 100 * little,
						Threads: []ThreadShare{{Time: 100 * little}}}
					lost := LossTerm{Name: term, Share: little, Time: 100 * little, Places: []LossPlace{place}}
					if unused > 0 && term == analysis.TermSerial {
						lost.Share, lost.Time = little+unused, 100*(little+unused)
						lost.Places = []LossPlace{{Why: analysis.NeverUsed, Cores: 1, Share: unused, Time: 100 * unused, Section: -1}, place}
					}
					l := &Loss{LossShares: LossShares{Useful: 1 - lost.Share - unproved, Unproved: unproved}, Cores: 4, CoreTime: 100,
						Terms: []LossTerm{lost}}
					l.Headline = l.headline()
					want := l.Headline
					r := &Report{Loss: l, Sections: []Section{{ID: 3, Awaited: 1, Loss: LossShares{Wait: 1},
						Threads: []ThreadTime{{Time: 100}},
						Causes:  []Cause{{Title: "branch", Family: analysis.FamilyControl, Place: at}},
						Tasks:   &Tasks{Place: at, Count: 9, RuntimeShare: 0.5, Advice: analysis.AdviceCoarsen}}}}
					r.nameCause()
					if l.Headline != want {
						t.Errorf("%s, %v not proved, %v never used: %s\nwant %s", term, unproved, unused, l.Headline, want)
					}
				}
			}
		}
	}
}

// A section says what of its imbalance is doubted: all, if that is most; of what chance dealt unevenly
// nothing is to be won; and what is not the larger part of it does not make the rest doubtful.
func TestSectionSaysWhatIsDoubted(t *testing.T) {
	const doubt, chance = "which nothing proves to be the program's", "but for the chance of who took which piece of work"
	for _, c := range []struct {
		imbalance, unproved, chance float64
		says, not                   string
	}{
		{0.4, 0, 0, "it would run 2.00 times as fast: 50 instructions to win", "chance"},
		{0, 0.4, 0, doubt, "to win"},
		{0.4, 0.01, 0, "it would run 2.00 times as fast: 50 instructions to win", doubt}, // a wait that happened once
		{0.01, 0.4, 49, doubt, "to win"},
		{0.3, 0.1, 20, chance + ", it would run 1.43 times as fast: 30 instructions to win", doubt},
	} {
		s := &Section{Kind: "barrier", Imbalance: 0.4, Time: 100, TimeToWin: 50, Speedup: 2, Chance: c.chance, Instances: 2,
			Loss: LossShares{Imbalance: c.imbalance, Unproved: c.unproved}}
		got := sectionWords(&Report{Program: Program{ClockUnit: "instructions"}}, s)
		if !strings.Contains(got, c.says) || strings.Contains(got, c.not) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
