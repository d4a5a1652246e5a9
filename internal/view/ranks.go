// The ranks of a run of ranks: which thread belongs to which.

package view

import (
	"slices"

	"lime/internal/profile"
)

// ranksOf is the rank of each thread, -1 if it has none; empty but for runs of ranks.
func ranksOf(src Source) []int {
	out := []int{}
	if !slices.ContainsFunc(src.Meta().Notes, func(n profile.Note) bool { return n.Code == profile.NoteRanks }) {
		return out
	}
	threads := src.Tables().Threads
	for i := range threads {
		rank, ok := threads[i].Rank()
		if !ok {
			rank = -1
		}
		out = append(out, rank)
	}
	return out
}

// rank reads a rank, -1 for all.
func (q *query) rank(r *Run) int {
	n := q.whole("r", -1, 1<<30, -1)
	if n >= 0 && !slices.Contains(r.ranks, n) {
		q.fail(missing("the profile has no rank %d", n))
	}
	return n
}

// ofRank tells the threads of a rank, or of all.
func (r *Run) ofRank(rank int) func(thread int) bool {
	return func(thread int) bool { return rank < 0 || r.ranks[thread] == rank }
}
