package analysis

import (
	"math"
	"testing"

	"lime/internal/analysis/synth"
)

// Whatever part of the run a section is, behind whatever calls its decision lies, in the program or
// in what it has a library do: the first cause is the
// line that was planted; the account adds up; and no row is out of proportion.
func TestPlantedDecisions(t *testing.T) {
	runs := uint64(300)
	if testing.Short() {
		runs = 40
	}
	for seed := range runs {
		p := synth.Plant(seed)
		res, err := Run(p.Profile, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Sections) != len(p.Lines) {
			t.Fatalf("seed %d: %d sections of %d", seed, len(res.Sections), len(p.Lines))
		}
		for i := range res.Sections {
			s := &res.Sections[i]
			k := int(s.ID - p.First)
			if len(s.Causes) == 0 || s.Causes[0].Line != int(p.Lines[k]) {
				t.Errorf("seed %d, section %d (%.6f of the run lost): %s at line %d, causes %v", seed, k, s.LostShare,
					p.Names[k], p.Lines[k], causeLines(s))
				continue
			}
			if !s.Balanced && !s.Causes[0].Important {
				t.Errorf("seed %d, section %d: the cause at line %d is not important", seed, k, p.Lines[k])
			}
			inProportion(t, s)
		}
	}
}

func causeLines(s *Section) (lines []int) {
	for i := range s.Causes {
		lines = append(lines, s.Causes[i].Line)
	}
	return lines
}

// inProportion checks that an account adds up to the whole, that no row is much larger than that,
// and that the causes are no more than the rows.
func inProportion(t *testing.T, s *Section) {
	t.Helper()
	sum, causes := s.Ledger.Rest.Share, 0.0
	for i := range s.Ledger.Rows {
		row := &s.Ledger.Rows[i]
		if sum += row.Share; math.Abs(row.Share) > 1.5 {
			t.Errorf("section %d: a %s at line %d has %.2f of the imbalance", s.ID, row.Kind, row.Place.Line, row.Share)
		}
	}
	for i := range s.Causes {
		causes += *s.Causes[i].Share
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("section %d: the rows sum to %.12f", s.ID, sum)
	}
	if causes > 1.5 {
		t.Errorf("section %d: the causes sum to %.3f", s.ID, causes)
	}
}
