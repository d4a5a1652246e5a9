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

// life is a thread's life as made up: its switches, and what the scheduler says of it.
type life struct {
	scheduler
	rng  *rand.Rand
	k    reckoned
	now  uint64
	late uint64      // the kernel tells by how much too late that the thread is back
	away [][2]uint64 // its times off the core of its own accord that no reading has come behind
	cut  uint64      // of those that one has
}

func newLife(rng *rand.Rand) *life {
	return &life{scheduler: scheduler{threads: map[int32]*turns{}}, rng: rng, now: 1000, late: rng.Uint64N(3)}
}

func (l *life) turns() *turns { return l.of(1) }

// queues until it has a core.
func (l *life) queues() {
	q := 1 + l.rng.Uint64N(1000)
	l.k.queued, l.now = l.k.queued+q, l.now+q
}

func (l *life) switches(out, forced bool) {
	at := l.now
	if !out {
		at += l.late
	}
	l.turns().fresh = append(l.turns().fresh, turn{at, out, forced})
}

func (l *life) runs(ns uint64) { l.k.ran, l.now = l.k.ran+ns, l.now+ns }

// reads compares what the scheduler says with the switches until a moment.
func (l *life) reads(k reckoned, at uint64) {
	fresh := l.turns().fresh
	l.rng.Shuffle(len(fresh), func(i, j int) { fresh[i], fresh[j] = fresh[j], fresh[i] })
	l.settle([]reading{{l.turns(), at, k}}, 0)
	for len(l.away) > 0 && l.away[0][1] <= at {
		gone := l.away[0]
		l.cut += min(gone[1]-gone[0], l.waited(1, gone[1]))
		l.away = l.away[1:]
	}
}

// Threads' lives as made up: what lime takes for waits for a core is what they waited for one,
// whatever comes in which order, however late the kernel tells that a thread is back, and whatever
// happens between what the scheduler says and the moment that it is taken for.
func TestReckonedWaits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		l := newLife(rng)
		want := uint64(0)
		l.turns().read = true
		l.switches(true, true)
		l.queues()
		for range 1 + rng.IntN(40) {
			l.switches(false, false)
			l.runs(10 + rng.Uint64N(1000))
			forced := rng.IntN(2) == 0
			l.switches(true, forced)
			switch rng.IntN(6) {
			case 0:
				l.reads(l.k, l.now)
			case 1: // lime had no core since it has read
				k := l.k
				k.queued -= rng.Uint64N(1 + k.queued - l.turns().queued)
				l.reads(k, l.now)
			}
			left, was := l.now, l.k.queued
			if !forced {
				l.now += 10_000 + rng.Uint64N(10_000)
			}
			l.queues()
			if !forced {
				want += l.k.queued - was + l.late
				l.away = append(l.away, [2]uint64{left, l.now + l.late})
			}
			if rng.IntN(6) == 0 { // the thread is back, and the kernel has not told so
				l.reads(l.k, l.now-1)
			}
		}
		for range 2 { // the last reading is right
			l.switches(false, false)
			l.runs(10)
			left := l.now
			l.switches(true, false)
			l.now += 20_000
			l.away = append(l.away, [2]uint64{left, l.now + l.late})
			want += l.late
		}
		l.switches(false, false)
		l.runs(10)
		l.switches(true, true)
		l.reads(l.k, l.now)
		const turns = 42 * 3
		if l.cut > want+turns || want > l.cut+turns {
			t.Errorf("%d ns of waiting for a core, want %d", l.cut, want)
		}
	}
}
