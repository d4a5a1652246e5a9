package sim_test

import (
	"strconv"
	"testing"
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
		if n := ownBarriers(t, path); n > 1 {
			t.Errorf("%d permits: %d sections end at a barrier", permits, n)
		}
	}
}
