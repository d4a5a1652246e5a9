package analysis

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/ledger"
	"lime/internal/profile"
	"lime/internal/unit"
)

// Granule is the piece of work that is too large for the threads to be even: the last thread is
// ahead of the mean by less than one of them, or two, because of how many it was given, and not
// because its own took longer.
type Granule struct {
	Place
	Count uint64  `json:"count"` // of all threads and instances
	Mean  float64 `json:"mean"`  // time of one
	Lead  float64 `json:"lead"`  // of the last thread before the mean, in pieces
	Tasks bool    `json:"tasks,omitempty"`
}

// granule looks for a loop that holds most of the section's work, two iterations of which take
// longer than what is lost in any instance, and whose iterations are what is uneven: the innermost
// one.
func (r *runner) granule(sec *Section, acc *ledger.Account) *Granule {
	own := 0.0
	for i := range sec.Threads {
		own += sec.Threads[i].Time
	}
	n := float64(len(acc.Instances))
	most := slices.MaxFunc(acc.Instances, func(a, b ledger.InstanceTotal) int { return cmp.Compare(a.Total, b.Total) }).Total
	fair := 1 - min(1, ratio(sec.Chance, acc.Total)) // who took which piece is no matter of their size
	most *= fair
	var best *Granule
	for i := range acc.Tests {
		t := &acc.Tests[i]
		g := Granule{Count: t.Stayed, Mean: t.Round, Lead: ratio(fair*acc.Total/n, t.Round)}
		if r.prog.s.Back[r.prog.to[t.Stay]] { // tested behind the body
			g.Count += t.Left
		}
		work := float64(g.Count) * g.Mean
		if g.Mean <= 0 || most > mostLead*g.Mean || work < mostOfWork*own || float64(g.Count) < leastPieces*n*float64(sec.ThreadsMax) {
			continue
		}
		if (best == nil || g.Mean < best.Mean) && (remainder(t, acc) || dealtOut(t.Rounds, acc, sec)) {
			g.Place = r.ledgerPlace(&t.Place)
			best = &g
		}
	}
	if best == nil {
		return taskGranule(sec, acc, most, fair*acc.Total/n)
	}
	return best
}

// taskGranule is the same of tasks, which a runtime deals out as threads become free.
func taskGranule(sec *Section, acc *ledger.Account, most, lost float64) *Granule {
	if sec.Tasks == nil {
		return nil
	}
	g := &Granule{Place: sec.Tasks.Place, Count: sec.Tasks.Count, Mean: sec.Tasks.Mean, Lead: ratio(lost, sec.Tasks.Mean), Tasks: true}
	given := make([]uint64, len(acc.Threads))
	for i := range acc.Rows {
		for k, n := range acc.Rows[i].Tasks {
			given[k] += n
		}
	}
	if most > mostLead*g.Mean || float64(g.Count) < leastPieces*float64(len(acc.Instances))*float64(sec.ThreadsMax) ||
		!dealtOut(given, acc, sec) {
		return nil
	}
	return g
}

// remainder says whether a loop's rounds do not divide by the threads: some have one more in an
// instance, at the same price.
func remainder(t *ledger.LoopTest, acc *ledger.Account) bool {
	if len(t.Rounds) == 0 || slices.Max(t.Rounds)-slices.Min(t.Rounds) > uint64(len(acc.Instances)) {
		return false
	}
	share := 0.0
	for i := range acc.Rows {
		row := &acc.Rows[i]
		if row.DealtLoop > 0 && row.DealtLoop == t.DealtLoop || row.Kind == ledger.Loop && row.Place.File == t.Place.File &&
			row.Place.Line == t.Place.Line && (row.Place.Line > 0 || row.Place.Node == t.Place.Node) {
			share += row.Share
		}
	}
	return share >= byNumber
}

// dealtOut says whether threads take rounds of a loop, or tasks, as they become free: then their
// number makes up for their price, and with as many for each, at its own price, the threads would
// be less even than they are.
func dealtOut(rounds []uint64, acc *ledger.Account, sec *Section) bool {
	if len(rounds) != len(acc.Threads) {
		return false
	}
	sum := 0.0
	for _, n := range rounds {
		sum += float64(n)
	}
	each := sum / float64(len(rounds))
	var now, even []float64
	for i, id := range acc.Threads {
		k, ok := slices.BinarySearchFunc(sec.Threads, id, func(a ThreadTotal, b profile.ThreadID) int { return int(a.Thread) - int(b) })
		if !ok || rounds[i] == 0 {
			return false
		}
		time := sec.Threads[k].Time
		now, even = append(now, time), append(even, time/float64(rounds[i])*each)
	}
	return aheadOfMean(even) >= madeUp*aheadOfMean(now)
}

// aheadOfMean is by how much the largest value exceeds the mean.
func aheadOfMean(xs []float64) float64 {
	return max(0, slices.Max(xs)-sumOf(xs)/math.Max(1, float64(len(xs))))
}

// evenButForEnds looks whether the section is as even as its pieces of work allow. If little is
// lost, which thread came last is luck.
func (r *runner) evenButForEnds(sec *Section) {
	if sec.Ledger == nil || !sec.Ledger.Exact || len(sec.Ledger.Instances) == 0 {
		return
	}
	if waitShare(sec.Ledger) > mostWaits {
		return // the pieces are not what makes the difference
	}
	g := r.granule(sec, sec.Ledger)
	sec.Granule = g
	if g != nil && (g.Lead <= 1 || g.Tasks) && sec.Imbalance < endEffect {
		sec.demote()
	}
}

// demote makes none of a section's causes important.
func (s *Section) demote() {
	for i := range s.Causes {
		s.Causes[i].Important = false
	}
}

// waitShare is the share of an account's rows that are waits for others.
func waitShare(acc *ledger.Account) float64 {
	s := 0.0
	for i := range acc.Rows {
		if k := acc.Rows[i].Kind; k == ledger.LockWait || k == ledger.SpinWait {
			s += acc.Rows[i].Share
		}
	}
	return s
}

// granuleVerdict says that smaller pieces of work would help.
func granuleVerdict(s *Section, clock string, say func(code, severity, format string, args ...any)) {
	g := s.Granule
	if g == nil {
		return
	}
	lead := "one piece"
	if g.Lead > 1 {
		lead = "two pieces"
	}
	piece := "an iteration of the loop at " + g.short()
	if g.Tasks {
		piece = "a task of " + g.short()
	}
	say("granularity", SeverityInfo, "What is lost is less than %s of work: %s takes %s "+
		"%s, and there are %s of them. Smaller pieces, or chunks, would even it out.",
		lead, piece, unit.SI(g.Mean), clock, unit.SI(float64(g.Count)))
}
