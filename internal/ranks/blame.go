package ranks

import (
	"cmp"
	"slices"
)

// Whom the ranks waited for that waited for a message: what ran meanwhile in the rank that was
// late. Where that one waited itself, it is what the one did for whom it waited, and so on.

// slice is a part of a rank's wait, in which somebody's piece ran.
type slice struct {
	who    end // the visit at which it waits
	lo, hi uint64
}

// blame maps the pieces that others waited for, by their visits, to these waits; those of nobody's
// piece stand under an end of no line.
func (m *merger) blame() map[end][]slice {
	of := map[end][]slice{}
	for _, e := range m.mails {
		v := &e.line.visits[e.visit]
		if v.release <= v.arrive {
			continue
		}
		charge(v.waitedFor(), v.arrive, v.release, func(at end, lo, hi uint64) {
			of[at] = append(of[at], slice{e, lo, hi})
		})
	}
	for at, list := range of {
		slices.SortFunc(list, func(a, b slice) int {
			return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.who.line.rank, b.who.line.rank), cmp.Compare(a.who.visit, b.who.visit))
		})
		of[at] = list
	}
	return of
}

// charge divides the time from a to b among what was done up to a visit, the last first: where that
// rank had come and waited, the one for whom it did counts from there on, as on a critical path.
func charge(to end, a, b uint64, each func(at end, lo, hi uint64)) {
	for to.line != nil && a < b {
		v := &to.line.visits[to.visit]
		if last := max(a, v.arrive); last < b { // the operation itself
			each(end{}, last, b)
			b = last
		}
		if lo := max(a, v.start()); lo < b {
			each(to, lo, b)
			b = lo
		}
		if to.visit--; to.visit < 0 {
			break
		}
		if v := &to.line.visits[to.visit]; v.arrive < b {
			to = v.waitedFor()
		}
	}
	if a < b {
		each(end{}, a, b)
	}
}

// waitedFor is whom a rank waited for in a visit.
func (v *visit) waitedFor() end {
	if v.meet != nil {
		return v.meet.cause
	}
	return v.mail.cause
}
