package analysis

import (
	"lime/internal/ledger"
	"lime/internal/unit"
)

// Granule is the piece of work that is too large for the threads to be even: the last thread is ahead of the mean by less than
// one of them, or two.
type Granule struct {
	Place
	Count uint64  `json:"count"` // of all threads and instances
	Mean  float64 `json:"mean"`  // time of one
	Lead  float64 `json:"lead"`  // of the last thread before the mean, in pieces
}

// Limits of granules.
const (
	mostOfWork  = 0.7  // of the threads' time that is spent in the loop
	leastPieces = 2    // pieces for a thread and instance
	mostLead    = 2    // pieces
	endEffect   = 0.05 // imbalance below which a lead of less than a piece is none
	mostWaits   = 0.5  // of the imbalance in waits for locks, or for one's turn: smaller pieces would not help
)

// granule looks for a loop that holds most of the section's work, and two iterations of which take longer than what is lost: the
// innermost one.
func (r *runner) granule(sec *Section, acc *ledger.Account) *Granule {
	own := 0.0
	for i := range sec.Threads {
		own += sec.Threads[i].Time
	}
	n := float64(len(acc.Instances))
	var best *Granule
	for i := range acc.Tests {
		t := &acc.Tests[i]
		g := Granule{Count: t.Stayed, Mean: t.Round}
		if r.prog.s.Back[r.prog.to[t.Stay]] { // tested behind the body
			g.Count += t.Left
		}
		work := float64(g.Count) * g.Mean
		if g.Lead = ratio(acc.Total/n, g.Mean); g.Mean <= 0 || g.Lead > mostLead || work < mostOfWork*own || float64(g.Count) < leastPieces*n*float64(sec.ThreadsMax) {
			continue
		}
		if best == nil || g.Mean < best.Mean {
			g.Place = r.ledgerPlace(&t.Place)
			best = &g
		}
	}
	return best
}

// evenButForEnds looks whether the section is as even as its pieces of work allow. If little is lost there are no causes to look for.
func (r *runner) evenButForEnds(sec *Section) {
	if sec.Ledger == nil || !sec.Ledger.Exact {
		return
	}
	if waitShare(sec.Ledger) > mostWaits {
		return // the pieces are not what makes the difference
	}
	g := r.granule(sec, sec.Ledger)
	sec.Granule = g
	if g != nil && g.Lead <= 1 && sec.Imbalance < endEffect {
		sec.Balanced, sec.HasLedger = true, false
		sec.Causes, sec.Candidates, sec.Ledger = nil, nil, nil
	}
}

// waitShare is the share of an account's rows that are waits for others.
func waitShare(acc *ledger.Account) float64 {
	s := 0.0
	for i := range acc.Rows {
		if acc.Rows[i].Kind == ledger.LockWait {
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
	say("granularity", SeverityInfo, "What is lost is less than %s of work: an iteration of the loop at %s takes %s %s, and there are %s of them. Smaller pieces, or chunks, would even it out.",
		lead, g.short(), unit.SI(g.Mean), clock, unit.SI(float64(g.Count)))
}
