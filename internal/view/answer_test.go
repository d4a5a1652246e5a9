package view

import (
	"database/sql"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// questions are all that the page asks, on the fixture.
var questions = []string{
	"runs", "state", "head", "section?s=0", "instance?s=0&i=2&t=1", "cells?s=0&m=time&z=0&x=0&b=0",
	"cells?s=0&m=line:0:10", "threads?m=time", "threads?s=0&m=kind:l1d-miss", "threads?s=0&m=cost:l1d-miss",
	"files", "files?s=0", "source?f=0&s=0", "span?z=3&x=7&b=0", "window", "window?from=1000&to=4000",
	"parts?from=1000&to=4000", "critical", "critical?from=1000&to=4000", "paths", "paths?v=bottom-up&t=1",
	"paths?v=flat&s=0", "paths?from=1000&to=4000&s=0&t=1", "paths?q=0&s=0", "ran?z=2&x=1&b=0&d=1", "rannames", "moment?t=1&at=1100",
	"paths?at=0", "calls", "calls?s=0", "compare?p=0&q=0", "possible", "live", "sketch",
}

func answer(t testing.TB, a *API, question string) (*Answer, error) {
	t.Helper()
	name, rest, _ := strings.Cut(question, "?")
	values, err := url.ParseQuery(rest)
	if err != nil {
		t.Fatal(err)
	}
	return a.Answer(name, values)
}

func TestEveryQuestionHasAnAnswer(t *testing.T) {
	file, _ := fileRun(t, fixture(t, 6, 9))
	for where, r := range map[string]*Run{"memory": runOf(fixture(t, 6, 9)), "file": file} {
		a := NewAPI([]*Run{r})
		asked := map[string]bool{}
		for _, q := range questions {
			name, _, _ := strings.Cut(q, "?")
			asked[name] = true
			got, err := answer(t, a, q)
			if err != nil {
				t.Errorf("%s: %s: %v", where, q, err)
				continue
			}
			if got.Type == typeJSON && (!json.Valid(got.Body) || strings.Contains(string(got.Body), ":null") && name != "source") {
				t.Errorf("%s: %s: %s", where, q, got.Body)
			}
		}
		for name := range endpoints() {
			elsewhere := []string{"again", "job", "cancel", "asm", "stop", "scaling", "sketched"} // tests of their own ask for these
			if !asked[name] && !slices.Contains(elsewhere, name) {
				t.Errorf("nothing asks for %s", name)
			}
		}
	}
}

// What cannot be is refused with a sentence, and is nobody's fault but the asker's.
func TestQuestionsThatMakeNoSense(t *testing.T) {
	a := NewAPI([]*Run{runOf(fixture(t, 6, 9))})
	for _, q := range []string{
		"nothing", "head?p=1", "head?p=-1", "head?p=x", "section?s=99", "section?s=2", "instance?s=0&i=9",
		"instance?s=0&i=-1", "instance?s=0&t=6", "cells?s=0&m=what", "cells?s=0&m=kind:none",
		"cells?s=0&m=line:7:1", "cells?s=0&m=line:x", "cells?s=0&z=99", "cells?s=0&x=5", "cells?s=0&b=4",
		"threads?s=3", "source?f=1", "source?f=-1", "sketched", "sketched?b=x", "span?z=41", "span?z=1&x=2", "span?b=1",
		"window?from=5&to=5", "window?from=-1", "window?to=1e9", "parts?from=9&to=1", "critical?from=9&to=1",
		"paths?v=round", "paths?from=5&to=5", "paths?q=7", "paths?q=0&from=1&to=5", "ran?z=1&x=2", "ran?b=1",
		"ran?d=-1", "moment?t=6", "moment?at=x", "paths?at=7", "paths?at=x", "paths?t=6", "compare?q=2", "files?s=" + strings.Repeat("9", 400),
	} {
		_, err := answer(t, a, q)
		if err == nil || Status(err) >= 500 || Status(err) < 400 || len(err.Error()) < 10 {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// Names that are long, or made to mislead, come out harmless.
func TestHostileNames(t *testing.T) {
	evil := "<script>alert(1)</script>\u202e\x1b[31m\u2066" + strings.Repeat("x", 1<<20)
	a := NewAPI([]*Run{runOf(fixture(t, 4, 3, evil))})
	for _, q := range questions {
		got, err := answer(t, a, q)
		if err != nil || got.Type != typeJSON {
			if err != nil {
				t.Errorf("%s: %v", q, err)
			}
			continue
		}
		if len(got.Body) > 256<<10 {
			t.Errorf("%s: %d bytes", q, len(got.Body))
		}
		if strings.Contains(string(got.Body), "<script") {
			t.Errorf("%s: the answer contains markup", q)
		}
		var v any
		if err := json.Unmarshal(got.Body, &v); err != nil {
			t.Fatal(err)
		}
		each(v, func(s string) {
			if strings.ContainsFunc(s, func(r rune) bool {
				return unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && r != '\t' && r != '\n'
			}) || len(s) > 3*longestName {
				t.Errorf("%s: %.60q (%d bytes)", q, s, len(s))
			}
		})
	}
}

func each(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, x := range v {
			each(x, f)
		}
	case map[string]any:
		for _, x := range v {
			each(x, f)
		}
	}
}

// A profile of nothing has answers, or sentences.
func TestAnEmptyProfile(t *testing.T) {
	a := NewAPI([]*Run{runOf(profile.New(profile.Meta{}))})
	for _, q := range questions {
		if _, err := answer(t, a, q); err != nil && Status(err) >= 500 {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// A damaged profile gives messages.
func TestADamagedProfile(t *testing.T) {
	_, path := fileRun(t, fixture(t, 6, 9))
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE instance SET parts = x'00ff', edges = x'01aa' WHERE id = 4"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	r, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a := NewAPI([]*Run{NewRun(r, path, analysis.DefaultOptions(), new(Heap))})
	failed := 0
	for _, q := range questions {
		if _, err := answer(t, a, q); err != nil {
			failed++
			if !strings.Contains(err.Error(), "instance 4") || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%s: %v", q, err)
			}
		}
	}
	if failed < 8 {
		t.Errorf("%d questions noticed the damage", failed)
	}
}

// FuzzAnswer holds that no request breaks the server, whatever its parameters.
func FuzzAnswer(f *testing.F) {
	for _, q := range questions {
		f.Add(q)
		f.Add(q + "&p=1&r=2")
	}
	a := NewAPI([]*Run{runOf(fixture(f, 5, 7)), runOf(rankFixture(f, 3))})
	f.Fuzz(func(t *testing.T, q string) {
		name, rest, _ := strings.Cut(q, "?")
		values, _ := url.ParseQuery(rest)
		got, err := a.Answer(name, values)
		switch {
		case err != nil && Status(err) >= 500:
			t.Errorf("%q: %v", q, err)
		case err == nil && got.Type == typeJSON && !json.Valid(got.Body):
			t.Errorf("%q: %s", q, got.Body)
		case err == nil && got.Type == typeBinary && len(got.Body) > 64<<10:
			t.Errorf("%q: %d bytes", q, len(got.Body))
		}
	})
}

// Runs of one program on different numbers of cores are a scaling study; what is lost adds up.
func TestAScalingStudy(t *testing.T) {
	a := NewAPI([]*Run{runOf(fixture(t, 12, 9)), runOf(fixture(t, 4, 9))})
	got, err := answer(t, a, "scaling")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Points []struct {
			Cores      int
			Efficiency float64
			Losses     []struct{ Share float64 }
		}
	}
	if err := json.Unmarshal(got.Body, &s); err != nil || len(s.Points) != 2 || s.Points[0].Cores != 4 || s.Points[1].Cores != 12 {
		t.Fatalf("%v: %s", err, got.Body)
	}
	sum := s.Points[1].Efficiency
	for _, l := range s.Points[1].Losses {
		sum += l.Share
	}
	if sum < 0.999 || sum > 1.001 {
		t.Errorf("efficiency and losses are %v together", sum)
	}
	if _, err := answer(t, NewAPI([]*Run{runOf(fixture(t, 4, 9))}), "scaling"); err == nil || Status(err) != 404 {
		t.Errorf("one run is a study: %v", err)
	}
}
