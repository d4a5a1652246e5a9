package report

import (
	"encoding/json"
	"html"
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
