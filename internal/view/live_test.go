package view

import (
	"testing"
	"time"
)

// A run that goes on is shown as far as it is, and can be ended by POST while it runs.
func TestARunThatGoesOn(t *testing.T) {
	s := serverOf(t)
	ended := 0
	s.Expect(func() { ended++ })
	if s.Watched(time.Minute) {
		t.Error("somebody looks before anybody has asked")
	}
	if live := asked[Live](t, s, "GET", "/api/live", 200); !live.Running || !live.Stop {
		t.Errorf("before anything has finished: %+v", live)
	}
	if !s.Watched(time.Minute) {
		t.Error("nobody looks")
	}
	if list := asked[[]Info](t, s, "GET", "/api/runs", 200); len(list) != 0 {
		t.Errorf("before anything has finished: %+v", list)
	}
	asked[map[string]string](t, s, "GET", "/api/head", 503)
	asked[map[string]string](t, s, "GET", "/api/stop", 405)
	asked[Live](t, s, "POST", "/api/stop", 200)
	if ended != 1 {
		t.Errorf("the run was ended %d times", ended)
	}
	for n := 1; n <= 2; n++ {
		s.Show([]*Run{runOf(fixture(t, 4, 3*n))}, true)
		if list := asked[[]Info](t, s, "GET", "/api/runs", 200); len(list) != 1 || list[0].Sections[0].Instances != 3*n {
			t.Errorf("generation %d: %+v", n, list)
		}
		if live := asked[Live](t, s, "GET", "/api/live", 200); live.Generation != n || !live.Running {
			t.Errorf("generation %d: %+v", n, live)
		}
	}
	s.Show([]*Run{runOf(fixture(t, 4, 9))}, false)
	if live := asked[Live](t, s, "GET", "/api/live", 200); live.Generation != 3 || live.Running || live.Stop {
		t.Errorf("after the end: %+v", live)
	}
	asked[map[string]string](t, s, "POST", "/api/stop", 409)
}

// A server of finished profiles has nothing to end.
func TestNothingToEnd(t *testing.T) {
	s := serverOf(t, runOf(fixture(t, 4, 3)))
	asked[map[string]string](t, s, "POST", "/api/stop", 405)
	if live := asked[Live](t, s, "GET", "/api/live", 200); live.Running || live.Stop {
		t.Errorf("%+v", live)
	}
}
