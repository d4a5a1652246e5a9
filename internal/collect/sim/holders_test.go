package sim_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// holderKinds are ways in which a program may have only so many threads at a time work with
// something, and whether more than one can.
var holderKinds = []struct {
	name string
	many bool
}{
	{"semaphore", true}, {"binary", false}, {"posix", true}, {"waits", true}, {"word", true}, {"events", true}, {"three", false},
	{"condition", true}, {"c11", true},
}

// A thread that sleeps until another one wakes it waits for that one, whatever the two share: it is
// off its core for no reason outside of the program.
func TestWhoIsWokenWasNotOffItsCore(t *testing.T) {
	exe := holders(t)
	for _, k := range holderKinds {
		for _, permits := range []int{1, 3} {
			if permits > 1 && !k.many {
				continue
			}
			for _, verb := range []string{"simulate", "count"} {
				t.Run(fmt.Sprintf("%s/%d/%s", k.name, permits, verb), func(t *testing.T) {
					t.Parallel()
					for kind, n := range waitsByKind(t, held(t, verb, exe, k.name, permits, 6, unnamed)) {
						if profile.FamilyOf(kind) == profile.FamilyOffCore && n.time > 0 {
							t.Errorf("%s for %d", kind, n.time)
						}
					}
				})
			}
		}
	}
}

// Where threads fight for the permits of a semaphore of the C++ library, their waits are for one
// that others hold, at the line that asks for it; as much of their time is work as so many of them
// can work.
func TestSemaphoresAreHeldByOthers(t *testing.T) {
	exe := holders(t)
	text, err := os.ReadFile("testdata/holders.cpp")
	if err != nil {
		t.Fatal(err)
	}
	here := int32(strings.Count(string(text[:strings.Index(string(text), "// HERE")]), "\n") + 1)
	for _, k := range []string{"semaphore", "binary", "posix"} {
		for _, permits := range []int{1, 2, 3} {
			if k == "binary" && permits > 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", k, permits), func(t *testing.T) {
				t.Parallel()
				const threads, points, most = 6, 6, 0.95
				path := held(t, "simulate", exe, k, permits, threads)
				want := 100 * float64(permits) * 1.1 / threads
				if got := usefulShare(t, path, threads); got < want-points || got > want+points {
					t.Errorf("%.1f %% of the threads' time is work, want %.1f", got, want)
				}
				waits, all := waitsByKind(t, path), uint64(0)
				for _, w := range waits {
					all += w.time
				}
				held, at := uint64(0), uint64(0)
				for _, kind := range []string{profile.KindPermitWait, profile.KindLockWait} { // asleep; trying to take it
					if w := waits[kind]; w != nil {
						held, at = held+w.time, at+w.lines[here]
					}
				}
				if float64(held) < most*float64(all) {
					t.Errorf("of %d waited %d for what others hold", all, held)
				}
				if at != held {
					t.Errorf("of %d waited %d at line %d", held, at, here)
				}
			})
		}
	}
}

func holders(t *testing.T) string {
	t.Helper()
	return compile(t, "holders.cpp", "g++ -std=c++20 -O2 -g -w -pthread -o OUT SRC")
}

// kindWaits is the waits of one kind: for how long, and at which lines, those of functions around them
// included.
type kindWaits struct {
	time  uint64
	lines map[int32]uint64
}

// held runs a program whose threads hold something by turns.
func held(t *testing.T, verb, exe, kind string, permits, threads int, flags ...string) (path string) {
	t.Helper()
	const rounds = 40
	args := []string{exe, kind, fmt.Sprint(threads), fmt.Sprint(permits), fmt.Sprint(rounds), "30000", "3000"}
	cmd, path := countingSignals(t, flags, args...)
	if verb == "simulate" {
		var status int
		var said string
		if path, status, said = simulate(t, threads+1, slices.Concat(flags, []string{"--"}, args)...); status != 0 {
			t.Fatalf("status %d: %s", status, said)
		}
	} else if out, err := cmd.CombinedOutput(); err != nil || string(out) != fmt.Sprintln(threads*rounds) {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func waitsByKind(t *testing.T, path string) map[string]*kindWaits {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	tab, out := p.Tables(), map[string]*kindWaits{}
	for id := range tab.Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range in.Costs {
				e := &tab.Events[c.Row]
				name := tab.Kinds[e.Kind].Name
				if out[name] == nil {
					out[name] = &kindWaits{lines: map[int32]uint64{}}
				}
				out[name].time += c.N
				for _, f := range e.Frames {
					out[name].lines[f.Line] += c.N
				}
			}
		}
	}
	return out
}
