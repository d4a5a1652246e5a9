package report

import (
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"strings"
	"testing"
)

// The page and the view say the same of a section.
func TestServedWordsAreThoseOfThePage(t *testing.T) {
	r := Build(sample(8))
	page := html.UnescapeString(string(htmlReport(t, r)))
	h := NewHead(r)
	if len(h.Sections) != len(r.Sections) || h.Collected == "" || len(h.Tiles) == 0 {
		t.Fatalf("the head lacks parts: %+v", h)
	}
	for _, brief := range h.Sections {
		s := NewSectionPage(r, brief.ID)
		said := append([]string{s.Words}, brief.Title)
		for _, c := range s.Pages {
			said = append(said, c.Sentence, c.Words, c.Win)
		}
		if s.Account != nil {
			said = append(said, s.Account.Words, s.Account.Rows[0].What)
		}
		for _, words := range said {
			if words != "" && !strings.Contains(page, together(words)) && !strings.Contains(page, words) {
				t.Errorf("the page does not say %q", words)
			}
		}
	}
	if NewSectionPage(r, 12345) != nil {
		t.Error("there is a section 12345")
	}
}

// A place in the table of losses leads to the line that it names, or to none, and to the one thread
// that it is about.
func TestServedPlacesLeadWhereTheySay(t *testing.T) {
	end := Place{File: "dir/a.c", Line: 53, Function: "main"}
	in := Place{File: "dir/b.c", Line: 19, Function: "grow"}
	for name, c := range map[string]struct {
		place  LossPlace
		line   int
		thread int
	}{
		"a line":             {LossPlace{Place: in, Section: -1}, 19, -1},
		"a section's end":    {LossPlace{Place: end, Section: 2, Threads: []ThreadShare{{Thread: 2}, {Thread: 4}}, Among: 2}, 53, -1},
		"one thread's work":  {LossPlace{Place: end, Section: 2, Spent: &Spent{Place: in, Share: 0.5}, Threads: []ThreadShare{{}}}, 19, 0},
		"no line":            {LossPlace{Place: Place{Address: "0x11a6a"}, Section: 2, Threads: []ThreadShare{{Thread: 3}}, Among: 1}, 0, 3},
		"one of several":     {LossPlace{Place: end, Section: 2, Threads: []ThreadShare{{Thread: 3}}, Among: 9}, 53, -1},
		"known to be absent": {LossPlace{Place: end, Why: "it is too short", Threads: []ThreadShare{{}}}, 0, -1},
		"no threads":         {LossPlace{Place: end, Cores: 3}, 0, -1},
	} {
		c.place.Share, c.place.Time = 0.5, 50
		r := &Report{Loss: &Loss{CoreTime: 100, Terms: []LossTerm{{Name: "serial", Title: "too few threads", Share: 0.5, Time: 50, Places: []LossPlace{c.place}}}}}
		var at *LossAt
		for _, row := range lossTable(r).Rows {
			for i := range row.Places {
				at = &row.Places[i]
			}
		}
		if at == nil || at.Line != c.line || at.Thread != c.thread {
			t.Errorf("%s: %+v, want line %d, thread %d", name, at, c.line, c.thread)
		} else if words := fmt.Sprintf("%s:%d", filepath.Base(at.File), at.Line); at.Line > 0 && !strings.HasPrefix(at.At, words) {
			t.Errorf("%s: it says %q and leads to %s", name, at.At, words)
		}
	}
}

// Lists are lists in JSON, also when they are empty.
func TestServedListsAreNeverNull(t *testing.T) {
	r := Build(sample(8))
	for _, v := range []any{NewHead(r), NewHead(&Report{}), NewSectionPage(r, r.Sections[0].ID)} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"sections", "told", "notes", "tiles", "causes", "cause_pages", "minor", "counts", "source", "members"} {
			if strings.Contains(string(b), `"`+list+`":null`) {
				t.Errorf("%s is null", list)
			}
		}
	}
}
