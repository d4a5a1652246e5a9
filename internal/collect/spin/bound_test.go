package spin

import "testing"

// holds is what a condition says of cmp a, b on eight bits (Intel SDM vol. 1, appendix B).
func holds(cond uint8, a, b uint8) bool {
	d := a - b
	zf, cf, sf := a == b, a < b, d >= 128
	of := (a^b)&(a^d)&128 != 0
	switch cond {
	case condB:
		return cf
	case condAE:
		return !cf
	case condE:
		return zf
	case condNE:
		return !zf
	case condBE:
		return cf || zf
	case condA:
		return !cf && !zf
	case condS:
		return sf
	case condNS:
		return !sf
	case condL:
		return sf != of
	case condGE:
		return sf == of
	case condLE:
		return zf || sf != of
	}
	return !zf && sf == of
}

// All counters of eight bits: as long as rounds says, the condition is what it is, whichever side
// counts. And it says something wherever a counter by one runs towards a border.
func TestNoConditionChangesBeforeItsBound(t *testing.T) {
	said := 0
	for _, cond := range []uint8{condB, condAE, condE, condNE, condBE, condA, condS, condNS, condL, condGE, condLE, condG} {
		for _, step := range []uint8{1, 2, 7, 100, 255, 254, 251, 128} {
			for a := range 256 {
				for b := range 256 {
					c := comparison{moves: uint64(a), stays: uint64(b), step: uint64(step), width: 8, cond: cond}
					if c.holds() != holds(cond, uint8(a), uint8(b)) {
						t.Fatalf("condition %d of %d and %d: %v", cond, a, b, c.holds())
					}
					n := c.rounds()
					if n > 0 {
						said++
					}
					for k := range n + 1 {
						m := uint8(a) + uint8(k)*step
						if holds(cond, m, uint8(b)) != holds(cond, uint8(a), uint8(b)) || holds(cond, uint8(b), m) != holds(cond, uint8(b), uint8(a)) {
							t.Fatalf("condition %d of %d and %d, %+d a round: changes after %d rounds, before %d", cond, a, b, int8(step), k, n)
						}
					}
				}
			}
		}
	}
	if said == 0 {
		t.Error("it never says anything")
	}
	if n := (comparison{moves: 3, stays: 1000, step: 1, width: 32, cond: condL}).rounds(); n != 996 {
		t.Errorf("from 3 to 1000: %d rounds are sure, want 996", n)
	}
}

func TestBoundOnlyOfFlagsThatAreThere(t *testing.T) {
	for _, c := range []struct {
		partly, signed bool
		cond           uint8
		want           bool
	}{
		{true, false, condNE, true}, {true, false, condL, false}, {true, false, condB, false},
		{false, true, condL, true}, {false, true, condB, false}, {false, false, 0xa, false}, {false, false, 0, false},
	} {
		got := comparison{moves: 1, stays: 100, step: 1, width: 32, cond: c.cond, partly: c.partly, signed: c.signed}.rounds() > 0
		if got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
