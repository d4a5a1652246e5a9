package machine

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// Many rounds in one step are the same as one after the other, and so is what is known to change
// nothing.
func TestRounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	one, many, plain := newTage(8), newTage(8), newTage(8)
	var wrongOne, wrongMany, wrongPlain, skipped uint64
	for i := range 20_000 {
		pc := 0x400 + 64*uint64(rng.IntN(5))
		n := []uint64{16, 7, 200, 70, 1}[pc/64%5]
		if rng.IntN(20) == 0 {
			n = 1 + rng.Uint64N(90)
		}
		for _, run := range []struct {
			taken bool
			n     uint64
		}{{i%3 != 0, n}, {i%3 == 0, 1}} {
			for range run.n {
				if !one.update(pc, run.taken) {
					wrongOne++
				}
				plain.settled = 0
				if !plain.update(pc, run.taken) {
					wrongPlain++
				}
			}
			for left := run.n; left > 0; {
				k := many.rounds(pc, run.taken, left)
				skipped += k
				if left -= k; left > 0 {
					if !many.update(pc, run.taken) {
						wrongMany++
					}
					left--
				}
			}
		}
	}
	if wrongOne != wrongMany || !reflect.DeepEqual(one, many) {
		t.Errorf("%d mispredictions one by one, %d in steps; or the predictors differ", wrongOne, wrongMany)
	}
	one.history, one.settled = one.history&history3, 0
	plain.history, plain.settled = plain.history&history3, 0
	if wrongOne != wrongPlain || !reflect.DeepEqual(one, plain) {
		t.Errorf("%d mispredictions, %d when nothing is known; or the predictors differ", wrongOne, wrongPlain)
	}
	if skipped < 10_000 {
		t.Errorf("only %d rounds were taken together", skipped)
	}
}
