package view

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// rerun is a program that can be run again, or not.
type rerun struct {
	why   error
	goOn  chan struct{} // a run ends when it can be read from
	asked []string
}

func (r *rerun) Possible(int) (string, error) { return "./app -n 4", r.why }

func (r *rerun) Without(ctx context.Context, p, section, cause int) (*Outcome, error) {
	select {
	case <-r.goOn:
		return &Outcome{Text: "Confirmed", Before: Balance{0.5, 0}, Said: Balance{0.1, 0.9},
			After: Balance{0.12, 0.88}, RunBefore: 100, RunAfter: 60, Run: true}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *rerun) Even(_ context.Context, _, _ int, file string, line int) (*Outcome, error) {
	r.asked = append(r.asked, file)
	return nil, errors.New("the program was built anew")
}

func asked[T any](t *testing.T, s *Server, method, path string, want int) T {
	t.Helper()
	w := request(s, path, func(r *http.Request) { r.Method = method })
	var v T
	if w.Code != want {
		t.Fatalf("%s %s: status %d, want %d: %s", method, path, w.Code, want, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v: %s", path, err, w.Body)
	}
	return v
}

func ended(t *testing.T, s *Server, id string) Job {
	t.Helper()
	for {
		if j := asked[Job](t, s, "GET", "/api/job?id="+id, 200); j.Done {
			return j
		}
		time.Sleep(time.Millisecond)
	}
}

// Nothing is run unless the user allowed it, and then by POST only, one run at a time.
func TestRunsAreAskedFor(t *testing.T) {
	s := serverOf(t, runOf(fixture(t, 6, 9)))
	asked[map[string]string](t, s, "POST", "/api/again?s=0&c=1", 405)
	asked[map[string]string](t, s, "GET", "/api/again?s=0&c=1", 403)
	if p := asked[Possible](t, s, "GET", "/api/possible", 200); p.Allowed || !strings.Contains(p.Why, "--allow-run") {
		t.Errorf("without leave: %+v", p)
	}
	r := &rerun{goOn: make(chan struct{})}
	s.Allow(t.Context(), r)
	if p := asked[Possible](t, s, "GET", "/api/possible", 200); !p.Allowed || p.Command != "./app -n 4" {
		t.Errorf("with leave: %+v", p)
	}
	asked[map[string]string](t, s, "GET", "/api/again?s=0&c=1", 405)
	elsewhere := func(r *http.Request) { r.Method = "POST"; r.Header.Set("Origin", "http://evil.example") }
	if w := request(s, "/api/again?s=0&c=1", elsewhere); w.Code != 403 {
		t.Errorf("another site starts a run: %d", w.Code)
	}
	for path, want := range map[string]int{
		"/api/again?s=0&c=99": 404, "/api/again?s=0": 404, "/api/again?s=2&c=1": 404, "/api/again?s=0&r=99": 404, "/api/again?s=x": 400,
	} {
		asked[map[string]string](t, s, "POST", path, want)
	}
	j := asked[Job](t, s, "POST", "/api/again?s=0&c=1", 200)
	if j.Done || !strings.Contains(j.What, "app.c:10") {
		t.Errorf("the run is %+v", j)
	}
	asked[map[string]string](t, s, "POST", "/api/again?s=0&c=1", 409)
	close(r.goOn)
	if j = ended(t, s, "0"); j.Outcome == nil || j.Outcome.After.Gone != 0.88 || j.Error != "" {
		t.Errorf("it ended as %+v", j)
	}
	asked[Job](t, s, "POST", "/api/again?s=0&r=0", 200)
	if j = ended(t, s, "1"); j.Error != "the program was built anew" {
		t.Errorf("it ended as %+v", j)
	}
	if len(r.asked) != 1 || r.asked[0] != "src/app.c" {
		t.Errorf("asked for %v", r.asked)
	}
}

// A run can be stopped from the page.
func TestARunIsCancelled(t *testing.T) {
	s := serverOf(t, runOf(fixture(t, 6, 9)))
	s.Allow(t.Context(), &rerun{goOn: make(chan struct{})})
	asked[Job](t, s, "POST", "/api/again?s=0&c=1", 200)
	asked[Job](t, s, "POST", "/api/cancel?id=0", 200)
	if j := ended(t, s, "0"); !strings.Contains(j.Error, "canceled") {
		t.Errorf("it ended as %+v", j)
	}
	asked[map[string]string](t, s, "POST", "/api/cancel?id=7", 404)
}

func TestARunThatCannotBeRepeated(t *testing.T) {
	s := serverOf(t, runOf(fixture(t, 6, 9)))
	s.Allow(t.Context(), &rerun{why: errors.New("it was recorded")})
	if p := asked[Possible](t, s, "GET", "/api/possible", 200); p.Allowed || p.Why != "it was recorded" {
		t.Errorf("%+v", p)
	}
}
