package analysis

import (
	"maps"
	"slices"

	"lime/internal/ledger"
	"lime/internal/profile"
	"lime/internal/unit"
)

// Granule is the piece of work that is too large for the threads to be even: the last thread is ahead of the mean by less than
// one of them.
type Granule struct {
	Place
	Count uint64  `json:"count"` // of all threads and instances
	Mean  float64 `json:"mean"`  // time of one
}

// Limits of granules.
const (
	mostOfWork  = 0.7  // of the threads' time that is spent in the loop
	leastPieces = 2    // pieces for a thread and instance
	endEffect   = 0.05 // imbalance below which a lead of less than a piece is none
)

// granule looks for a loop that holds most of the section's work, and one iteration of which takes longer than what is lost: the
// innermost one.
func granule(r *runner, sec *Section, acc *ledger.Account) *Granule {
	own := 0.0
	for i := range sec.Threads {
		own += sec.Threads[i].Time
	}
	n := float64(len(acc.Instances))
	var best *Granule
	for i := range acc.Rows {
		row := &acc.Rows[i]
		if row.Kind != ledger.Loop {
			continue
		}
		ways := waysOf(r.tab, row)
		for _, v := range slices.Sorted(maps.Keys(ways)) {
			count, mean := r.rounds(ways[v])
			if mean < acc.Total/n || float64(count)*mean < mostOfWork*own || float64(count) < leastPieces*n*float64(sec.ThreadsMax) {
				continue
			}
			if best == nil || mean < best.Mean {
				best = &Granule{Place: r.ledgerPlace(&row.Place), Count: count, Mean: mean}
			}
		}
	}
	return best
}

// waysOf lists the ways of a row's tests by block.
func waysOf(tab *profile.Tables, row *ledger.Row) map[profile.NodeID][]*ledger.EdgeCount {
	out := map[profile.NodeID][]*ledger.EdgeCount{}
	for i := range row.Edges {
		e := &row.Edges[i]
		if k := tab.Edges[e.Edge].Kind; k == profile.EdgeTaken || k == profile.EdgeFall {
			out[tab.Edges[e.Edge].From] = append(out[tab.Edges[e.Edge].From], e)
		}
	}
	return out
}

// rounds returns how often a loop was gone round, and the time of one round. The values of the ways know it: who stays goes
// round once more, and is then where he was.
func (r *runner) rounds(ways []*ledger.EdgeCount) (count uint64, mean float64) {
	if len(ways) != 2 {
		return 0, 0
	}
	stay, leave := ways[0], ways[1]
	if stay.Value < leave.Value {
		stay, leave = leave, stay
	}
	in, out := total(stay.Counts), total(leave.Counts)
	if in == 0 || out == 0 {
		return 0, 0
	}
	mean = float64(out) / float64(in+out) * (stay.Value - leave.Value)
	if r.prog.s.Back[r.prog.to[stay.Edge]] { // tested behind the body
		in += out
	}
	return in, mean
}

func total(ns []uint64) (sum uint64) {
	for _, n := range ns {
		sum += n
	}
	return sum
}

// evenButForEnds looks whether the section is as even as its pieces of work allow. If little is lost there are no causes to look for.
func (r *runner) evenButForEnds(sec *Section) {
	if sec.Ledger == nil || !sec.Ledger.Exact {
		return
	}
	sec.Granule = granule(r, sec, sec.Ledger)
	if sec.Granule != nil && sec.Imbalance < endEffect {
		sec.Balanced, sec.HasLedger = true, false
		sec.Causes, sec.Candidates, sec.Ledger = nil, nil, nil
	}
}

// granuleVerdict says that smaller pieces of work would help.
func granuleVerdict(s *Section, clock string, say func(code, severity, format string, args ...any)) {
	if g := s.Granule; g != nil {
		say("granularity", SeverityInfo, "What is lost is less than one piece of work: an iteration of the loop at %s takes %s %s, and there are %s of them. Smaller pieces, or chunks, would even it out.",
			g.short(), unit.SI(g.Mean), clock, unit.SI(float64(g.Count)))
	}
}
