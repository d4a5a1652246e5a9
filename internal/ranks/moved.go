package ranks

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// Samples of call paths stand under the sections that ended their pieces. Where a piece is told
// with somebody's wait, or with the piece behind it, they move there with it.

// move is where a thread's time in a section has gone.
type move struct {
	thread profile.ThreadID
	from   profile.SectionID
}

// moves are the times.
type moves map[move]map[profile.SectionID]uint64

func (m moves) add(j *joined, to profile.SectionID) {
	if j == nil {
		return
	}
	for _, v := range j.visits {
		k := move{v.mail.piece.row.Thread, v.mail.section}
		if m[k] == nil {
			m[k] = map[profile.SectionID]uint64{}
		}
		m[k][to] += v.work
	}
}

// moved collects where all pieces are told.
func (m *merger) moved(groups []*group) moves {
	out := moves{}
	for _, g := range groups {
		out.add(g.late, g.section)
		for i := range g.waiters {
			out.add(g.waiters[i].own, g.section)
		}
	}
	for _, mt := range m.list {
		for i, k := range mt.who {
			out.add(m.order[k].visits[mt.nth[i]].before, mt.section)
		}
		for i := range mt.guests {
			out.add(mt.guests[i].own, mt.section)
		}
	}
	return out
}

// shares are the parts of a thread's time that have gone somewhere, in the order of the sections.
func (m moves) shares() map[move][]share {
	out := map[move][]share{}
	for k, to := range m {
		all := uint64(0)
		for _, n := range to {
			all += n
		}
		if all == 0 {
			continue
		}
		for id, n := range to {
			if n > 0 {
				out[k] = append(out[k], share{id, float64(n) / float64(all)})
			}
		}
		slices.SortFunc(out[k], func(a, b share) int { return cmp.Compare(a.to, b.to) })
	}
	return out
}

// apply moves the samples.
func (m moves) apply(list []profile.PathSample) []profile.PathSample {
	shares := m.shares()
	if len(shares) == 0 {
		return list
	}
	out := make([]profile.PathSample, 0, len(list))
	for _, s := range list {
		to := shares[move{s.Thread, s.Section}]
		if to == nil {
			out = append(out, s)
		}
		for _, x := range to {
			y := s
			y.Section, y.Value = x.to, s.Value*x.part
			out = append(out, y)
		}
	}
	return out
}
