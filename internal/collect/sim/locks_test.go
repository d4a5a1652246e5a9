package sim

import "testing"

func TestLockWords(t *testing.T) {
	for _, c := range []struct {
		places []place
		held   map[uint64]uint64
		want   string
	}{
		{nil, nil, ""},
		{[]place{{kind: placeSymbol, name: "hot"}}, map[uint64]uint64{0x40: 10, 0x30: 20}, "on hot; held at 0x30"},
		{[]place{{kind: placeHeap, site: 0x50}}, nil, "on memory allocated at 0x50"},
		{[]place{{}}, map[uint64]uint64{0x40: 10, 0x30: 10}, "held at 0x30"},
	} {
		w := lockWaits{held: c.held}
		for _, p := range c.places {
			w.data.add(p, 0)
		}
		if got := w.words(); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.places, c.held, got, c.want)
		}
	}
}
