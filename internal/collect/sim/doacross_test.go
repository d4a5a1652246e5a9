package sim_test

import (
	"testing"

	"lime/internal/profile"
)

// Who waits for an iteration before waits for others' work: nobody has a lock, and to hold anything
// for less time helps nobody.
func TestIterationsBeforeAreNoLock(t *testing.T) {
	const here = 20 // HERE
	for _, cc := range []string{"gcc", "clang"} {
		t.Run(cc, func(t *testing.T) {
			path, status, said := simulate(t, 4, compile(t, "doacross.c", cc+" -O1 -g -fopenmp -o OUT SRC"))
			if status != 0 || said != "" {
				t.Fatalf("status %d: %s", status, said)
			}
			waits := waitsByKind(t, path)
			if w := waits[profile.KindLockWait]; w != nil {
				t.Errorf("waits of %d for a lock", w.time)
			}
			// all but a third of the four threads' time: one works on the chain, and the rest is as long
			const chain = 24 * 20_000
			if w := waits[profile.KindWorkWait]; w == nil || w.lines[here] != w.time || w.time < chain {
				t.Errorf("waits for others' work: %+v", w)
			}
		})
	}
}
