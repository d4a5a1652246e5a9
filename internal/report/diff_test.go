package report

import (
	"bytes"
	"strings"
	"testing"
)

// before and after are two runs: the branch at 535 was fixed in part, the
// lines moved, one cause is new.
func beforeAndAfter() (a, b *Report) {
	a, b = Build(sample(8)), Build(sample(8))
	b.Program.RunTime *= 0.85
	b.Whole.LostShare, b.Whole.ParallelEfficiency = 0.11, 0.79
	s := &b.Sections[0]
	s.EndsAt.Line, s.Imbalance, s.LostShare, s.AllLost = 602, 0.12, 0.07, 0.07
	b.Loss.CoreTime *= 0.85 // won at one place, where all else takes as long as before
	b.Loss.Terms[1].Share -= 0.15
	for i := range b.Loss.Terms {
		t := &b.Loss.Terms[i]
		t.Share /= 0.85
		for k := range t.Places {
			if i == 1 && k == 0 {
				t.Places[k].Line, t.Places[k].Share = 602, t.Places[k].Share-0.15
			}
			t.Places[k].Share /= 0.85
		}
	}
	b.Loss.Useful = b.Loss.Terms[0].Share
	for i := range b.Sections[1:] {
		b.Sections[1+i].AllLost /= 0.85
	}
	for i := range s.Course.Points {
		s.Course.Points[i].Imbalance = 0.12
	}
	c := s.Causes[0]
	c.Line, c.Share = 539, 0.4
	s.Causes[0] = c
	s.Causes = append(s.Causes, Cause{Rank: 2, Event: "l1d-miss",
		Place: Place{File: "src/lu.c", Line: 612, Function: "daxpy"}, Share: 0.55, ShareKind: "ledger"})
	b.Sections = b.Sections[:2]
	return a, b
}

func oneRun(r *Report) *runSide { return &runSide{runs: []*Report{r}, unit: 1} }

