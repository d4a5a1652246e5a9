package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"lime/internal/profile"
)

// cycles simulates a program on a desktop machine of 32 cores and returns how long the longest part
// of its largest section was.
func cycles(t *testing.T, settings []string, args ...string) (longest float64) {
	t.Helper()
	words := []string{"--machine", "desktop", "--no-resolve"}
	for _, s := range settings {
		words = append(words, "--set", s)
	}
	path, status, said := simulate(t, 32, append(append(words, "--"), args...)...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	largest := 0.0
	for id := range p.Tables().Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			sum, most := 0.0, 0.0
			for i := range in.Parts {
				time := float64(in.Parts[i].Time())
				sum, most = sum+time, max(most, time)
			}
			if sum > largest {
				largest, longest = sum, most
			}
		}
	}
	return longest
}

// spread is by what part of the least the greatest exceeds it.
func spread(x []float64) float64 {
	lo, hi := x[0], x[0]
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	return hi/lo - 1
}

// A program whose threads' hot data fit into their caches takes as long whatever the distance of
// the stacks is and wherever its pages lie: within a twentieth, which is some ten accesses to
// memory that two pages too many of one colour cost. Caches that are indexed by virtual address
// (one page holds everything) show how it was: glibc's arenas begin at multiples of 64 MB, so that
// the hot lines of more threads than the last level has ways drive each other out.
func TestPlacementIsNoCause(t *testing.T) {
	t.Parallel()
	const band = 0.05
	exe := compile(t, "hot.c", "gcc -O1 -g -pthread -o OUT SRC")
	rng := rand.New(rand.NewPCG(10, 3))
	programs, seeds := 1, 3
	if os.Getenv("LIME_LONG") != "" {
		programs, seeds = 20, 20
	}
	for range programs {
		threads, buffer, arena := 20+rng.IntN(13), 16+rng.IntN(40), 16+rng.IntN(40)
		run := func(stack int, settings ...string) float64 {
			return cycles(t, settings, exe, fmt.Sprint(threads), fmt.Sprint(stack), fmt.Sprint(buffer), fmt.Sprint(arena), "60")
		}
		var stacks, thrown []float64
		for _, stack := range []int{64 + buffer, 252, 1020, 1024, 8192, 16384, 128 + rng.IntN(16000)} {
			stacks = append(stacks, run(stack))
		}
		for seed := range seeds {
			thrown = append(thrown, run(8192, fmt.Sprintf("memory.seed=%d", seed)))
		}
		if s := spread(stacks); s > band {
			t.Errorf("%d threads with buffers of %d and %d KB: %.0f cycles with stacks of other sizes, %.1f %% apart",
				threads, buffer, arena, stacks, 100*s)
		}
		if s := spread(thrown); s > band {
			t.Errorf("%d threads with buffers of %d and %d KB: %.0f cycles with other seeds, %.1f %% apart", threads, buffer, arena, thrown, 100*s)
		}
		if v := run(8192, "page_bytes=1073741824"); v < 2*stacks[0] {
			t.Errorf("%d threads with buffers of %d and %d KB: %.0f cycles by virtual address, not even twice %.0f: "+
				"the test shows nothing", threads, buffer, arena, v, stacks[0])
		}
	}
}
