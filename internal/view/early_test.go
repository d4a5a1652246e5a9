// While the causes of a large profile are looked for, and where they cannot be found.

package view

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lime/internal/report"
)

// slowRun is a run whose causes are not known before found is closed, and then as fail says.
func slowRun(t *testing.T, fail error) (r *Run, found chan bool) {
	r, found = runOf(fixture(t, 6, 9)), make(chan bool)
	whole := r.report
	r.report = func() (*report.Report, error) {
		<-found
		if fail != nil {
			return nil, fail
		}
		return whole()
	}
	return r, found
}

// openEarly shows a view without waiting until all has been read.
func (b *browser) openEarly(hash string) {
	b.t.Helper()
	b.load(hash)
	for began := time.Now(); time.Since(began) < b.patience; time.Sleep(30 * time.Millisecond) {
		if eval[bool](b, `document.querySelector("main") !== null`) {
			return
		}
	}
	b.t.Fatal("there is no page")
}

// seenEarly are the views with what they say before the causes are known.
var seenEarly = []struct {
	hash     string
	words    []string
	canvases int
}{
	{"#overview", []string{"What the threads did", "is being looked for", "app.c:30"}, 0},
	{"#section", []string{"app.c:30", "is being looked for", "time, all instances", "Pick cells"}, 2},
	{"#section?s=0&m=wait&pick=1,2,0,0", []string{"Threads 1 to 2, instance 1", "all others", "came last"}, 3},
	{"#timeline", []string{"6 threads", "In this stretch"}, 2},
	{"#threads?s=0", []string{"Threads: time", "Furthest from the median", "worker 5"}, 2},
	{"#source?path=src%2Fapp.c", []string{"for (int i = 0; i < n; i++)"}, 0},
	{"#paths", []string{"worker", "work"}, 0},
}

// What needs no causes is shown before they are known, and what is picked stays when they come.
func TestBeforeTheCausesAreKnown(t *testing.T) {
	b := newBrowser(t)
	r, found := slowRun(t, nil)
	b.serve(r)
	b.screen("dark", 1280)
	for _, v := range seenEarly {
		b.openEarly(v.hash)
		b.shows(append(v.words, "Looking for causes")...)
		if n := eval[int](b, `document.querySelectorAll("canvas").length`); n < v.canvases {
			t.Errorf("%s: %d charts, want %d", v.hash, n, v.canvases)
		}
		b.keep("early-" + strings.Trim(strings.Split(v.hash, "?")[0], "#"))
	}
	b.openEarly(seenEarly[2].hash)
	close(found)
	b.shows("The account", "Causes", "Threads 1 to 2, instance 1")
	if got := eval[string](b, "location.hash"); got != seenEarly[2].hash {
		t.Errorf("the address became %s", got)
	}
}

// Where the causes cannot be found the page says why, and shows what needs none.
func TestWithoutCauses(t *testing.T) {
	b := newBrowser(t)
	r, found := slowRun(t, errors.New("the causes are nowhere"))
	close(found)
	b.serve(r)
	b.screen("light", 1280)
	for hash, words := range map[string]string{"#overview": "the causes are nowhere", "#section": "the causes are nowhere",
		"#timeline": "In this stretch", "#threads": "Furthest from the median", "#paths": "worker"} {
		b.openEarly(hash)
		b.shows(words)
		if strings.Contains(b.text(), "Looking for causes") {
			t.Errorf("%s: they are being looked for still", hash)
		}
	}
}
