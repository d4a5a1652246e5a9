package view

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/report"
)

// goldenRuns are the profiles and reports that other packages hold their output to, and the
// fixtures of this one.
func goldenRuns(t *testing.T) map[string]*Run {
	t.Helper()
	runs := map[string]*Run{"fixture": runOf(fixture(t, 12, 24)), "waste": runOf(wasteful(t))}
	for _, name := range []string{"../cli/testdata/uneven8.txt", "../cli/testdata/uneven32.txt", "../cli/testdata/even8.txt",
		"../profile/testdata/small.txt", "../collect/callgrind/testdata/small.golden"} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.ReadText(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		runs[filepath.Base(name)] = runOf(p)
	}
	f, err := os.Open("../report/testdata/lu8.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rep, err := report.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	any := fixture(t, 8, 3) // of which the page takes the command: the overview is the report's
	any.Meta().Command = rep.Program.Command
	lu := runOf(any)
	lu.ready.Store(true)
	lu.report = func() (*report.Report, error) { return rep, nil }
	runs["lu8.json"] = lu
	return runs
}

// wasteful is a profile for which wasted memory work was looked for, with locks and costs.
func wasteful(t *testing.T) *profile.Profile {
	t.Helper()
	p := fixture(t, 4, 6)
	side := func(node profile.NodeID) profile.WasteSide {
		return profile.WasteSide{Path: 1, Node: node, Addr: p.Nodes[node].Addr, Frames: p.Nodes[node].Frames}
	}
	for th := range profile.ThreadID(4) {
		p.AddWasteTotal(profile.WasteTotal{Thread: th, Kind: "dead-store", Bytes: 1000 * uint64(th), Of: 10000,
			Low: 0.1 * float64(th), High: 0.1 * float64(th)})
		p.AddWasteTotal(profile.WasteTotal{Thread: th, Kind: "silent-load", Bytes: 5000, Of: 10000, Low: 0.5, High: 0.5})
	}
	p.AddWastePair(profile.WastePair{Kind: "dead-store", Thread: 1, First: side(1), Second: side(2), Bytes: 3000, Count: 375, Data: "a+0x8"})
	p.AddWastePair(profile.WastePair{Kind: "silent-load", Thread: 2, First: side(2), Second: side(2), Bytes: 9000, Count: 1125})
	return p
}

// overviewText is the text report without what explains single sections: the head, and the parts
// behind them. Wide enough that nothing is cut.
func overviewText(text string) string {
	parts := strings.Split("\n"+text, "\n━━ ")
	out := parts[0]
	for _, part := range parts[1:] {
		if title, rest, _ := strings.Cut(part, "\n"); !numbered.MatchString(title) {
			out += "\n" + strings.TrimRight(title, " ━") + "\n" + rest
		}
	}
	return out
}

var (
	numbered = regexp.MustCompile(`^\d+ `)
	drawn    = regexp.MustCompile(`[▀-▟░]+|  +`)                                            // bars, and the gaps between columns
	figure   = regexp.MustCompile(`\d+([.,]\d+)*( (%|[kMGT]B?\b|ns\b|us\b|ms\b|s\b|B\b))?`) // a number with what belongs to it
	hint     = regexp.MustCompile(`--[a-z]`)                                                // an option of the command
)

// alike makes texts that differ in blanks alone the same.
func alike(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(s, "\u00a0", " ")), " "))
}

// The page does not contradict the text: every sentence and figure of the text's overview is on the
// page, and every figure on the page is in the text, but for what the page has besides and says so
// of itself (data-more).
func TestTheOverviewIsTheTextReport(t *testing.T) {
	b := newBrowser(t)
	b.screen("light", 1920)
	for name, r := range goldenRuns(t) {
		rep, err := r.report()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b.serve(r)
		b.open("#overview")
		var text bytes.Buffer
		if err := report.WriteText(&text, rep, report.TextOptions{Width: 1000}); err != nil {
			t.Fatal(err)
		}
		said := alike(b.text() + " " + eval[string](b, `document.querySelector("header").innerText`))
		for _, line := range strings.Split(overviewText(text.String()), "\n") {
			for _, words := range drawn.Split(line, -1) {
				words = alike(strings.TrimPrefix(strings.TrimSpace(words), "- "))
				if words != "" && !hint.MatchString(words) && !strings.Contains(said, words) {
					t.Errorf("%s: the page does not say %q", name, words)
				}
			}
		}
		plain := alike(text.String())
		bare := eval[string](b, `(document.querySelectorAll("main [data-more]").forEach((x) => x.remove()), document.querySelector("main").innerText)`)
		for _, f := range figure.FindAllString(alike(bare), -1) {
			if !strings.Contains(plain, f) {
				t.Errorf("%s: the text does not say %q", name, f)
			}
		}
	}
}

