package sim_test

import (
	"testing"

	"lime/internal/profile"
)

// Loops that do nothing but count up to a number in memory are work: nobody waits in them, whatever
// the compiler makes of them.
func TestCountedLoopsAreWork(t *testing.T) {
	for _, level := range []string{"-O0", "-O2"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			path, status, said := simulate(t, 8, compile(t, "counted.c", "gcc "+level+" -g -pthread -o OUT SRC"), "8")
			if status != 0 {
				t.Fatalf("status %d: %s", status, said)
			}
			got, p := summary(t, path, "counted.c")
			if want := "END barrier: 8 8 8"; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for id := range p.Tables().Sections {
				noLockWaits(t, p, profile.SectionID(id))
			}
		})
	}
}

func noLockWaits(t *testing.T, p profile.Source, id profile.SectionID) {
	t.Helper()
	for in, err := range p.Instances(id) {
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range in.Parts {
			if part.LockWait > 0 {
				t.Errorf("section %d, thread %d: waited %d on a lock", id, part.Thread, part.LockWait)
			}
		}
	}
}
