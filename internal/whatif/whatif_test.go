package whatif

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// tables is a small profile: L1 misses on two lines of a.c (one line has two instructions), a
// coherence miss on one.
func tables() *profile.Tables {
	at := func(line int32) []profile.Frame { return []profile.Frame{{File: 0, Line: line}} }
	in := func(line int32, function string) []profile.Frame {
		return []profile.Frame{{File: 0, Line: line, Function: function}}
	}
	return &profile.Tables{
		Files: []profile.File{{Path: "/src/a.c"}, {Path: "/src/ba.c"}},
		Kinds: []profile.EventKind{{Name: "l1d-miss", Title: "L1 data miss"}, {Name: "coherence-miss", Title: "coherence miss"}},
		Events: []profile.Event{
			{Node: profile.None, Kind: 0, Addr: 0x10, Frames: in(5, "step"), Detail: "on table+0x8"},
			{Node: profile.None, Kind: 0, Addr: 0x14, Frames: at(5)}, {Node: profile.None, Kind: 1, Addr: 0x14, Frames: at(5)},
			{Node: profile.None, Kind: 0, Addr: 0x20, Frames: in(7, "Grid::step(float)"), Detail: "true sharing with a.c:9; on table"},
			{Kind: 0, Addr: 0x30, Node: 0},
		},
		Nodes: []profile.Node{{Function: 0}}, Functions: []profile.Function{{Name: "step"}},
	}
}

func cause(event, file string, line int, important bool) analysis.Cause {
	return analysis.Cause{Family: analysis.FamilyHardware, Event: event, Important: important, Place: analysis.Place{File: file, Line: line}}
}

// waitsFor is a cause at which threads wait, and how much shorter the run were if nobody had to.
func waitsFor(c analysis.Cause, win float64) analysis.Cause {
	c.CostShare, c.WinShare = 0.5, win
	return c
}

func result() *analysis.Result {
	return &analysis.Result{Sections: []analysis.Section{
		{Causes: []analysis.Cause{{Family: analysis.FamilyControl, Event: "loop"}, cause("coherence-miss", "/src/a.c", 5, true),
			cause("l1d-miss", "/src/a.c", 5, true), cause("l1d-miss", "/src/a.c", 7, false)}},
		{Causes: []analysis.Cause{{Family: analysis.FamilyHardware, Event: "l1d-miss", Important: true, Place: analysis.Place{Address: "0x30"}}}},
	}}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ spec, want, words string }{
		{Top, "[{16 [l1d-miss]} {20 [coherence-miss l1d-miss]}]", "coherence miss at a.c:5; L1 data miss at a.c:5"},
		{Important, "[{16 [l1d-miss]} {20 [coherence-miss l1d-miss]} {48 [l1d-miss]}]",
			"coherence miss at a.c:5; L1 data miss at a.c:5; L1 data miss at 0x30"},
		{All, "[{16 [l1d-miss]} {20 [coherence-miss l1d-miss]} {32 [l1d-miss]} {48 [l1d-miss]}]",
			"coherence miss at a.c:5; L1 data miss at a.c:5; L1 data miss at a.c:7; L1 data miss at 0x30"},
		{"l1d-miss@a.c:7", "[{32 [l1d-miss]}]", "L1 data miss at a.c:7"},
		{"L1miss@a.c:7", "[{32 [l1d-miss]}]", "L1 data miss at a.c:7"},
		{"coherence@src/a.c:5", "[{20 [coherence-miss]}]", "coherence miss at a.c:5"},
		{"a.c:5", "[{16 [l1d-miss]} {20 [coherence-miss l1d-miss]}]", "event of the machine's at a.c:5"},
		{"step", "[{16 [l1d-miss]} {32 [l1d-miss]} {48 [l1d-miss]}]", "event of the machine's in step"},
		{"L1miss@Grid::step", "[{32 [l1d-miss]}]", "L1 data miss in Grid::step"},
		{"on:table", "[{16 [l1d-miss]} {32 [l1d-miss]}]", "event of the machine's on table"},
		{"coherence@on:table", "", ""},
	} {
		got, err := Choose(result(), tables(), nil, c.spec)
		if c.want == "" && err != nil {
			continue
		}
		if err != nil || fmt.Sprint(got.Erasures) != c.want || strings.Join(got.Words, "; ") != c.words {
			t.Errorf("%s: %v %q, %v; want %s %q", c.spec, got.Erasures, got.Words, err, c.want, c.words)
		}
	}
}

