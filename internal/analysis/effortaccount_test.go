package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawnLoss is an account with random shares, most of it in a few terms.
func drawnLoss(r *rand.Rand) *Loss {
	l := &Loss{Cores: 4, CoreTime: 1}
	for _, row := range lossTerms {
		share := math.Pow(r.Float64(), 6)
		l.Terms = append(l.Terms, LossTerm{Name: row.name, Share: share})
	}
	sum := 0.0
	for i := range l.Terms {
		sum += l.Terms[i].Share
	}
	for i := range l.Terms {
		l.Terms[i].Share /= sum
		l.Terms[i].Time = l.Terms[i].Share
	}
	return l
}

// fits tells which advice may be given where a term is what most is lost to.
var fits = map[string][]string{
	TermImbalance: {AdviceRefine, AdviceChange}, TermSerial: {AdviceRefine, AdviceChange}, TermWait: {AdviceRefine, AdviceChange},
	TermLock: {AdviceLocks}, TermOffCore: {AdviceOffCore}, TermOverhead: {AdviceCoarsen, AdviceChange},
}

// Whatever samples say, the effort does not contradict the account: its parts are the account's, and
// its advice is about the largest of the terms that are waiting or overhead.
func TestTheEffortFollowsTheAccount(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	given := map[string]int{}
	for range 3000 {
		l := drawnLoss(r)
		idle := r.Float64() * r.Float64()
		e := &Effort{Limit: HighShare, IdlenessShare: Interval{Value: idle}, OverheadShare: Interval{Value: (1 - idle) * r.Float64()}}
		e.follow(l, 1e4)
		given[e.Advice]++
		if sum := e.Of.Work + e.Of.Overhead + e.Of.Waiting + e.Of.Unproved; math.Abs(sum-1) > 1e-9 {
			t.Fatalf("%+v add up to %v", e.Of, sum)
		}
		if low := e.Advice == AdviceEffective || e.Advice == AdviceUnproved; low != (max(e.Of.Waiting, e.Of.Overhead) < HighShare) {
			t.Errorf("%s: %+v", e.Advice, e.Of)
		}
		most := l.Largest()
		if may, ok := fits[most.Name]; ok && most.Share >= HighShare && !slices.Contains(may, e.Advice) {
			t.Errorf("%.2f of the time is %s, the advice is %s (%+v)", most.Share, most.Name, e.Advice, e.Of)
		}
		if e.Advice == AdviceEffective && idle >= HighShare {
			t.Errorf("effective, though threads were idle for %v", idle)
		}
	}
	if len(given) != 7 {
		t.Errorf("advice drawn: %v, want all seven", given)
	}
}

// The overhead is known by samples: with few of them it is not sure whether it is high.
func TestFewSamplesAreUnsureOfTheOverhead(t *testing.T) {
	l := &Loss{Terms: []LossTerm{{Name: TermUseful, Share: 0.48}, {Name: TermOverhead, Share: 0.12}, {Name: TermLock, Share: 0.4}}}
	for samples, want := range map[float64]bool{100: true, 1e5: false} {
		e := &Effort{Limit: HighShare}
		if e.follow(l, samples); e.Unsure != want || math.Abs(e.Bounds.Value-0.12) > 1e-9 || e.Bounds.Hi > 0.6 {
			t.Errorf("%v samples: unsure %v, %+v", samples, e.Unsure, e.Bounds)
		}
	}
}
