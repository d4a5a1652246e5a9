package sim_test

import (
	"testing"

	"lime/internal/profile"
)

// Who looks for work and gives its core away waits, though its loop stores where others look: most
// of its time is no work.
func TestSearchersWait(t *testing.T) {
	prog := compile(t, "searchers.c", "gcc -O2 -g -pthread -o OUT SRC")
	path, status, said := simulate(t, 8, prog)
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	all := worked(t, path, 0)
	if all == 0 {
		t.Fatal("thread 0 did nothing")
	}
	for id := 1; id < 8; id++ {
		if n := worked(t, path, profile.ThreadID(id)); n*2 > all {
			t.Errorf("thread %d worked for %d, thread 0, which does all the work, for %d", id, n, all)
		}
	}
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	addsUp(t, p)
}
