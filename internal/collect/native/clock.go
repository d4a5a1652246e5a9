package native

import (
	"math"
	"sort"

	"golang.org/x/sys/unix"
)

// clocks say when a process is: what its records have come to, and the clock for waits of its
// threads for one another.
type clocks struct {
	pace    pace
	started uint64
	now     uint64
}

// rdtsc reads the time stamp counter.
func rdtsc() uint64

// monotonic reads CLOCK_MONOTONIC in nanoseconds, the clock of perf's records.
func monotonic() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail
	return uint64(ts.Nano())
}

// pair is one reading of both clocks.
type pair struct{ tsc, ns uint64 }

// readPair reads both clocks as close together as a few tries allow.
func readPair() pair {
	best, gap := pair{}, uint64(math.MaxUint64)
	for range 5 {
		a := rdtsc()
		ns := monotonic()
		b := rdtsc()
		if b-a < gap {
			best, gap = pair{a + (b-a)/2, ns}, b-a
		}
	}
	return best
}

// tscClock converts the time stamps of hooks to CLOCK_MONOTONIC. The two clocks drift against each
// other (NTP slews one of them), so it goes by the readings around a time stamp.
type tscClock struct{ pairs []pair }

const maxPairs = 1 << 12

// tick takes a reading.
func (c *tscClock) tick() { c.add(readPair()) }

func (c *tscClock) add(p pair) {
	if n := len(c.pairs); n > 0 && p.tsc <= c.pairs[n-1].tsc {
		return
	}
	if len(c.pairs) == maxPairs {
		c.pairs = append(c.pairs[:1], c.pairs[maxPairs/2:]...)
	}
	c.pairs = append(c.pairs, p)
}

// nanos converts a time stamp, 0 if it lies before all time.
func (c *tscClock) nanos(tsc uint64) uint64 {
	n := len(c.pairs)
	if n < 2 {
		return 0
	}
	i := sort.Search(n, func(i int) bool { return c.pairs[i].tsc >= tsc })
	i = max(1, min(i, n-1))
	a, b := c.pairs[i-1], c.pairs[i]
	rate := float64(b.ns-a.ns) / float64(b.tsc-a.tsc)
	return uint64(max(0, int64(a.ns)+int64(float64(int64(tsc-a.tsc))*rate)))
}

// span converts a number of cycles that ended at a time stamp.
func (c *tscClock) span(cycles, until uint64) uint64 {
	return c.nanos(until) - min(c.nanos(until-min(cycles, until)), c.nanos(until))
}