func TestChooseErrors(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"l1d-miss", "[KIND@]PLACE"}, {"l1d-miss@a.c", "[KIND@]PLACE"}, {"l1d-miss@a.c:x", "no line number"},
		{"l1d-miss@", "[KIND@]PLACE"}, {"on:", "on:DATA"},
		{"l1d-miss@a.c:0", "no line number"}, {"teapot@a.c:5", "coherence-miss"},
		{"l1d-miss@b.c:5", "no L1 data miss"}, {"l1d-miss@a.c:6", "no L1 data miss"},
	} {
		if _, err := Choose(result(), tables(), nil, c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.spec, err, c.want)
		}
	}
	if _, err := Choose(&analysis.Result{}, tables(), nil, Top); err == nil {
		t.Error("top of nothing: no error")
	}
	waits := tables()
	waits.Kinds = append(waits.Kinds, profile.NewKind(profile.Measured, profile.KindLockWait))
	first := func(c analysis.Cause) *analysis.Result {
		return &analysis.Result{Sections: []analysis.Section{{}, {Causes: []analysis.Cause{c, cause("l1d-miss", "/src/a.c", 5, true)}}}}
	}
	branch := cause("branch", "/src/a.c", 3, true)
	branch.Family = analysis.FamilyControl
	for _, c := range []struct {
		spec string
		res  *analysis.Result
		want string
	}{
		{"lock-wait@a.c:5", result(), "what is done under it"},
		{Top, first(cause("lock-wait", "/src/a.c", 3, true)), "what is done under it"},
		{Top, first(waitsFor(cause("lock-wait", "/src/a.c", 3, true), 0.4)), "shorter by 40.0 % at most"},
		{Top, first(branch), "--even a.c:3"},
	} {
		if _, err := Choose(c.res, waits, nil, c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.spec, err, c.want)
		}
	}
	if _, err := Choose(result(), &profile.Tables{}, nil, "l1d-miss@a.c:5"); err == nil || !strings.Contains(err.Error(), "--machine") {
		t.Errorf("without events: %v", err)
	}
}

func TestCompare(t *testing.T) {
	section := func(line int, imbalance, lost, time float64) analysis.Section {
		return analysis.Section{Kind: "barrier", EndsAt: analysis.Place{File: "a.c", Line: line},
			Imbalance: imbalance, LostTime: lost, Time: time}
	}
	before := &analysis.Result{Sections: []analysis.Section{section(1, 0.5, 100, 50), section(2, 0.1, 10, 20), section(3, 0, 0, 5)}}
	after := &analysis.Result{Sections: []analysis.Section{section(3, 0.1, 2, 5), section(1, 0.2, 20, 30)}}
	c := Compare(before, after, []string{"x"})
	if len(c.Sections) != 3 {
		t.Fatalf("%d sections", len(c.Sections))
	}
	for i, want := range []struct {
		lostAfter, accounted float64
		gone                 bool
	}{{20, 0.8, false}, {0, 1, true}, {2, 0, false}} {
		s := c.Sections[i]
		if s.LostAfter != want.lostAfter || s.Accounted != want.accounted || s.Gone != want.gone {
			t.Errorf("section %d: %+v, want %+v", i, s, want)
		}
	}
}

func TestAddEven(t *testing.T) {
	c := &Comparison{RunTimeAfter: 100}
	c.AddEven(&analysis.Section{Imbalance: 0.5, LostTime: 40, Time: 40}, 40, 30, 0.25)
	s := c.Sections[0]
	if s.TimeAfter != 30 || s.LostAfter != 15 || c.RunTimeAfter != 90 {
		t.Errorf("%+v, run %v", s, c.RunTimeAfter)
	}
}
