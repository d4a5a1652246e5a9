package report

import (
	"strings"
	"testing"

	"lime/internal/analysis"
)

// bare takes the lines off a place, as of a program that was built without -g.
func bare(p *Place) {
	p.File, p.Line, p.Function, p.Address, p.Image = "", 0, p.Function+"+0x1f", "0x11ec", "/home/u/app"
}

// unevenReports are reports of what most is lost to because of a cause: uneven threads, threads of another
// section that wait, and threads of one section of which some have more to do.
func unevenReports(of func(*Place)) map[string]*Report {
	out := map[string]*Report{}
	for name, x := range map[string]struct {
		term    string
		awaited float64
	}{"imbalance": {analysis.TermImbalance, 0}, "another section waits": {analysis.TermWait, 0.6}, "some have more to do": {analysis.TermWait, 0}} {
		c := Cause{Title: "loop iterations", Family: analysis.FamilyControl, Place: Place{File: "a.c", Line: 7, Function: "work"}}
		end := Place{File: "a.c", Line: 30, Function: "main"}
		of(&c.Place)
		of(&end)
		s := Section{ID: 3, Causes: []Cause{c}, Awaited: x.awaited, Loss: LossShares{Useful: 0.4, Wait: 0.6},
			Threads: []ThreadTime{{Time: 100, LockWait: 10}, {Time: 100, LockWait: 80}, {Time: 100, LockWait: 80}, {Time: 100, LockWait: 70}}}
		l := &Loss{Cores: 4, CoreTime: 400, LossShares: LossShares{Useful: 0.4},
			Terms: []LossTerm{{Name: x.term, Share: 0.6, Time: 240, Places: []LossPlace{{Place: end, Section: 3, Event: "x", Share: 0.6, Time: 240}}}}}
		l.Headline = l.headline()
		out[name] = &Report{Loss: l, Sections: []Section{s}, Notes: []Note{{Code: noteNoDebugInfo, Text: "/home/u/app"}}}
		out[name].nameCause()
	}
	return out
}

