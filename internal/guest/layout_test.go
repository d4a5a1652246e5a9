package guest

import (
	"strings"
	"testing"
)

func TestLayoutAboveLime(t *testing.T) {
	const high = "7f0000000000-7f0000001000 r--p 00000000 00:00 0\n"
	for _, c := range []struct {
		maps  string
		low   uint64
		stray bool
	}{
		{"70000000-70a00000 r-xp 00000000 00:00 0 /bin/lime\n" + high, DefaultLayout.LowLo, false}, // as the Makefile links it
		{"555555554000-555555600000 r-xp 00000000 00:00 0 /bin/lime\n" + high, DefaultLayout.LowLo, false},
		{"00400000-00dd0000 r-xp 00000000 00:00 0 /bin/lime\n00dd0000-03732000 rw-p 00000000 00:00 0\n" + high, 0x4000000, false},
		{"00400000-05000001 r-xp 00000000 00:00 0 /bin/lime\n", 0x6000000, false},
		{"00400000-03732000 r-xp 00000000 00:00 0 /bin/lime\n03732000-03753000 rw-p 00000000 00:00 0 [heap]\n", 0x4000000, false},
		{"00400000-03732000 r-xp 00000000 00:00 0 /bin/lime\n3f0c4000-3f0e5000 rw-p 00000000 00:00 0 [heap]\n", 0x40000000, true},
		{"", DefaultLayout.LowLo, false},
	} {
		l, stray := DefaultLayout.above(c.maps)
		if l.LowLo != c.low || stray != c.stray || strings.Contains(l.ownHint(), "make build") != (c.low > DefaultLayout.LowLo) {
			t.Errorf("low region from %#x, want %#x (%s)\n%s", l.LowLo, c.low, l.ownHint(), c.maps)
		}
	}
}
