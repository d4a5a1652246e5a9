package report

import (
	"strings"
	"testing"
)

// The page is as wide as it is asked to be, and what a wider one shows is not cut to 80 columns.
func TestTextFillsThePage(t *testing.T) {
	name := strings.Repeat("name", 14) + ".c"
	for _, width := range []int{0, 80, 100, 132, 300} {
		r := Build(sample(16))
		r.Sections[0].EndsAt.File, r.Sections[0].Causes[0].Source[3].Text = name, strings.Repeat("s", 90)
		text := textReport(t, r, TextOptions{All: true, Width: width})
		widest := 0
		for _, line := range strings.Split(text, "\n") {
			widest = max(widest, columns(line))
		}
		if most := max(width, Width); widest > most {
			t.Errorf("width %d: a line has %d columns", width, widest)
		}
		whole := strings.Contains(text, name+":598") && strings.Contains(text, strings.Repeat("s", 90))
		if whole != (width >= 132) {
			t.Errorf("width %d: long names and sources are there whole: %v", width, whole)
		}
	}
}

func TestNarrowPagesWrapText(t *testing.T) {
	r := Build(sample(4))
	r.Sections[0].Causes[0].Sentence = strings.Repeat("word ", 60)
	found := false
	for _, line := range strings.Split(textReport(t, r, TextOptions{Width: 50}), "\n") {
		if strings.Contains(line, "word word") {
			found = true
			if columns(line) > 50 {
				t.Errorf("%d columns: %s", columns(line), line)
			}
		}
	}
	if !found {
		t.Error("the sentence is not there")
	}
}

func TestPlainASCII(t *testing.T) {
	r := Build(sample(100))
	r.Sections[0].Causes[0].Function = "größe"
	text := textReport(t, r, TextOptions{All: true, ASCII: true})
	for _, c := range text {
		if c >= 0x80 {
			t.Fatalf("%q in the text", c)
		}
	}
	for _, want := range []string{"gr??e", "-- 1  lu.c:598 in lu --", "####"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	var w strings.Builder
	if err := WriteDiffText(&w, Compare(beforeAndAfter()), TextOptions{ASCII: true, All: true}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(w.String(), func(c rune) bool { return c >= 0x80 }) {
		t.Error("the comparison is not plain")
	}
}
