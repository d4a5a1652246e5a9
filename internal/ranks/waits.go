package ranks

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// Instances of what is between single ranks. A piece for which somebody waited is one, together
// with those who did; a rank's own piece before its wait stands with the first that it waited for.
// A piece for which nobody waited, and behind which the rank did not wait, is put together with the
// next.

// joined are pieces of a rank that are one, in order.
type joined struct {
	visits []*visit
	work   uint64
	lead   []profile.EdgeID // from their end to what they belong to
}

func (j *joined) add(v *visit) *joined {
	if j == nil {
		j = &joined{}
	}
	j.visits, j.work = append(j.visits, v), j.work+v.work
	return j
}

// piece is the nth.
func (j *joined) piece(n int) *piece { return &j.visits[n].mail.piece }

// start is when the first one began.
func (j *joined) start() uint64 { return j.visits[0].start() }

// from takes away those that began before a time and had ended by then, and returns them; nil if
// there are none.
func (j *joined) from(at uint64) (rest, gone *joined) {
	if j == nil {
		return nil, nil
	}
	n := 0
	for n < len(j.visits) && j.visits[n].arrive <= at && j.visits[n].start() < at {
		gone = gone.add(j.visits[n])
		n++
	}
	for _, v := range j.visits[n:] {
		rest = rest.add(v)
	}
	if rest != nil {
		rest.lead = j.lead
	}
	return rest, gone
}

// addTo puts pieces before a part that is there.
func (j *joined) addTo(in *profile.Instance, part int32) {
	if j == nil {
		return
	}
	p := &in.Parts[part]
	first := &j.piece(0).row
	p.Start, p.Entry, p.EntryStack = p.Start-min(j.work, p.Start), first.Entry, first.EntryStack
	j.counts(in, part)
	for _, e := range j.lead {
		in.Edges = append(in.Edges, profile.Count{Row: int32(e), Part: part, N: 1})
	}
	for i := range j.visits {
		x := j.piece(i)
		p.LockWait, p.OffCPU = p.LockWait+x.row.LockWait, p.OffCPU+x.row.OffCPU
	}
	tidy(in)
}

// counts adds what the pieces counted, and the ways between them.
func (j *joined) counts(in *profile.Instance, part int32) {
	for i := range j.visits {
		x := j.piece(i)
		unpack(x.counts, matrices(in), part)
		if i > 0 {
			for _, e := range x.lead {
				in.Edges = append(in.Edges, profile.Count{Row: int32(e), Part: part, N: 1})
			}
		}
	}
}

// tidy brings an instance's cells into order, and adds up those of one place.
func tidy(in *profile.Instance) {
	for _, list := range matrices(in) {
		*list = summed(*list)
	}
}

// part is the pieces as a part that arrives then, and waits until it is released.
func (j *joined) part(arrive, release uint64) profile.Part {
	p, last := j.piece(0).row, j.piece(len(j.visits)-1).row
	p.Exit, p.ExitStack = last.Exit, last.ExitStack
	for i := range j.visits[1:] {
		x := j.piece(i + 1)
		p.LockWait, p.OffCPU = p.LockWait+x.row.LockWait, p.OffCPU+x.row.OffCPU
	}
	p.Start, p.Arrive, p.Release = arrive-min(j.work, arrive), arrive, release
	p.Meets, p.Early = profile.MeetAll, 0
	return p
}

// group is what is told together: a late rank's pieces, and who waited for them. Either may be
// none.
type group struct {
	section profile.SectionID
	meeting profile.Meeting
	at      uint64 // when the pieces ended
	late    *joined
	waiters []waiter
	visit   end // of a group of one visit
}

// waiter is a rank that stands at its mail from lo to hi.
type waiter struct {
	slice
	own *joined // what it did before, if that is told here
}

// messages is the communicator of meetings that are told as instances of messages.
const messages = "messages"

// part is the waiter's: of what it did before nothing is told twice.
func (w *waiter) part() profile.Part {
	if w.own != nil {
		return w.own.part(w.lo, w.hi)
	}
	p := w.who.line.visits[w.who.visit].mail.piece.row
	p.Entry, p.EntryStack = p.Exit, p.ExitStack
	p.Start, p.Arrive, p.Release = w.lo, w.lo, w.hi
	p.LockWait, p.OffCPU, p.Meets, p.Early = 0, 0, profile.MeetAll, 0
	return p
}

