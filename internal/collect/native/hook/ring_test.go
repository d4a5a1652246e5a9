package hook

import (
	"slices"
	"testing"
)

// A record that was claimed and never written holds up those behind it, but for the last time.
func TestScanRest(t *testing.T) {
	r, err := NewRing()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	*r.word(offHead) = 4
	for _, i := range []int{0, 2, 3} {
		*r.word(ringHeader + i*slotBytes + slotSeq) = uint64(i) + 1
	}
	var seen []uint64
	take := func(rec Record) { seen = append(seen, rec.Index) }
	if r.Drain(take) || !slices.Equal(seen, []uint64{0}) {
		t.Errorf("records %v before the one that is missing; want 0", seen)
	}
	if r.drainRest(take); !slices.Equal(seen, []uint64{0, 2, 3}) || !r.Drain(take) {
		t.Errorf("records %v, want 0, 2, 3", seen)
	}
}