// A program without lines has its cause in the first sentence like one with lines, and is told how
// to have them.
func TestHeadlineWithoutLines(t *testing.T) {
	with, without := unevenReports(func(*Place) {}), unevenReports(bare)
	for name, r := range with {
		want := strings.NewReplacer("a.c:7 in work", "work+0x1f", "a.c:30 in main", "main+0x1f").Replace(r.Loss.Headline) +
			" For lines in place of addresses, build app with -g and do not strip it."
		if got := without[name].Loss.Headline; got != want || !strings.Contains(got, "loop iterations at work+0x1f") {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
}

// Where no thread does more often what takes it longer, the first sentence says that, and where;
// but not beside a cause, and not of another section.
func TestHeadlineSaysWhatTakesLonger(t *testing.T) {
	at := &Place{File: "a.c", Line: 7, Function: "work"}
	cause := []Cause{{Title: "loop iterations", Place: Place{File: "a.c", Line: 8}}}
	spent := &Ledger{Spent: &Spent{Place: *at, Share: 0.9}}
	for _, row := range []struct {
		name     string
		sections []Section
		awaited  bool // it is known what the threads wait for
		want     string
	}{
		{"none", []Section{{ID: 3}}, false, ""},
		{"awaited", []Section{{ID: 3}}, true, "They wait for what is done at a.c:9."},
		{"slower", []Section{{ID: 3, Slower: at}}, true, "The same work takes longer in some threads, most of it at a.c:7 in work."},
		{"slower elsewhere", []Section{{ID: 3}, {ID: 4, Slower: at}}, false, ""},
		{"a cause", []Section{{ID: 3, Slower: at, Causes: cause}}, true, "The first cause: loop iterations at a.c:8."},
		{"a cause in a barrier", []Section{{ID: 3, Kind: "built-barrier", Causes: cause, EndsAt: cause[0].Place, Ledger: spent}}, false,
			"The last one to come works longer, most of it at a.c:7 in work."},
		{"a loop that is dealt out, and is the region", []Section{{ID: 3, Kind: "region-end", Causes: cause, EndsAt: cause[0].Place, Ledger: spent}}, false,
			"The first cause: loop iterations at a.c:8."},
		{"a cause in a barrier, and no more known", []Section{{ID: 3, Kind: "barrier", Causes: cause, EndsAt: cause[0].Place, Ledger: &Ledger{}}}, false,
			"The first cause: loop iterations at a.c:8."},
		{"a cause elsewhere", []Section{{ID: 3, Kind: "barrier", Causes: cause, EndsAt: *at, Ledger: spent}}, false, "The first cause: loop iterations at a.c:8."},
	} {
		end := LossPlace{Place: Place{File: "a.c", Line: 30}, Section: 3, Share: 0.6, Time: 240}
		if row.awaited {
			end.Awaits = []Awaits{{Place: Place{File: "a.c", Line: 9}, Share: 1}}
		}
		l := &Loss{Cores: 4, CoreTime: 400, LossShares: LossShares{Useful: 0.4},
			Terms: []LossTerm{{Name: analysis.TermImbalance, Share: 0.6, Time: 240, Places: []LossPlace{end}}}}
		l.Headline = l.headline()
		plain := l.Headline
		r := &Report{Loss: l, Sections: row.sections}
		r.nameCause()
		useful := "40.0 % is useful work."
		want := strings.TrimSuffix(plain, useful) + strings.TrimLeft(row.want+" "+useful, " ")
		if l.Headline != want {
			t.Errorf("%s: %s\nwant %s", row.name, l.Headline, want)
		}
	}
}

// What the reader has not built, or has lines, is no reason to build anything.
func TestLinesAreOfTheProgramsOwn(t *testing.T) {
	r := &Report{Notes: []Note{{Code: noteNoDebugInfo, Text: "/usr/lib/libgomp.so.1.0.0"}, {Code: noteNoDebugInfo, Text: "/home/u/app"}}}
	for _, p := range []*Place{nil, {Image: "/usr/lib/libgomp.so.1.0.0"}, {Image: "/home/u/app", Line: 7}, {Image: "/home/u/other"}, {}} {
		if got := r.forLines(p); got != "" {
			t.Errorf("%+v: %s", p, got)
		}
	}
}

// Where one thread of a section is left alone and only the section's end is known, the first sentence
// names the section's first cause; not where several threads are too few for the cores, where a place is
// known, nor a wait.
func TestHeadlineSaysWhatKeepsOneAlone(t *testing.T) {
	branch := Cause{Title: "branch", Place: Place{File: "a.c", Line: 8, Function: "work"}}
	wait := branch
	wait.CostShare = 0.2
	threads := func(times ...float64) (out []ThreadShare) {
		for i, x := range times {
			out = append(out, ThreadShare{Thread: i, Time: x})
		}
		return out
	}
	working := func(times ...float64) Cause {
		c := branch
		for i, x := range times {
			c.Counts = append(c.Counts, ThreadCount{Thread: i, Time: x})
		}
		return c
	}
	for _, row := range []struct {
		name   string
		causes []Cause
		place  LossPlace
		named  bool
	}{
		{"one alone", []Cause{branch}, LossPlace{Threads: threads(240)}, true},
		{"one for most of it", []Cause{branch}, LossPlace{Threads: threads(200, 30, 10)}, true},
		{"two", []Cause{branch}, LossPlace{Threads: threads(120, 120)}, false},
		{"two, of whom one only ends", []Cause{working(200, 1)}, LossPlace{Threads: threads(120, 120)}, true},
		{"two at work", []Cause{working(110, 110)}, LossPlace{Threads: threads(120, 120)}, false},
		{"nobody knows who", []Cause{branch}, LossPlace{}, false},
		{"a wait", []Cause{wait}, LossPlace{Threads: threads(240)}, false},
		{"no cause", nil, LossPlace{Threads: threads(240)}, false},
		{"where is known", []Cause{branch}, LossPlace{Threads: threads(240), Spent: &Spent{Place: Place{File: "a.c", Line: 9}, Share: 1}}, false},
	} {
		p := row.place
		p.Place, p.Section, p.Share, p.Time = Place{File: "a.c", Line: 30, Function: "main"}, 3, 0.6, 240
		l := &Loss{Cores: 4, CoreTime: 400, LossShares: LossShares{Useful: 0.4},
			Terms: []LossTerm{{Name: analysis.TermSerial, Share: 0.6, Time: 240, Places: []LossPlace{p}}}}
		l.Headline = l.headline()
		want := l.Headline
		if row.named {
			want = strings.Replace(want, "40.0 % is useful", "The first cause: branch at a.c:8 in work. 40.0 % is useful", 1)
		}
		r := &Report{Loss: l, Sections: []Section{{ID: 3, Causes: row.causes}}}
		r.nameCause()
		if got := r.Loss.Headline; got != want {
			t.Errorf("%s: %s\nwant %s", row.name, got, want)
		}
	}
}

// Who waits for a lock is told where that is taken by those who hold it, if it is elsewhere.
func TestLocksSayWhereTheyAreHeld(t *testing.T) {
	at := Place{File: "src/a.cpp", Line: 31, Function: "read"}
	for _, c := range []struct{ held, want string }{
		{"", " (lock m; 2 threads)"},
		{"a.cpp:31", " (lock m; 2 threads)"},
		{"a.cpp:36", " (lock m; held meanwhile by who took it at a.cpp:36; 2 threads)"},
		{"log.cpp:31", " (lock m; held meanwhile by who took it at log.cpp:31; 2 threads)"},
	} {
		p := LossPlace{Place: at, Data: "m", Held: c.held, Among: 2, Time: 10}
		if got := p.about(analysis.TermLock); got != c.want {
			t.Errorf("held at %q: %q, want %q", c.held, got, c.want)
		}
	}
}
