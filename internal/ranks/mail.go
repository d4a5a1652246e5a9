package ranks

import (
	"encoding/binary"

	"lime/internal/profile"
)

// Messages between single ranks. A rank's way is cut where it sends and where it waits for what
// others send; both sides have numbered their messages alike, so each is found again on the other
// side.

// mail is what a rank sends and takes in one visit, and what it did before. Visits to meetings in
// which not everybody waits for everybody have one, too, without messages.
type mail struct {
	section     profile.SectionID
	meeting     profile.Meeting
	sent, taken []*letter
	answered    bool // it goes on when what it has sent is received
	piece       piece
	posted      bool // what is sent is on its way
	cause       end  // for whom it waited
}

// end is one side of a message, or whom others wait for: a line's visit.
type end struct {
	line  *line
	visit int
}

// letter is a message.
type letter struct {
	from, to end
	sent     bool // it has been posted, at a time
	met      bool // its receiver has come, at a time
	at, came uint64
}

// piece is what a thread did up to a visit, in the ids of the union.
type piece struct {
	row    profile.Part
	work   uint64
	counts string           // packed; equal ones are kept once
	lead   []profile.EdgeID // the way there from the end of the piece before
}

// pieces packs what pieces counted.
type pieces struct {
	kept map[string]string
	buf  []byte
}

func (p *pieces) pack(counts *[4][]profile.Count) string {
	b := p.buf[:0]
	for _, list := range counts {
		b = binary.AppendUvarint(b, uint64(len(list)))
		last := int32(0)
		for _, c := range list {
			b = binary.AppendVarint(b, int64(c.Row-last))
			b = binary.AppendUvarint(b, c.N)
			last = c.Row
		}
	}
	p.buf = b
	if s, ok := p.kept[string(b)]; ok {
		return s
	}
	if p.kept == nil {
		p.kept = map[string]string{}
	}
	s := string(b)
	p.kept[s] = s
	return s
}

// unpack adds what is packed to an instance's matrices, for a part.
func unpack(packed string, to [4]*[]profile.Count, part int32) {
	b := []byte(packed)
	for _, list := range to {
		n, size := binary.Uvarint(b)
		b = b[size:]
		row := int32(0)
		for range n {
			d, size := binary.Varint(b)
			b = b[size:]
			v, size := binary.Uvarint(b)
			b = b[size:]
			row += int32(d)
			*list = append(*list, profile.Count{Row: row, Part: part, N: v})
		}
	}
}

// post adds a visit in which a rank sends or takes messages, or one to a meeting in which not
// everybody waits for everybody.
func (f *file) post(in *profile.Instance, meeting *profile.Meeting, mt *meet) {
	for i := range in.Parts {
		p := &in.Parts[i]
		l := f.line(p.Thread)
		var counts [4][]profile.Count
		for k, cells := range matrices(in) {
			for _, c := range *cells {
				if int(c.Part) == i {
					counts[k] = append(counts[k], profile.Count{Row: f.row(k, c.Row), N: c.N})
				}
			}
		}
		section := f.ids.sections[in.Section]
		x := f.pieceOf(l, p, section, &counts)
		mail := &mail{section: section, meeting: *meeting, piece: x}
		f.met[mail.section] = true
		at := end{l, len(l.visits)}
		f.m.mails = append(f.m.mails, at)
		if mt != nil {
			mt.also = append(mt.also, at)
		}
		l.visits = append(l.visits, visit{meet: mt, mail: mail, work: x.work, role: p.Meets, early: p.Early, came: p.Arrive, local: p.Release})
		l.local = p.Release
		f.ends[p.Thread] = f.jointOf(in, i)
	}
}