func TestDiffGolden(t *testing.T) {
	var b bytes.Buffer
	if err := WriteDiffText(&b, Compare(beforeAndAfter()), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.txt", b.Bytes())
	b.Reset()
	if err := WriteDiffJSON(&b, Compare(beforeAndAfter())); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.json", b.Bytes())
}

func TestDiffOfARunWithItself(t *testing.T) {
	a := Build(sample(8))
	d := Compare(a, Build(sample(8)))
	for _, f := range d.Whole {
		if f.Word != ChangeSame {
			t.Errorf("%s is %s", f.Name, f.Word)
		}
	}
	for _, s := range d.Sections {
		if s.Word != ChangeSame || s.Was != nil {
			t.Errorf("section %s is %s", s.EndsAt, s.Word)
		}
		for _, c := range s.Causes {
			if c.Word != ChangeSame {
				t.Errorf("cause %s is %s", c.Place, c.Word)
			}
		}
	}
	var b bytes.Buffer
	if err := WriteDiffText(&b, d, TextOptions{}); err != nil || !strings.Contains(b.String(), "No section changed") {
		t.Errorf("%v:\n%s", err, &b)
	}
}

// Without lines, addresses tell the barriers of one function apart, whatever their order.
func TestDiffWithoutLines(t *testing.T) {
	section := func(address string, lost float64) Section {
		at := Place{Function: "worker", Address: address}
		return Section{Kind: "barrier", EndsAt: at, Imbalance: lost, LostShare: lost,
			Causes: []Cause{{Event: "branch", Place: at, Share: 1, ShareKind: "ledger"}}}
	}
	a := &Report{Sections: []Section{section("0x401010", 0.3), section("0x401020", 0.1)}}
	b := &Report{Sections: []Section{section("0x401020", 0.3), section("0x401010", 0.1)}}
	for _, s := range Compare(a, b).Sections {
		want := map[string]string{"0x401010": ChangeBetter, "0x401020": ChangeWorse}[s.EndsAt.Address]
		if s.Word != want {
			t.Errorf("%s is %q, want %q", s.EndsAt.Address, s.Word, want)
		}
	}
}

func TestDiffFindsWhatMovedIsNewAndGone(t *testing.T) {
	d := Compare(beforeAndAfter())
	words := map[string]string{}
	for _, s := range d.Sections {
		words[s.EndsAt.Short()] = s.Word
		for _, c := range s.Causes {
			words[c.Short()] = c.Word
		}
	}
	for place, want := range map[string]string{
		"lu.c:602": ChangeBetter, "lu.c:539": ChangeBetter, "lu.c:612": ChangeNew, "lu.c:311": ChangeGone, "worker+0x44": ChangeSame,
	} {
		if words[place] != want {
			t.Errorf("%s is %q, want %q", place, words[place], want)
		}
	}
}

func TestChangesBelowTheNoiseAreNone(t *testing.T) {
	a, b := Build(sample(8)), Build(sample(8))
	a.Program.Collector, b.Program.Collector = "record", "record"
	b.Sections[0].Imbalance += 0.01 // the sample's instances scatter by more
	if got := Compare(a, b).Sections[0].Imbalance; got.Word != ChangeSame || got.Noise < 0.01 {
		t.Errorf("%+v", got)
	}
	exact := func(r *Report) *runSide {
		same := *r
		same.Program.Collector = "simulate"
		return oneRun(&same)
	}
	if got := sectionDiff(exact(a), exact(b), &a.Sections[0], &b.Sections[0]).Imbalance; got.Word != ChangeWorse {
		t.Errorf("a simulated run has noise: %+v", got)
	}
	b.Sections[0].Imbalance += 0.2
	d := Compare(a, b)
	if got := d.Sections[0].Imbalance; got.Word != ChangeWorse {
		t.Errorf("%+v", got)
	}
}

func TestGates(t *testing.T) {
	a, b := beforeAndAfter() // b is better than a, apart from a new cause
	for _, test := range []struct {
		gate        string
		forth, back bool // passed by a -> b, by b -> a
	}{
		{"imbalance>+5%", false, true},
		{"imbalance > +30%", false, false},
		{"imbalance>30%", false, true},
		{"imbalance>90%", false, false},
		{"lost>+5%", false, true},
		{"lost>30%", false, true},
		{"lock>+1%", false, false}, // its share grew, because the rest has become less
		{"lock>3.5%", true, false},
		{"off_core>1%", false, false},
		{"efficiency<-5%", false, true},
		{"efficiency<10%", false, false},
		{"runtime>+10%", false, true},
		{"runtime>+90%", false, false},
		{"causes>+0", true, false},
		{"causes>1", true, false},
	} {
		g, err := ParseGate(test.gate)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(g.Check(Compare(a, b))) > 0; got != test.forth {
			t.Errorf("%s forth: %v", test.gate, got)
		}
		if got := len(g.Check(Compare(b, a))) > 0; got != test.back {
			t.Errorf("%s back: %v", test.gate, got)
		}
	}
}

func TestParseGateRefuses(t *testing.T) {
	for _, text := range []string{"", "imbalance", "imbalance>", "nonsense>5%", "imbalance=5%", "lost>5%%",
		"runtime>5", "imbalance>+1e5%", "lost>" + strings.Repeat("9", 400)} {
		if g, err := ParseGate(text); err == nil {
			t.Errorf("%q: %+v", text, g)
		}
	}
}

func FuzzParseGate(f *testing.F) {
	f.Add("imbalance>+5%")
	f.Add("runtime < -3.5 %")
	d := Compare(beforeAndAfter())
	f.Fuzz(func(t *testing.T, text string) {
		if g, err := ParseGate(text); err == nil {
			g.Check(d)
		}
	})
}

// Causes of a section that matters in neither run are no news; of one that begins to matter they
// are, and those of a report of an earlier version.
func TestDiffTellsWhatMatters(t *testing.T) {
	cause := []Cause{{Event: "loop", Place: Place{File: "a.c", Line: 3}, Share: 1}}
	for _, c := range []struct {
		name string
		a, b *Section
		want int
	}{
		{"neither", &Section{ParallelShare: 0.001, Causes: cause}, &Section{ParallelShare: 0.001}, 0},
		{"the second", &Section{ParallelShare: 0.001}, &Section{ParallelShare: 0.1, Matters: true, Causes: cause}, 1},
		{"the first", &Section{ParallelShare: 0.1, Matters: true, Causes: cause}, &Section{ParallelShare: 0.001, Causes: cause}, 1},
		{"new, and small", nil, &Section{ParallelShare: 0.001, Causes: cause}, 0},
		{"new", nil, &Section{ParallelShare: 0.1, Matters: true, Causes: cause}, 1},
		{"gone", &Section{Causes: cause}, nil, 1},
	} {
		if got := causeDiffs(oneRun(&Report{}), oneRun(&Report{}), c.a, c.b); len(got) != c.want {
			t.Errorf("%s: %d causes, want %d", c.name, len(got), c.want)
		}
	}
}
