package ranks

import (
	"cmp"
	"maps"
	"slices"

	"lime/internal/profile"
)

// What one file has to tell, in the ids and on the clock of all.

// meet adds the parts of a meeting.
func (f *file) meet(in *profile.Instance, meeting *profile.Meeting) {
	mt := known(f.m.meets, *meeting, func() *meet {
		mt := &meet{section: f.ids.sections[in.Section], meeting: *meeting}
		f.m.list = append(f.m.list, mt)
		return mt
	})
	if slices.ContainsFunc(in.Parts, func(p profile.Part) bool { return p.Meets != profile.MeetAll || p.Early > 0 }) {
		f.post(in, meeting, mt)
		return
	}
	f.met[f.ids.sections[in.Section]] = true
	numbers := make([]int32, len(in.Parts))
	for i := range in.Parts {
		numbers[i] = f.join(mt, in, &in.Parts[i])
	}
	for k, cells := range matrices(in) {
		for _, c := range *cells {
			mt.count(k, f.row(k, c.Row), numbers[c.Part], c.N)
		}
	}
}

// join adds one part of a meeting. What the thread did since the meeting before in sections of the
// rank's own belongs to it.
func (f *file) join(mt *meet, in *profile.Instance, p *profile.Part) int32 {
	l := f.line(p.Thread)
	work, row := p.Time(), f.part(p)
	h := f.kept[p.Thread]
	var lead []profile.EdgeID
	if h != nil && h.any {
		lead = h.lead
	} else {
		lead = f.lead(p)
	}
	if h != nil && h.any {
		f.sew(h, p)
		row.Entry, row.EntryStack = h.first.Entry, h.first.EntryStack
		work = p.Arrive - min(l.local, p.Arrive)
		row.LockWait += h.waited
	}
	part := mt.add(l, &row, f.stay(in, p), &f.m.stacks)
	if h != nil {
		for k := range h.counts {
			for _, c := range h.counts[k] {
				mt.count(k, c.Row, part, c.N)
			}
		}
		f.pass(h, p.Thread, mt.section)
	}
	l.local = p.Release
	l.visits = append(l.visits, visit{meet: mt, lead: lead, work: work, early: p.Early, role: p.Meets, came: p.Arrive, local: p.Release})
	return part
}

// pass ends what is held: its time belongs to the section that the thread has come to.
func (f *file) pass(h *held, thread profile.ThreadID, to profile.SectionID) {
	for own, time := range h.within {
		f.passed[passage{thread, own, to}] += time
	}
	*h = held{}
}

// stay is how long a rank was in the call, if that can be measured: a simulated rank waits there
// for others that run in real time.
func (f *file) stay(in *profile.Instance, p *profile.Part) uint64 {
	if f.r.Meta().ClockUnit != "ns" || len(in.Parts) > 1 {
		return 0
	}
	return p.Release - p.Arrive
}

// hold keeps what the threads did in a section of the rank's own for the meeting that they come to
// next.
func (f *file) hold(in *profile.Instance) {
	if f.merged {
		return
	}
	for i := range in.Parts {
		p := &in.Parts[i]
		h := known(f.kept, p.Thread, func() *held { return &held{} })
		if h.any {
			f.sew(h, p)
		} else {
			h.first, h.lead = f.part(p), f.lead(p)
		}
		h.last = f.jointOf(in, i)
		h.any = true
		if h.within == nil {
			h.within = map[profile.SectionID]uint64{}
		}
		h.within[in.Section] += p.Time()
		f.spent[passage{p.Thread, in.Section, profile.None}] += p.Time()
		h.waited += p.LockWait + p.OffCPU + (p.Release - p.Arrive)
	}
	for k, cells := range matrices(in) {
		for _, c := range *cells {
			h := f.kept[in.Parts[c.Part].Thread]
			h.counts[k] = append(h.counts[k], profile.Count{Row: f.row(k, c.Row), N: c.N})
		}
	}
}

