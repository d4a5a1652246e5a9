package stat

import (
	"math"
	"math/bits"
)

// reduce writes (x - min)/gcd to dst, the same for all events with r = 1 whose ratio is
// rational, and returns the largest of these values: 0 if x does not vary.
func reduce(dst, x []uint64) uint64 {
	if len(x) == 0 {
		return 0
	}
	lo, hi := x[0], x[0]
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	if lo == hi {
		return 0
	}
	d := newDivisor(hi - lo)
	for i, v := range x {
		dst[i] = v - lo
		if d.by > 1 && !d.divides(dst[i]) {
			d = newDivisor(gcd(d.by, dst[i]))
		}
	}
	if d.by > 1 {
		for i, v := range dst {
			dst[i] = d.quotient(v)
		}
	}
	return (hi - lo) / d.by
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// divisor divides without a division, where that leaves no remainder. Modulo 2^64 an odd number has
// an inverse, which makes quotients of its multiples and something larger than all of them of
// everything else (Granlund and Montgomery, Division by Invariant Integers using Multiplication,
// 1994, section 9).
type divisor struct {
	by      uint64
	inverse uint64 // of its odd part
	twos    int
	most    uint64 // largest quotient
}

func newDivisor(by uint64) divisor {
	d := divisor{by: by, twos: bits.TrailingZeros64(by), most: math.MaxUint64 / by}
	odd := by >> d.twos
	d.inverse = odd // right in three bits; each round doubles them
	for range 5 {
		d.inverse *= 2 - odd*d.inverse
	}
	return d
}

func (d *divisor) divides(v uint64) bool { return d.quotient(v) <= d.most }

// quotient is v / by, if by divides v.
func (d *divisor) quotient(v uint64) uint64 { return bits.RotateLeft64(v*d.inverse, -d.twos) }