// pieceOf is what a thread did up to a visit, with what it did in sections of the rank's own.
func (f *file) pieceOf(l *line, p *profile.Part, to profile.SectionID, counts *[4][]profile.Count) piece {
	x := piece{row: f.part(p), work: p.Time()}
	h := f.kept[p.Thread]
	if h == nil || !h.any {
		x.lead = f.lead(p)
	} else {
		f.sew(h, p)
		x.row.Entry, x.row.EntryStack, x.lead = h.first.Entry, h.first.EntryStack, h.lead
		x.row.LockWait += h.waited
		x.work = p.Arrive - min(l.local, p.Arrive)
		for k := range h.counts {
			counts[k] = append(counts[k], h.counts[k]...)
		}
		f.pass(h, p.Thread, to)
	}
	for k := range counts {
		counts[k] = summed(counts[k])
	}
	x.counts = f.m.pieces.pack(counts)
	return x
}

// lead is the way from the end of a thread's last visit to a piece, in case both are put together.
func (f *file) lead(to *profile.Part) (way []profile.EdgeID) {
	from, ok := f.ends[to.Thread]
	if !ok {
		return nil
	}
	delete(f.ends, to.Thread)
	for _, e := range f.seam(from, to) {
		way = append(way, f.ids.edge(&e))
	}
	return way
}

// match finds both sides of each message. Where one side has others than the other one, it is not
// known which belong together, and nothing is claimed.
func (m *merger) match() {
	letters, counts := map[profile.Message]*letter{}, map[profile.Message]int{}
	each := func(do func(e end, mail *mail, x profile.Message, taken bool)) {
		for _, e := range m.mails {
			mail := e.line.visits[e.visit].mail
			said := mail.meeting.Mail()
			if said == nil {
				continue
			}
			mail.answered = said.Answered
			for _, x := range said.Sent {
				do(e, mail, x, false)
			}
			for _, x := range said.Taken {
				do(e, mail, x, true)
			}
		}
	}
	each(func(e end, _ *mail, x profile.Message, taken bool) {
		l := known(letters, x, func() *letter { return &letter{} })
		kind, side, n := x, &l.from, 1
		if kind.N = 0; taken {
			side, n = &l.to, -1
		}
		if counts[kind] += n; side.line == nil {
			*side = e
		}
	})
	unknown := 0
	each(func(_ end, mail *mail, x profile.Message, taken bool) {
		l, kind := letters[x], x
		kind.N = 0
		switch {
		case counts[kind] != 0 || l.from.line == nil || l.to.line == nil:
			unknown++
		case taken:
			mail.taken = append(mail.taken, l)
		default:
			mail.sent = append(mail.sent, l)
		}
	})
	if unknown > 0 {
		m.notes.add(NoteUnmatched, "messages that ranks sent or received have no other side in the profiles: who waited for them is not known",
			uint64(unknown))
	}
}

// deliver lets a rank stand at its mail: what it sends is on its way, and it goes on when there is
// what it takes. Those who have waited for it go on, too.
func (l *line) deliver(v *visit) (on []*line) {
	m := v.mail
	if !m.posted {
		for _, x := range m.sent {
			x.sent, x.at = true, v.arrive
			on = append(on, x.to.standing()...)
		}
		for _, x := range m.taken {
			x.met, x.came = true, v.arrive
			on = append(on, x.from.standing()...)
		}
		m.posted = true
	}
	release, ready := m.ready(v.arrive)
	if !ready {
		return on
	}
	l.leave(v, release)
	return append(on, l)
}

// leave lets a rank go on from its mail.
func (l *line) leave(v *visit, release uint64) {
	v.release = release
	l.now, l.next = release, l.next+1
}

// ready is when a rank that came to its mail can go on, if that is known, and notes whom it waits
// for.
func (m *mail) ready(arrive uint64) (release uint64, ready bool) {
	release, m.cause = arrive, end{}
	later := func(at uint64, e end) {
		if at > release {
			release, m.cause = at, e
		}
	}
	for _, x := range m.taken {
		if !x.sent {
			return 0, false
		}
		later(x.at, x.from)
	}
	for _, x := range m.sent {
		if !m.answered {
			break
		}
		if !x.met {
			return 0, false
		}
		later(x.came, x.to)
	}
	return release, true
}

// standing is the line, if it stands at this visit.
func (e end) standing() []*line {
	if e.line.next == e.visit && e.line.visits[e.visit].mail.posted {
		return []*line{e.line}
	}
	return nil
}
