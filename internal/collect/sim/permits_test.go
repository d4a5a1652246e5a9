package sim_test

import (
	"strconv"
	"testing"

	"lime/internal/profile"
)

// Permits of the C++ library's semaphore are no barrier, though whoever gives one back wakes all who
// wait: they look, one takes it, and the others wait again without having told anybody that they
// came. Until the first of them does so it cannot be known.
func TestPermitsAreNoBarrier(t *testing.T) {
	exe := compile(t, "permits.cpp", "g++ -std=c++20 -O2 -g -w -pthread -o OUT SRC")
	for _, permits := range []int{1, 2, 5} {
		path, status, said, out := simulated(t, 8, "--", exe, "8", strconv.Itoa(permits), "100")
		if status != 0 || out != "800\n" {
			t.Fatalf("%d permits: status %d, printed %s: %s", permits, status, out, said)
		}
		if n := ownPassages(t, path); n > 1 {
			t.Errorf("%d permits: %d passages of barriers", permits, n)
		}
	}
}

// A barrier is one in a part of the run, too, though what its threads did before that is not known.
func TestBarriersOfAPart(t *testing.T) {
	exe := compile(t, "latewindow.c", "gcc -O2 -g -w -pthread -o OUT SRC")
	path, status, said, _ := simulated(t, 8, "--from", "measured", "--", exe, "4", "20")
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	if n := ownPassages(t, path); n != 10 {
		t.Errorf("%d of 10 passages", n)
	}
}

// ownPassages is how many instances of sections end at barriers that the program has built.
func ownPassages(t *testing.T, path string) (n int) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for id, s := range p.Tables().Sections {
		if s.Kind != profile.SectionBuilt {
			continue
		}
		for _, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	return n
}
