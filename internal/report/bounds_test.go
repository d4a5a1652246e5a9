package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/analysis/synth"
)

// percents finds the shares in a text.
var percents = regexp.MustCompile(`(-?[0-9][0-9,.]*) %`)

// inBounds fails for every share in a text that is more than the whole of anything.
func inBounds(t *testing.T, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		for _, m := range percents.FindAllStringSubmatch(line, -1) {
			x, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
			if err != nil || math.Abs(x) > 100.05 {
				t.Errorf("%s: %s", m[0], line)
			}
		}
	}
}

// No share is beyond the whole, whatever makes up for a row; what is told instead is how much it adds.
func TestNoShareIsBeyondTheWhole(t *testing.T) {
	for _, share := range []float64{0.9, 1, 1.2, 3.339, -2.4} {
		res, tab := sample(8)
		s := &res.Sections[0]
		acc := *s.Ledger
		s.Ledger = &acc
		top := &s.Causes[0]
		top.Share, top.LedgerTime = &share, share*acc.Total
		acc.Rows[0].Share, acc.Rows[0].Cycles = share, share*acc.Total
		s.Candidates[0].Share = &share
		r := Build(res, tab)
		text := written(t, r)
		inBounds(t, text)
		if told := strings.Contains(text, "explains "+strconv.FormatFloat(100*share, 'f', 1, 64)); told != (math.Abs(share) <= 1) {
			t.Errorf("share %.3f: %s", share, text)
		}
	}
}

func written(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := WriteText(&b, r, TextOptions{All: true, Width: 100}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Of made programs, too; and the account adds up: its terms to the whole, and the places of each to
// it, the shares of a stretch's line included.
func TestAccountsOfMadeProgramsAddUp(t *testing.T) {
	for seed := range uint64(30) {
		p := synth.Plant(seed)
		res, err := analysis.Run(p.Profile, analysis.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := Build(res, p.Profile.Tables())
		inBounds(t, written(t, r))
		sum := 0.0
		for _, term := range r.Loss.Terms {
			sum += term.Share
			places := term.RestShare
			for i := range term.Places {
				place := &term.Places[i]
				places += place.Share
				if place.told() > place.Share+1e-12 {
					t.Errorf("seed %d: %s: %.6f of a place of %.6f", seed, term.Name, place.told(), place.Share)
				}
			}
			if math.Abs(places-term.Share) > 1e-9 {
				t.Errorf("seed %d: the places of %s sum to %.9f of %.9f", seed, term.Name, places, term.Share)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("seed %d: the terms sum to %.9f", seed, sum)
		}
	}
}
