package report

import (
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/whatif"
)

// Of each section that matters it is said whether its cause is the program's or luck, in one line
// that clean words make.
func TestThrows(t *testing.T) {
	section := func(line, there int) whatif.ThrownSection {
		return whatif.ThrownSection{EndsAt: analysis.Place{File: "/src/a.c", Line: line, Function: "work"}, Matters: true, Last: 2,
			Imbalance: whatif.Range{Own: 0.3, Least: 0.01, Median: 0.02, Most: 0.31},
			Cause: &whatif.ThrownCause{Title: "L2 miss",
				Place: analysis.Place{File: "/src/a.c", Line: line - 1, Function: "work\x1b[2J"}, There: there,
				Time: whatif.Range{Own: 4e4, Least: 0, Median: 100, Most: 5e4}}}
	}
	in := &whatif.Throws{Seeds: []int{1, 2, 3, 4}, ClockUnit: "cycles", RunTime: whatif.Range{Own: 1e6, Least: 9e5, Median: 95e4, Most: 1e6},
		Sections: []whatif.ThrownSection{section(9, 4), section(19, 1)}}
	in.Sections = append(in.Sections, whatif.ThrownSection{EndsAt: analysis.Place{File: "/src/small.c", Line: 3}})
	var b strings.Builder
	if err := Throws(&b, in, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"4 placements of the program's pages in memory (seeds 1 to 4; this profile: 1)",
		"a.c:9 work                               30.0 %      1.0 %      2.0 %     31.0 %",
		"a.c:9 work: L2 miss at a.c:8 work",
		"is the program's: it is there in all 4 placements. The account charges it with 40 k here, with 0 to 50 k " +
			"over all of them, median 100; the thread that works longest is the same in 2.",
		"a.c:19 work: L2 miss at a.c:18 work",
		"differs with the placement of pages: it is there in 1 of 4. ",
	} {
		if !strings.Contains(b.String(), want) && !strings.Contains(strings.ReplaceAll(b.String(), "\n", " "), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") || strings.Contains(b.String(), "small.c") {
		t.Errorf("said too much:\n%q", b.String())
	}
}
