package spin

// How long a comparison with a counter stays as it is.

// comparison is what a conditional branch looks at: cmp a, b on width bits, of which one moves by
// step a round.
type comparison struct {
	moves, stays uint64
	step         uint64 // two's complement
	width        uint8
	cond         uint8 // condition code of the branch
	partly       bool  // only ZF and SF are those of the comparison
	signed       bool  // CF is not
}

// Condition codes (Intel SDM vol. 1, appendix B), by what they look at.
const (
	condB, condAE, condE, condNE, condBE, condA    = 2, 3, 4, 5, 6, 7
	condS, condNS, condL, condGE, condLE, condG, _ = 8, 9, 12, 13, 14, 15, 0
)

// rounds is how often the value may surely move before the condition can change; 0 if that cannot
// be told. All conditions depend only on which of the two is larger, unsigned and signed, and on
// the sign of the difference. These change only where the moving value meets the other one, passes
// nil or half of its range, or stands half the range from the other.
func (c comparison) rounds() uint64 {
	if c.step == 0 || c.width == 0 || !c.tells() {
		return 0
	}
	mask := ^uint64(0) >> (64 - c.width)
	half := uint64(1) << (c.width - 1)
	step := low(c.step, c.width/8)
	up := step < half
	if !up {
		step = -step & mask
	}
	least := ^uint64(0)
	for i, at := range [...]uint64{c.stays, 0, half, c.stays + half} {
		d := (at - c.moves) & mask
		if !up {
			d = (c.moves - at) & mask
			if i == 1 || i == 2 {
				d = (d + 1) & mask // the border lies below the value
			}
		}
		if d == 0 {
			if i == 0 || i == 3 {
				return 0 // there now, and the next step leaves
			}
			d = mask // it has just passed there
		}
		least = min(least, d)
	}
	return (least - 1) / step
}

// tells reports whether the flags that the condition looks at are those of the comparison.
func (c comparison) tells() bool {
	switch c.cond {
	case condE, condNE, condS, condNS:
		return true
	case condL, condGE, condLE, condG:
		return !c.partly
	case condB, condAE, condBE, condA:
		return !c.partly && !c.signed
	}
	return false
}

// holds reports whether the condition holds now, if the flags tell.
func (c comparison) holds() bool {
	size := c.width / 8
	a, b := low(c.moves, size), low(c.stays, size)
	switch c.cond {
	case condE, condNE:
		return (a == b) == (c.cond == condE)
	case condS, condNS:
		return (signed(a-b, size) < 0) == (c.cond == condS)
	case condL, condGE:
		return (signed(a, size) < signed(b, size)) == (c.cond == condL)
	case condLE, condG:
		return (signed(a, size) <= signed(b, size)) == (c.cond == condLE)
	case condB, condAE:
		return (a < b) == (c.cond == condB)
	}
	return (a <= b) == (c.cond == condBE)
}
