package sim_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"lime/internal/profile"
)

// A lock that a program has built itself is no barrier, whatever it is made of, however few threads
// take it, and though they may take it in turns: who holds it lets the next one go after it has
// come out of its own wait, and does not go on together with it.
func TestALockIsNoBarrier(t *testing.T) {
	loads := []load{{2, 200, 300, 300}, {2, 200, 100, 3000}, {3, 100, 20, 20}, {4, 60, 9000, 9000}}
	for i, kind := range excludeKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for j, flags := range []string{"-O2", "-O2 -DTWICE", "-O2 -fno-inline"} {
				exe := compile(t, "exclude.c", "gcc -g -w -pthread "+flags+" -DKIND="+kind+" -o OUT SRC")
				for k, l := range loads {
					if os.Getenv("LIME_LONG") == "" && (i+j+k)%2 > 0 {
						continue // every kind meets every load, and every other pair of flags and load
					}
					if kind == "PETERSON" {
						if l.threads = 2; l.hold < l.outside {
							continue // who comes lets the other one go by that, as in a barrier, before it waits itself
						}
					}
					path, status, said, out := simulated(t, 8, append([]string{unnamed, "--", exe}, l.args()...)...)
					rounds := l.threads * l.rounds * (1 + strings.Count(flags, "TWICE"))
					if status != 0 || !strings.HasPrefix(out, strconv.Itoa(rounds)+" ") {
						t.Fatalf("%s, %+v: status %d, printed %s: %s", flags, l, status, out, said)
					}
					if n := ownBarriers(t, path); n > 0 {
						t.Errorf("%s, %+v: %d sections end at a barrier", flags, l, n)
					}
				}
			}
		})
	}
}

// Of threads that wait for one another in ways of their own, each passage of a barrier ends a
// section, and none of a lock or a semaphore does.
func TestOwnBarriersAndLocks(t *testing.T) {
	const rounds = 20
	for i, row := range []struct {
		kind   string
		passes int
	}{
		{"sense", rounds}, {"yield", rounds}, {"futex", rounds}, {"condition", rounds},
		{"chain", 0}, {"ticket", 0}, {"ttas", 0}, {"mutex", 0}, {"permits", 0}, {"turns", 0},
	} {
		t.Run(row.kind, func(t *testing.T) {
			t.Parallel()
			for j, flags := range []string{"", "-DINLINE"} {
				exe := compile(t, "ownbarrier.c", "gcc -O2 -g -w -pthread "+flags+" -DKIND="+row.kind+" -o OUT SRC")
				for k, threads := range []int{2, 4, 7} {
					if os.Getenv("LIME_LONG") == "" && (i+j+k)%2 > 0 {
						continue // every kind meets every number of threads
					}
					if row.kind == "turns" && threads == 2 {
						continue // who is woken always finds that it is its turn
					}
					path, status, said, _ := simulated(t, 8, unnamed, "--", exe, strconv.Itoa(threads), strconv.Itoa(rounds))
					if status != 0 {
						t.Fatalf("%s, %d threads: status %d: %s", flags, threads, status, said)
					}
					if n := builtBarriers(t, path, threads); n != row.passes {
						t.Errorf("%s, %d threads: %d passages of barriers, want %d", flags, threads, n, row.passes)
					}
				}
			}
		})
	}
}

// ownBarriers is how many sections of a profile end at a barrier that the program has built.
func ownBarriers(t *testing.T, path string) (n int) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, s := range p.Tables().Sections {
		if s.Kind == "built-barrier" {
			n++
		}
	}
	return n
}
