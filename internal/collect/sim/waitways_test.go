package sim_test

import (
	"fmt"
	"os"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// waitWays are the ways to wait that the program of a language has.
var waitWays = []struct {
	source, command string
	rust            int // the minor version of rustc that has them, 0: any
	ways            []string
}{
	{"waitways.cpp", "g++ -std=c++20 -O1 -g -pthread -o OUT SRC", 0, []string{
		"call_once", "static local", "condition", "condition with a timeout", "latch", "atomic wait",
		"semaphore", "future", "async in a closure", "mutex", "shared mutex", "yields",
	}},
	{"waitways.rs", "rustc -O -g -o OUT SRC", 0, []string{
		"Once", "Condvar", "Condvar with a timeout", "channel", "channel with a timeout", "park", "RwLock", "join in a closure",
	}},
	{"waitways.rs", "rustc -O -g --cfg since_1_80 -o OUT SRC", 80, []string{"OnceLock", "LazyLock"}},
}

// TestWaitsAreTold has all threads but one wait for that one, in every way that languages have:
// whatever a thread's clock shows that it has not executed is told as a wait, so that as much of the
// cores' time is useful as where each thread has a core of its own.
func TestWaitsAreTold(t *testing.T) {
	for _, lang := range waitWays {
		testenv.Tool(t, "g++", "rustc")
		if lang.rust > 0 && !testenv.RustSince(lang.rust) {
			t.Run(lang.command, func(t *testing.T) { testenv.Skip(t, testenv.OldRust, lang.ways) })
			continue
		}
		prog := compile(t, lang.source, lang.command)
		for i, way := range lang.ways {
			widths := []int{[]int{2, 4, 8}[i%3]}
			if os.Getenv("LIME_LONG") != "" {
				widths = []int{2, 3, 4, 8}
			}
			for _, threads := range widths {
				t.Run(fmt.Sprintf("%s/%s/%d", lang.source, way, threads), func(t *testing.T) {
					t.Parallel()
					cmd, path := counting(t, []string{unnamed}, prog, way, fmt.Sprint(threads))
					if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
						t.Fatalf("%v: %s", err, out)
					}
					alone, status, said := simulate(t, threads+1, unnamed, "--", prog, way, fmt.Sprint(threads))
					if status != 0 {
						t.Fatalf("simulate: status %d: %s", status, said)
					}
					const points = 3
					got, want := usefulShare(t, path, threads), usefulShare(t, alone, threads)
					if got > want+points || got < want-points {
						t.Errorf("%.1f %% is useful, simulated with a core each %.1f %%", got, want)
					}
				})
			}
		}
	}
}

// usefulShare is how much of the time of so many cores was no waiting, in percent.
func usefulShare(t *testing.T, path string, threads int) float64 {
	t.Helper()
	run := uint64(0)
	sum := uint64(0)
	for _, l := range lengths(t, path) {
		sum += l.Part.Time() - min(l.Part.Time(), l.Part.LockWait+l.Part.OffCPU)
		run = max(run, l.Part.Release)
	}
	return 100 * float64(sum) / float64(run*uint64(threads))
}

// lengths lists the parts of a run that has ended by itself.
func lengths(t *testing.T, path string) (list []profile.Length) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Meta().EndState == "exited" {
		list, err = profile.Lengths(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// asLongAsTold checks that the parts of a run whose threads ran in parallel are as long as what is
// told of them: what their threads have executed, and for how long they have waited. If there is no
// profile, the run was not to leave one.
func asLongAsTold(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return
	}
	for _, l := range lengths(t, path) {
		if d := l.Beyond(); max(d, -d) > onTheWay+int64(l.Part.Time()/1000) {
			t.Errorf("section %d: thread %d is %d long, has executed %d, and waited %d and %d: %d too much",
				l.Section, l.Part.Thread, l.Part.Time(), l.Worked, l.Part.LockWait, l.Part.OffCPU, d)
		}
	}
}

// onTheWay is how many instructions a thread may have done in its runtime where a part begins or
// ends, which are told of no part (to find a library's function for the first time takes some
// thousands); in between, at most one in a thousand.
const onTheWay = 10_000
