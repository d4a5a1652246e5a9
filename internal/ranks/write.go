package ranks

import (
	"fmt"
	"slices"

	"lime/internal/profile"
)

// How the one profile comes to be, when all files have been read.

// align sets the clocks.
func (m *merger) align() {
	if m.whole = m.whole || m.meta.Ranks > 0 && m.ranks >= m.meta.Ranks; m.whole {
		m.match()
	}
	if n := align(m.order); n > 0 {
		m.notes.add(NoteUnaligned, "meetings were not come to by all of their ranks: where these waited, and for whom, is not known", uint64(n))
	}
	for _, l := range m.order {
		m.end = max(m.end, l.now)
	}
}

// write writes the meetings in the order of time, then what is the ranks' own affair.
func (m *merger) write(sink profile.Sink, groups []*group) error {
	for _, x := range m.inOrder(groups) {
		for _, in := range x.make() {
			if err := sink.WriteInstance(in); err != nil {
				return err
			}
		}
	}
	for _, a := range m.again {
		if err := m.own(a, sink); err != nil {
			return err
		}
	}
	return nil
}

// over is when the first rank left a meeting.
func (m *meet) over(lines []*line) uint64 { return lines[m.who[0]].visits[m.nth[0]].release }

// chunk is how many instances of the ranks' own are brought into the order of time together.
const chunk = 1 << 12

// own writes the instances of a file that are its rank's own affair.
func (m *merger) own(a again, sink profile.Sink) error {
	var list []*profile.Instance
	flush := func() error {
		slices.SortStableFunc(list, func(x, y *profile.Instance) int {
			return int(min(max(int64(x.Parts[0].Release)-int64(y.Parts[0].Release), -1), 1))
		})
		for _, in := range list {
			if err := sink.WriteInstance(in); err != nil {
				return err
			}
		}
		list = list[:0]
		return nil
	}
	r, err := profile.Open(a.path)
	if err != nil {
		return err
	}
	defer r.Close()
	f := &file{m: m, n: a.n, r: r, ids: m.u.add(r.Tables()), merged: isMerged(r.Meta())}
	err = r.Scan(func(in *profile.Instance) error {
		if x := f.second(in); x != nil {
			list = append(list, x)
		}
		if len(list) < chunk {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// description is that of the whole run.
func (m *merger) description() profile.Meta {
	d := m.meta
	d.RankInfo = profile.RankInfo{Launcher: d.Launcher, Ranks: max(d.Ranks, m.ranks), Job: d.Job}
	d.Cores, d.Asked, d.CoreTime = m.cores, false, m.core
	if m.end > 0 {
		d.RunTime = m.end
	}
	if n := m.traces.thin; n > 0 {
		m.notes.add(NoteThinned,
			fmt.Sprintf("the time line has call paths of one of %d samples of the ranks' profiles: there were too many", 1<<n), 1)
	}
	d.Notes = m.notes.list(m.ranks, m.meta.Ranks, m.order)
	return d
}
