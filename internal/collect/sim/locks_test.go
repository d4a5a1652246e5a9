package sim

import "testing"

func TestLockWords(t *testing.T) {
	hot, cold, other := &lockState{}, &lockState{}, &lockState{}
	names := map[*lockState]string{hot: "hot", cold: "cold", other: "other"}
	for _, c := range []struct {
		locks map[*lockState]uint64
		held  map[uint64]uint64
		want  string
	}{
		{map[*lockState]uint64{hot: 9, cold: 2}, map[uint64]uint64{0x40: 10, 0x30: 20}, "on hot; held at 0x30"},
		{map[*lockState]uint64{hot: 3, cold: 4}, nil, "on cold"},
		{map[*lockState]uint64{hot: 1, cold: 1, other: 1}, map[uint64]uint64{0x40: 10, 0x30: 10}, "held at 0x30"},
	} {
		w := lockWaits{locks: c.locks, held: c.held}
		if got := w.words(func(s *lockState) string { return names[s] }); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.locks, c.held, got, c.want)
		}
	}
}
