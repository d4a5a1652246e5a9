package hook

import (
	"encoding/binary"
	"math/rand/v2"
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

// Threads claim, stamp and write records, and each may stand still for any time in between; the
// ring is read meanwhile. What Scan says is sure is so: no record comes to be told of later whose
// stamp lies before that.
func TestScanKnowsWhatIsSure(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r, err := NewRing()
		if err != nil {
			t.Fatal(err)
		}
		testScans(t, r, rng)
		r.Close()
	}
}

func testScans(t *testing.T, r *Ring, rng *rand.Rand) {
	const threads, steps, records = 4, 3, 60 // claim, stamp, write
	type writer struct {
		step int
		slot uint64
	}
	var all [threads]writer
	var sure, now uint64
	told, claimed := map[uint64]bool{}, uint64(0)
	tell := func(index, tsc uint64) {
		if tsc < sure {
			t.Errorf("record %d has the stamp %d; what lay before %d was said to be told", index, tsc, sure)
		}
		told[index] = true
	}
	for len(told) < records {
		now++
		i := rng.IntN(threads + 1)
		if i == threads {
			next, _ := r.Scan(now, tell)
			sure = max(sure, next)
			continue
		}
		w := &all[i]
		switch w.step {
		case 0:
			if claimed == records {
				continue
			}
			w.slot, claimed = claimed, claimed+1
			*r.word(offHead) = claimed
		case 1:
			binary.LittleEndian.PutUint64(r.slot(w.slot)[slotTSC:], now)
		case 2:
			binary.LittleEndian.PutUint64(r.slot(w.slot)[slotSeq:], w.slot+1)
		}
		w.step = (w.step + 1) % steps
	}
	if last, whole := r.Scan(now+1, tell); last != now+1 || !whole {
		t.Errorf("all is told of, and sure is what lies before %d, not %d", last, now+1)
	}
}
