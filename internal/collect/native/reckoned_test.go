package native

import (
	"math/rand/v2"
	"testing"
)

func TestParseReckoning(t *testing.T) {
	for _, row := range []struct {
		text string
		want reckoned
		ok   bool
	}{
		{"29394492 327830586 2876\n", reckoned{29394492, 327830586}, true},
		{"0 0 0\n", reckoned{}, true},
		{"", reckoned{}, false},
		{"1 2\n", reckoned{}, false},
		{"1 x 3\n", reckoned{}, false},
	} {
		if got, ok := parseReckoning(row.text); ok != row.ok || ok && got != row.want {
			t.Errorf("%q: %v, %t; want %v, %t", row.text, got, ok, row.want, row.ok)
		}
	}
}

// What is cut off comes to the sum, or to all that there is.
func TestLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		times := make([]uint64, rng.IntN(20))
		all := uint64(0)
		for i := range times {
			times[i] = rng.Uint64N(1 << rng.UintN(30))
			all += times[i]
		}
		sum := rng.Uint64N(all + all/4 + 1)
		each := level(times, sum)
		cut := uint64(0)
		for _, x := range times {
			cut += min(x, each)
		}
		if want := min(sum, all); cut > want || cut+uint64(len(times)) < want {
			t.Errorf("%v cut to %d at %d, want %d", times, cut, each, want)
		}
	}
}

// Threads' lives as made up: what lime takes for waits for a core is what they waited for one,
// whatever comes in which order, and however late the kernel tells that a thread is back.
func TestReckonedWaits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var tt turns
		var k reckoned
		now, want, got := uint64(1000), uint64(0), uint64(0)
		late := rng.Uint64N(3)
		tt.fresh, tt.read = append(tt.fresh, turn{now, true, true}), true
		queued := func() { // until it has a core
			q := rng.Uint64N(1000)
			k.queued, now = k.queued+q, now+q
		}
		queued()
		for range 1 + rng.IntN(40) {
			tt.fresh = append(tt.fresh, turn{now + late, false, false})
			ran := 10 + rng.Uint64N(1000)
			k.ran, now = k.ran+ran, now+ran
			forced := rng.IntN(2) == 0
			tt.fresh = append(tt.fresh, turn{now, true, forced})
			if rng.IntN(4) == 0 {
				rng.Shuffle(len(tt.fresh), func(i, j int) { tt.fresh[i], tt.fresh[j] = tt.fresh[j], tt.fresh[i] })
				_, w := tt.settle(now, k)
				got += w
			}
			if !forced {
				now += 10_000 + rng.Uint64N(10_000)
				was := k.queued
				queued()
				want += k.queued - was + late
			} else {
				queued()
			}
		}
		tt.fresh = append(tt.fresh, turn{now + late, false, false}, turn{now + 10, true, true})
		k.ran += 10
		_, w := tt.settle(now+10, k)
		got += w
		const turns = 40 * 3
		if got > want+turns || want > got+turns {
			t.Errorf("%d ns of waiting for a core, want %d", got, want)
		}
	}
}
