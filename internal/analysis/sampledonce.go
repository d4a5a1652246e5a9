// A branch that a thread comes to once decides once.

package analysis

import (
	"maps"
	"slices"

	"lime/internal/profile"
)

// rank is how likely unevenness begins at a boundary. One that is as uneven beside it, or that all
// threads which differ pass alike, is none.
func (w *walker) rank(s *part) int {
	r := w.preference(s.b)
	if r == rankJoin && w.around(s) || (r == rankJoin || r == rankBranch) && w.passed(s) {
		return rankNone
	}
	return r
}

// passed reports whether a branch cannot be why threads differ. It tells apart only those that come
// to it: if all but one began elsewhere, there are none. And if each comes to it once, it says yes or
// no, and threads that have samples behind it have all been let through. Where these differ among
// themselves by more than from those that have none there, it is something behind it that decides.
// Inside of a loop, or a recursion, a branch may say yes many times.
func (w *walker) passed(s *part) bool {
	came := w.begun(s)
	switch {
	case w.sums && len(came) < 2:
		return true
	case !w.once:
		return false
	}
	for up := s.up; up != nil; up = up.up {
		if up.b.kind == boundLoop || up.b.kind == boundRecursion {
			return false
		}
	}
	var went, all squares
	for _, id := range came {
		x := s.threads[id]
		if all.add(x); x > 0 {
			went.add(x)
		}
	}
	within := went.about()
	return within > all.about()-within
}

// begun lists the threads that begin in the function in which the one begins that comes to a part.
func (w *walker) begun(s *part) []profile.ThreadID {
	for s.up != nil && s.up.up != nil {
		s = s.up
	}
	if s.up == nil {
		return slices.Sorted(maps.Keys(s.threads))
	}
	first, ids := w.ps.tab.Nodes[s.b.node].Function, map[profile.ThreadID]bool{}
	for _, k := range s.up.kids {
		if w.ps.tab.Nodes[k.b.node].Function != first {
			continue
		}
		for id, t := range k.threads {
			if t > 0 {
				ids[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// squares adds up the squared deviations from the mean.
type squares struct{ n, sum, sq float64 }

func (s *squares) add(x float64) { s.n, s.sum, s.sq = s.n+1, s.sum+x, s.sq+x*x }

func (s *squares) about() float64 { return max(0, s.sq-ratio(s.sum*s.sum, s.n)) }

// loopsAround lists the loops around a part, the innermost first, up to what all threads pass. That
// the few samples of what else is in them were even does not say that they go round as often in all
// threads: their lengths do.
func loopsAround(s *part) (loops []*part) {
	for u := s.up; u != nil && !u.ends; u = u.up {
		if u.b.kind == boundLoop {
			loops = append(loops, u)
		}
	}
	return loops
}