// instance makes an instance of a group.
func (g *group) instance() *profile.Instance {
	in := &profile.Instance{Section: g.section, Meeting: &g.meeting}
	if g.late != nil {
		p := g.late.part(g.at, g.at)
		if g.visit.line != nil {
			v := &g.visit.line.visits[g.visit.visit]
			p.Meets, p.Early = v.role, v.early
		}
		in.Parts = append(in.Parts, p)
		g.late.counts(in, 0)
	}
	for i := range g.waiters {
		g.waiters[i].addTo(in)
	}
	tidy(in)
	return in
}

func (w *waiter) addTo(in *profile.Instance) {
	in.Parts = append(in.Parts, w.part())
	if w.own != nil {
		w.own.counts(in, int32(len(in.Parts)-1))
	}
}

// telling makes the groups.
type telling struct {
	blame map[end][]slice
	owns  map[end]*joined // what ranks did before they waited, by where they waited, if nobody waited for that
	out   []*group
}

// waits tells what happened between single ranks.
func (m *merger) waits() []*group {
	if !m.whole {
		var out []*group
		for _, e := range m.mails {
			v := &e.line.visits[e.visit]
			out = append(out, &group{section: v.mail.section, meeting: v.mail.meeting, at: v.arrive,
				late: (*joined)(nil).add(v), visit: e})
		}
		return out
	}
	t := &telling{blame: m.blame(), owns: map[end]*joined{}}
	for _, l := range m.order {
		t.line(l)
	}
	t.nobodys()
	for _, g := range slices.Clone(t.out) {
		t.own(g.waiters)
		t.trimGroup(g)
	}
	for _, mt := range m.list {
		t.own(mt.guests)
		t.trimMeet(m, mt)
	}
	slices.SortStableFunc(t.out, func(a, b *group) int { return cmp.Compare(a.at, b.at) })
	for i, g := range t.out {
		g.meeting = profile.Meeting{Communicator: messages, N: uint64(i)}
	}
	return t.out
}

// own lets what a rank did before it waited be told where its wait begins.
func (t *telling) own(list []waiter) {
	for i := range list {
		w := &list[i]
		if own := t.owns[w.who]; own != nil && w.lo == w.who.line.visits[w.who.visit].arrive {
			w.own = own
			delete(t.owns, w.who)
		}
	}
}

// line goes along a rank's way. What is no part of anybody's wait is carried on to the next visit.
func (t *telling) line(l *line) {
	var carry *joined
	var standing []slice // who waits while it goes on
	for i := range l.visits {
		v, at := &l.visits[i], end{l, i}
		if v.mail == nil {
			if carry != nil {
				carry.lead = v.lead
			}
			v.before, carry = carry, nil
			t.guests(v.meet, t.blame[at])
			continue
		}
		carry = carry.add(v)
		list := prolonged(standing, t.blame[at])
		standing = nil
		waits := v.release > v.arrive
		switch {
		case len(list) > 0 && !waits && l.mailAt(i+1) && same(list, t.blame[end{l, i + 1}]):
			standing = list
		case len(list) > 0:
			t.late(v.arrive, carry, list)
			carry = nil
		case waits:
			t.owns[at], carry = carry, nil
		}
	}
	t.nobody(carry) // it did not come to its end
}

// nobody tells of what a rank did while nobody waited for it.
func (t *telling) nobody(j *joined) {
	if j != nil {
		last := j.visits[len(j.visits)-1]
		t.out = append(t.out, &group{section: last.mail.section, at: last.arrive, late: j})
	}
}

// trim leaves those pieces out of a comparison that had ended when the last of those that are
// compared had not begun: before, somebody else's wait lay between them.
func (t *telling) trim(list []**joined, starts []uint64) {
	for _, j := range list {
		if *j != nil {
			starts = append(starts, (*j).start())
		}
	}
	if len(starts) < 2 {
		return
	}
	last := slices.Max(starts)
	for _, j := range list {
		var gone *joined
		*j, gone = (*j).from(last)
		t.nobody(gone)
	}
}

// trimGroup does so for those who waited for one another, and trimMeet for those who met.
func (t *telling) trimGroup(g *group) {
	list := []**joined{&g.late}
	for i := range g.waiters {
		list = append(list, &g.waiters[i].own)
	}
	t.trim(list, nil)
}

