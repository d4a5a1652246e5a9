package native

import "testing"

// Where switches come by the hundred thousand, the rings must not lose any.
func TestTaskPages(t *testing.T) {
	for _, c := range []struct {
		unlimited bool
		cpus      int
		want      int
	}{
		{false, 2, 32}, {false, 512, 32}, {true, 1, 1024}, {true, 2, 1024}, {true, 16, 1024}, {true, 64, 256}, {true, 512, 32}, {true, 4096, 32},
	} {
		if got := taskPages(c.unlimited, c.cpus); got != c.want {
			t.Errorf("%d CPUs, unlimited %v: %d pages, want %d", c.cpus, c.unlimited, got, c.want)
		}
	}
}
