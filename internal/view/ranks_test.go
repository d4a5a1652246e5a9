package view

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"lime/internal/profile"
)

// rankFixture is a run of ranks of two threads each; as in merged profiles, the ranks' first threads
// come before the others.
func rankFixture(t testing.TB, ranks int) *profile.Profile {
	p := fixture(t, 2*ranks, 24)
	for i := range p.Threads {
		p.Threads[i].Name = fmt.Sprintf("rank %d", i%ranks)
		if i >= ranks {
			p.Threads[i].Name += ", thread 1 (worker)"
		}
	}
	m := *p.Meta()
	m.Notes = append(m.Notes, profile.Note{Code: profile.NoteRanks, Text: "ranks", N: uint64(ranks)})
	if err := p.UpdateMeta(m); err != nil {
		t.Fatal(err)
	}
	return p
}

// What the ranks did each adds up to what all did, by parts and by samples, and a rank is as its
// threads are one by one.
func TestRanksAddUp(t *testing.T) {
	const ranks = 3
	a := NewAPI([]*Run{runOf(rankFixture(t, ranks)), runOf(fixture(t, 4, 3))})
	of := func(question string) (window Window, paths PathTable) {
		body, err := answer(t, a, question)
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		if strings.HasPrefix(question, "paths") {
			err = json.Unmarshal(body.Body, &paths)
		} else {
			err = json.Unmarshal(body.Body, &window)
		}
		if err != nil {
			t.Fatal(err)
		}
		return window, paths
	}
	for _, stretch := range []string{"", "&from=3000&to=9000"} {
		for _, kind := range []string{"window?", "paths?v=flat&"} {
			sums := func(question string) (out []float64) {
				w, paths := of(question + stretch)
				if len(paths.Total) > 0 {
					return paths.Total
				}
				return []float64{w.Work, w.Wait, w.Lock, w.Off, float64(w.Threads), float64(w.Parts)}
			}
			var got []float64
			for r := range ranks {
				one := sums(fmt.Sprintf("%sr=%d", kind, r))
				if got == nil {
					got = make([]float64, len(one))
				}
				for k, v := range one {
					got[k] += v
				}
			}
			for k, want := range sums(kind) {
				if math.Abs(got[k]-want) > 1e-6*math.Abs(want) || k == 0 && want == 0 {
					t.Errorf("%s%s: figure %d of the ranks adds up to %v, of all it is %v", kind, stretch, k, got[k], want)
				}
			}
			if kind != "window?" {
				lone, first, second := sums(kind+"r=1"), sums(kind+"t=1"), sums(kind+"t=4")
				for k := range lone {
					if lone[k] != first[k]+second[k] {
						t.Errorf("%s%s: rank 1 has %v, its threads %v and %v", kind, stretch, lone, first, second)
					}
				}
			}
		}
	}
	for _, wrong := range []string{"window?r=3", "paths?r=3", "window?r=x", "paths?p=1&r=0", "paths?r=2&q=1", "window?p=1&r=0"} {
		if _, err := answer(t, a, wrong); err == nil || Status(err) >= 500 {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// rankShows are views of one rank: what must be read in them, and what must not.
var rankShows = []struct{ hash, says, not string }{
	{"#threads?r=1", "2 threads", "6 threads"},
	{"#timeline?r=1", "2 threads", "6 threads"},
	{"#timeline?r=2&path=1", "2 threads", "6 threads"},
	{"#timeline?r=1&d=0", "Functions at work", "6 threads"},
	{"#section?s=0&m=time&r=2&pick=0,1,0,0", "Threads 2 to 5, instance 1", "Threads 0"},
	{"#paths?r=0", "thread 3 rank 0", "rank 1"},
	{"#paths?r=7", "rank 1", "no rank"},
	{"#overview?r=1", "What became of", "no rank"},
	{"#source?r=1", "app.c", "no rank"},
}

func TestARankInABrowser(t *testing.T) {
	b := newBrowser(t)
	b.serve(runOf(rankFixture(t, 3)))
	b.screen("light", 1920)
	for _, s := range rankShows {
		b.open(s.hash)
		if said := b.text() + eval[string](b, `document.querySelector("main").textContent`); !strings.Contains(said, s.says) || strings.Contains(said, s.not) {
			t.Errorf("%s does not say %q, or says %q:\n%s", s.hash, s.says, s.not, said)
		}
		for k := range eval[int](b, `document.querySelectorAll("canvas").length`) {
			if b.painted(k) < 2 {
				t.Errorf("%s: chart %d is empty", s.hash, k)
			}
		}
		b.keep("rank-" + strings.Trim(strings.Split(s.hash, "?")[0], "#"))
	}
	if chosen := eval[string](b, `document.querySelector("header select").value`); chosen != "1" {
		t.Errorf("rank %s is chosen", chosen)
	}
	// the rank stays on the way to another view
	if to := eval[string](b, `[...document.querySelectorAll("nav a")].find(e => e.innerText === "Threads").getAttribute("href")`); to != "#threads?r=1" {
		t.Errorf("the way to the threads is %s", to)
	}
}