func (t *telling) trimMeet(m *merger, mt *meet) {
	var list []**joined
	var starts []uint64
	for i, k := range mt.who {
		v := &m.order[k].visits[mt.nth[i]]
		if list = append(list, &v.before); v.before == nil {
			starts = append(starts, v.start())
		}
	}
	for i := range mt.guests {
		list = append(list, &mt.guests[i].own)
	}
	t.trim(list, starts)
}

// guests are those who waited for a message of somebody's who was on the way to a meeting. Who
// comes there, too, waited before, and that is told by itself.
func (t *telling) guests(m *meet, list []slice) {
	for _, s := range list {
		if slices.Contains(m.who, s.who.line.index) || slices.ContainsFunc(m.guests, func(w waiter) bool { return w.who.line == s.who.line }) {
			t.alone(s)
			continue
		}
		m.guests = append(m.guests, waiter{slice: s})
	}
}

// same reports whether those who wait for one piece are those who wait for the next one, all the
// time: then nothing has happened to them in between.
func same(list, next []slice) bool {
	return len(list) == len(next) && !slices.ContainsFunc(list, func(s slice) bool {
		return !slices.ContainsFunc(next, func(n slice) bool { return n.who == s.who && n.lo == s.hi })
	})
}

// prolonged are the waits for a piece, from where those for the piece before began.
func prolonged(before, list []slice) []slice {
	out := slices.Clone(list)
	for i := range out {
		for _, b := range before {
			if b.who == out[i].who {
				out[i].lo = b.lo
			}
		}
	}
	return out
}

// late tells of a rank that was late, and of who waited. A rank that waited twice meanwhile waited
// the second time for nobody else, and that is told by itself.
func (t *telling) late(at uint64, late *joined, list []slice) {
	g := &group{section: list[0].section(), at: at, late: late}
	t.out = append(t.out, g)
	there := map[*line]bool{}
	for _, s := range list {
		if there[s.who.line] {
			t.alone(s)
			continue
		}
		there[s.who.line] = true
		g.waiters = append(g.waiters, waiter{slice: s})
	}
}

// alone tells of a wait of which it is not known for what.
func (t *telling) alone(s slice) {
	t.out = append(t.out, &group{section: s.section(), at: s.hi, waiters: []waiter{{slice: s}}})
}

func (t *telling) nobodys() {
	for _, s := range t.blame[end{}] {
		t.alone(s)
	}
}

func (s *slice) section() profile.SectionID { return s.who.line.visits[s.who.visit].mail.section }

// told is something to be written, at its time.
type told struct {
	at   uint64
	ends []end // the visits that it is of
	make func() []*profile.Instance
}

// inOrder puts meetings and groups into the order of time.
func (m *merger) inOrder(groups []*group) []told {
	var list []told
	for _, g := range groups {
		list = append(list, told{g.at, []end{g.visit}, func() []*profile.Instance { return []*profile.Instance{g.instance()} }})
	}
	for _, mt := range m.list {
		if len(mt.who) == 0 {
			continue
		}
		x := told{at: mt.over(m.order), make: func() []*profile.Instance {
			defer mt.free()
			return []*profile.Instance{mt.instance(m.order, &m.stacks)}
		}}
		if !m.whole {
			for i, k := range mt.who {
				x.ends = append(x.ends, end{m.order[k], int(mt.nth[i])})
			}
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b told) int { return cmp.Compare(a.at, b.at) })
	if m.whole || len(groups) == 0 {
		return list
	}
	return sequenced(list)
}

// sequenced keeps each rank's visits in the order in which it made them, where they were at one
// time.
func sequenced(list []told) (out []told) {
	of, next := map[end]int{}, map[*line]int{}
	for i, x := range list {
		for _, e := range x.ends {
			of[e] = i
		}
	}
	done := make([]bool, len(list))
	var write func(i int)
	write = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		for _, e := range list[i].ends {
			for next[e.line] < e.visit {
				k := next[e.line]
				next[e.line]++
				write(of[end{e.line, k}])
			}
			next[e.line] = max(next[e.line], e.visit+1)
		}
		out = append(out, list[i])
	}
	for i := range list {
		write(i)
	}
	return out
}

// mailAt reports whether the line's visit is one for messages.
func (l *line) mailAt(i int) bool { return i < len(l.visits) && l.visits[i].mail != nil }