// withoutLines is a profile of a program without debug information.
func withoutLines(p *profile.Profile) *profile.Profile {
	for i := range p.Nodes {
		p.Nodes[i].Frames, p.Nodes[i].First = nil, nil
	}
	for i := range p.Sections {
		p.Sections[i].Frames = nil
	}
	return p
}

// Without debug information a place has no line to go to, but the section that loses there.
func TestPlacesWithoutLinesLeadToTheirSection(t *testing.T) {
	b := newBrowser(t)
	b.serve(runOf(withoutLines(fixture(t, 6, 24))))
	b.open("#overview")
	to := eval[string](b, `[...document.querySelectorAll(".terms tr")].filter(e => e.innerText.includes("useful work")).map(e => e.querySelector("a")?.getAttribute("href")).join(" ")`)
	if to != "#section?p=0&s=0" {
		t.Errorf("the place of useful work leads to %q:\n%s", to, b.text())
	}
}

// The places in the first sentence lead to what is known of them.
func TestTheFirstSentenceLeadsOn(t *testing.T) {
	b := newBrowser(t)
	b.serve(runOf(fixture(t, 6, 9)))
	b.open("#overview")
	got := eval[string](b, `[...document.querySelectorAll(".headline a")].map((a) => a.innerText + " " + a.getAttribute("href")).join("; ")`)
	if want := "app.c:30 in worker #section?p=0&s=0; app.c:10 in work #section?p=0&s=0&c=1"; got != want {
		t.Errorf("%q, want %q:\n%s", got, want, b.text())
	}
}

// Without debug information a wait has no line to go to, and its place is in no section of its own:
// it leads to the cause that stands there.
func TestWaitsWithoutLinesLeadToTheirCause(t *testing.T) {
	p := withoutLines(fixture(t, 6, 24))
	kind := p.AddKind(profile.EventKind{Name: "lock-wait", Title: "lock wait", Unit: "instructions"})
	row := int32(p.AddEvent(profile.Event{Kind: kind, Node: profile.None, Addr: 0x1234}))
	for in := range p.Instances(0) {
		in.Costs = nil
		for i := range in.Parts {
			w := in.Parts[i].Time() / 2
			in.Parts[i].LockWait = w
			in.Events = append(in.Events, profile.Count{Row: row, Part: int32(i), N: 1})
			in.Costs = append(in.Costs, profile.Count{Row: row, Part: int32(i), N: w})
		}
	}
	b := newBrowser(t)
	b.serve(runOf(p))
	b.open("#overview")
	to := eval[string](b, `[...document.querySelectorAll(".terms tr")].filter(e => e.innerText.includes("waiting for locks")).map(e => e.querySelector("a")?.getAttribute("href")).join(" ")`)
	if !strings.HasPrefix(to, "#section?p=0&s=0&c=") {
		t.Errorf("the wait leads to %q:\n%s", to, b.text())
	}
}

// Where several sections have a cause at one place, the first sentence leads to the one that loses
// most.
func TestTheFirstSentenceLeadsToTheFirst(t *testing.T) {
	b := newBrowser(t)
	r := runOf(fixture(t, 6, 9))
	rep, err := r.report()
	if err != nil {
		t.Fatal(err)
	}
	twice := *rep
	twice.Sections = append(slices.Clone(rep.Sections), rep.Sections[0])
	twice.Sections[len(twice.Sections)-1].ID = 1
	r.report = func() (*report.Report, error) { return &twice, nil }
	b.serve(r)
	b.screen("light", 1280)
	b.open("")
	got := eval[string](b, `[...document.querySelectorAll(".headline a")].filter((a) => a.innerText.includes("app.c:10")).map((a) => a.getAttribute("href")).join(" ")`)
	if !strings.HasSuffix(got, "s=0&c=1") {
		t.Errorf("it leads to %q", got)
	}
}