// sew adds the way from the end of what is held to the beginning of the next piece.
func (f *file) sew(h *held, next *profile.Part) {
	for _, e := range f.seam(h.last, next) {
		h.counts[0] = append(h.counts[0], profile.Count{Row: int32(f.ids.edge(&e)), N: 1})
	}
}

// share is what part of a thread's time in a section of the rank's own belongs to one of all ranks.
type share struct {
	to   profile.SectionID
	part float64
}

// shares says where the time goes that the file's threads spent in sections of the rank's own.
func (f *file) shares() func(profile.ThreadID, profile.SectionID) []share {
	to := map[passage][]share{}
	for k, time := range f.passed {
		key := passage{k.thread, k.own, profile.None}
		if all := f.spent[key]; all > 0 {
			to[key] = append(to[key], share{k.to, float64(time) / float64(all)})
		}
	}
	for _, list := range to {
		slices.SortFunc(list, func(a, b share) int { return cmp.Compare(a.to, b.to) })
	}
	return func(t profile.ThreadID, own profile.SectionID) []share { return to[passage{t, own, profile.None}] }
}

// matrices are an instance's four.
func matrices(in *profile.Instance) [4]*[]profile.Count {
	return [4]*[]profile.Count{&in.Edges, &in.Events, &in.Costs, &in.Times}
}

// row translates the id of a matrix's row.
func (f *file) row(matrix int, id int32) int32 {
	switch matrix {
	case 0:
		return int32(f.ids.edges[id])
	case 3:
		return int32(f.ids.nodes[id])
	}
	return int32(f.ids.events[id])
}

// part translates a part's ids; its times stay.
func (f *file) part(p *profile.Part) profile.Part {
	out := *p
	out.Thread, out.Entry, out.Exit = f.thread(p.Thread), f.ids.nodeOf(p.Entry), f.ids.nodeOf(p.Exit)
	out.EntryStack, out.ExitStack = f.ids.stack(p.EntryStack), f.ids.stack(p.ExitStack)
	return out
}

// second takes an instance while the file is read again: one that is the rank's own affair, now
// that its clock is set.
func (f *file) second(in *profile.Instance) *profile.Instance {
	l := f.line(in.Parts[0].Thread)
	out := &profile.Instance{Section: f.ids.sections[in.Section]}
	if f.meeting(in) != nil {
		if f.merged {
			return nil
		}
		out.Section = f.m.u.serial(out.Section)
	}
	for i := range in.Parts {
		p := f.part(&in.Parts[i])
		p.Meets, p.Early = profile.MeetAll, 0
		length, stay := p.Time(), p.Release-p.Arrive
		if out.Section != f.ids.sections[in.Section] {
			stay = 0
		}
		p.Start = l.common(p.Start)
		p.Arrive = p.Start + length
		p.Release = p.Arrive + stay
		out.Parts = append(out.Parts, p)
	}
	to := matrices(out)
	for k, cells := range matrices(in) {
		for _, c := range *cells {
			*to[k] = append(*to[k], profile.Count{Row: f.row(k, c.Row), Part: c.Part, N: c.N})
		}
		*to[k] = summed(*to[k])
	}
	return out
}

// summed brings cells into order, and adds up those of one place.
func summed(m []profile.Count) []profile.Count {
	slices.SortFunc(m, func(a, b profile.Count) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Part, b.Part)) })
	out := m[:0]
	for _, c := range m {
		if n := len(out); n > 0 && out[n-1].Row == c.Row && out[n-1].Part == c.Part {
			out[n-1].N += c.N
			continue
		}
		out = append(out, c)
	}
	return out
}

// own adds the sections for what a rank does by itself up to a meeting.
func (f *file) own() {
	for _, id := range slices.Sorted(maps.Keys(f.met)) {
		f.m.u.serial(id)
	}
}

// serial is the section of a rank's own work up to a meeting, beside the section that the meeting
// ends for all ranks.
func (u *union) serial(id profile.SectionID) profile.SectionID {
	row := u.t.Sections[id]
	row.Kind = profile.SectionSerial
	return known(u.sections, sectionKey{row.Kind, "before " + string(rune(id))}, func() profile.SectionID { return u.t.AddSection(row) })
}
