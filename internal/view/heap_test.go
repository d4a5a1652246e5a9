package view

import (
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// collects is the figure that holds now.
func collects() int {
	now := debug.SetGCPercent(100)
	debug.SetGCPercent(now)
	return now
}

// However pieces of work overlap, the smallest figure that one of them asks for holds, and after the
// last one what was before.
func TestHeapsOverlap(t *testing.T) {
	before := collects()
	defer debug.SetGCPercent(before)
	var h Heap
	r := rand.New(rand.NewPCG(7, 7))
	type work struct {
		percent int
		done    func()
	}
	var on []work
	for range 2000 {
		if len(on) == 0 || len(on) < 6 && r.IntN(2) == 0 {
			percent := []int{10, 25, 30}[r.IntN(3)]
			on = append(on, work{percent, h.lean(percent)})
		} else {
			i := r.IntN(len(on))
			on[i].done()
			on = slices.Delete(on, i, i+1)
		}
		want := before
		for i, w := range on {
			if i == 0 || w.percent < want {
				want = w.percent
			}
		}
		if got := collects(); got != want {
			t.Fatalf("%d %%, not %d, with %v", got, want, on)
		}
	}
}

// slow is a profile whose parts are read when they may be.
type slow struct {
	*profile.Profile
	begun, may chan bool
}

func (s slow) ScanShare(share, of int, each func(*profile.Instance) error) error {
	s.begun <- true
	<-s.may
	return s.Profile.ScanShare(share, of, each)
}

// Two runs whose parts are read at the same time leave behind what was before.
func TestRunsOverlap(t *testing.T) {
	before := collects()
	defer debug.SetGCPercent(before)
	var h Heap
	var list []slow
	ended := make(chan error)
	for range 2 {
		s := slow{randomRun(t, rand.New(rand.NewPCG(1, 3))), make(chan bool, mostReaders), make(chan bool)}
		list = append(list, s)
		go func() {
			_, err := NewRun(s, "no/such/app.lime", analysis.DefaultOptions(), &h).index()
			ended <- err
		}()
		<-s.begun
	}
	for _, s := range list {
		if got := collects(); got != leanGC {
			t.Errorf("while parts are read, the heap may grow by %d %%", got)
		}
		close(s.may)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	if got := collects(); got != before {
		t.Errorf("the heap may grow by %d %% for good, by %d before", got, before)
	}
}
