package ranks

import (
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
func (m *merger) write(sink profile.Sink) error {
	for _, x := range m.inOrder(m.waits()) {
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

// apart splits a meeting in which not everybody waits for everybody: those who waited, and the one
// for whom they did, are one instance; each of the others stands alone.
func apart(in *profile.Instance, least uint64) []*profile.Instance {
	if !slices.ContainsFunc(in.Parts, func(p profile.Part) bool { return p.Meets != profile.MeetAll || p.Early > 0 }) {
		return []*profile.Instance{in}
	}
	group, late := make([]int, len(in.Parts)), -1 // 0: those who waited
	for i := range in.Parts {
		p := &in.Parts[i]
		if p.Meets.Feeds() && (late < 0 || p.Arrive-p.Early > in.Parts[late].Arrive-in.Parts[late].Early) {
			late = i
		}
		if p.Release <= p.Arrive+least {
			group[i] = i + 1
		}
	}
	if late >= 0 && slices.Contains(group, 0) {
		group[late] = 0
	}
	return split(in, group)
}

// split makes an instance of each group of parts, in the order of their first parts.
func split(in *profile.Instance, group []int) (out []*profile.Instance) {
	byGroup := map[int]*profile.Instance{}
	number := make([]int32, len(in.Parts))
	for i, g := range group {
		x := known(byGroup, g, func() *profile.Instance {
			x := &profile.Instance{Section: in.Section, Meeting: in.Meeting}
			out = append(out, x)
			return x
		})
		number[i] = int32(len(x.Parts))
		x.Parts = append(x.Parts, in.Parts[i])
	}
	for k, cells := range matrices(in) {
		for _, c := range *cells {
			to := matrices(byGroup[group[c.Part]])[k]
			*to = append(*to, profile.Count{Row: c.Row, Part: number[c.Part], N: c.N})
		}
	}
	return out
}

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
	d.Cores, d.CoreTime = m.cores, m.core
	if m.end > 0 {
		d.RunTime = m.end
	}
	d.Notes = m.notes.list(m.ranks, m.meta.Ranks, m.order)
	return d
}
