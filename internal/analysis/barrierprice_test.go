package analysis

import (
	"math"
	"slices"
	"testing"

	"lime/internal/profile"
)

// TestBarriersPrice: when all have come to a runtime's barrier, nobody works until they are let go. That
// is what the barrier takes; at a barrier of the program's own one may have to do something first, and
// with fewer cores than threads they wait for a core.
func TestBarriersPrice(t *testing.T) {
	for _, c := range []struct {
		kind  profile.SectionKind
		cores int
		price uint64
		term  string
		told  bool
	}{
		{profile.SectionBarrier, 4, 300, TermOverhead, true},
		{profile.SectionBarrier, 4, 50, TermOverhead, false},
		{profile.SectionBarrier, 2, 300, TermWait, false},
		{profile.SectionBuilt, 4, 300, TermWait, false},
		{profile.SectionRegion, 4, 300, TermOverhead, false},
	} {
		p := profile.New(profile.Meta{ClockUnit: "instructions", Complete: true, Cores: c.cores, RunTime: 10 * (100 + c.price)})
		p.AddSection(profile.Section{Kind: c.kind, EndNode: profile.None})
		for range 4 {
			p.AddThread(profile.Thread{})
		}
		for i := range uint64(10) {
			at := i * (100 + c.price)
			in := &profile.Instance{}
			for th := range 4 {
				in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(th), Start: at, Arrive: at + 100, Release: at + 100 + c.price,
					Entry: profile.None, Exit: profile.None})
			}
			if err := p.WriteInstance(in); err != nil {
				t.Fatal(err)
			}
		}
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkIdentity(t, res.Loss)
		if got, want := res.Loss.Term(c.term).Time, float64(10*int(c.price)*min(4, c.cores)); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s, %d cores: %s is %v, want %v", c.kind, c.cores, c.term, got, want)
		}
		meets := c.kind == profile.SectionBarrier && c.term == TermOverhead
		for _, term := range res.Loss.Terms {
			for _, x := range term.Places {
				if x.Meets != (meets && term.Name == TermOverhead) {
					t.Errorf("%s, %d cores: %s: a barrier's overhead: %t", c.kind, c.cores, term.Name, x.Meets)
				}
			}
		}
		if told := slices.ContainsFunc(res.Sections[0].Verdicts, func(v Verdict) bool { return v.Code == "barrier-cost" }); told != c.told {
			t.Errorf("%s, %d cores, %d: told %v", c.kind, c.cores, c.price, told)
		}
	}
}
