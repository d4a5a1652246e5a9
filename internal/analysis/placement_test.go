package analysis

import (
	"strings"
	"testing"
)

// A cause is the program's if it is charged with at least half as much in every other placement of
// pages that was looked at; else it says what it would be charged with there.
func TestLuckIsACauseThatIsNotThereElsewhere(t *testing.T) {
	for _, c := range []struct {
		luck []float64
		want bool
	}{
		{nil, false},
		{[]float64{0, 0, 0}, false},
		{[]float64{-30, 10, 40}, false}, // charged with 130, 90 and 60
		{[]float64{0, 0, 51}, true},
		{[]float64{100, 120, 90}, true},
	} {
		share := 0.8
		sec := &Section{Causes: []Cause{{Share: &share, LedgerTime: 100, Sentence: "It is dear."}}}
		sec.Causes[0].dealt(c.luck)
		sec.sayLuck()
		got := &sec.Causes[0]
		if got.Luck != c.want || strings.Contains(got.Sentence, "luck") != c.want {
			t.Errorf("%v: luck %v: %s", c.luck, got.Luck, got.Sentence)
		}
		for k, l := range c.luck {
			if want := 0.8 * (100 - l) / 100; got.Elsewhere[k] < want-1e-9 || got.Elsewhere[k] > want+1e-9 {
				t.Errorf("%v: %v elsewhere", c.luck, got.Elsewhere)
			}
		}
	}
}

// What misses are sampled to be gives way to what is known of other placements.
func TestLuckIsKnownBetterThanByConflicts(t *testing.T) {
	share := 0.8
	c := Cause{Share: &share, LedgerTime: 100, Subject: Subject{Luck: true}}
	c.Sentence = "It is dear." + c.Subject.luck()
	c.dealt([]float64{1, 2, 3})
	sec := &Section{Causes: []Cause{c}}
	if sec.sayLuck(); sec.Causes[0].Luck || sec.Causes[0].Sentence != "It is dear." {
		t.Errorf("%v: %s", sec.Causes[0].Luck, sec.Causes[0].Sentence)
	}
}
