// Rows of the profile that goroutines share.

package sim

import (
	"cmp"
	"slices"

	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// There may be many more goroutines than ever work at the same time. Those that ran one after the
// other are one row of the profile, so that rows stand for what worked side by side: as many as
// processors, if goroutines do not wait in the middle of their work.

// goRows is the rows of the profile that goroutines have.
type goRows struct {
	of   map[section.ThreadID]int32 // the row that each had last
	list []int32
	last map[int32]stint // by row, the one that ended last
}

// stint is what a goroutine did without leaving its row.
type stint struct {
	by       section.ThreadID
	from, to uint64
	segments []*segment
}

// rows puts the parts of goroutines into rows. What a goroutine waits for others' work is no time
// of its own.
func (o *output) rows(in *section.Instance) {
	var parts []section.Part
	var stints []stint
	var release unit.Cycles
	for i := range in.Parts {
		p := &in.Parts[i]
		release = max(release, p.Release)
		if p.Thread < goroutineBase {
			p.Thread = section.ThreadID(o.roster.threads[p.Thread].row)
			parts = append(parts, *p)
			continue
		}
		stints = appendStints(stints, p, o.focus)
	}
	if len(stints) > 0 {
		parts = append(parts, o.fold(stints, release)...)
		slices.SortStableFunc(parts, func(a, b section.Part) int { return cmp.Compare(a.Thread, b.Thread) })
	}
	for i := range parts { // where threads run in parallel, who lets a goroutine go may be behind it by the clock
		parts[i].Release = max(parts[i].Release, parts[i].Arrive)
	}
	in.Parts = parts
}

func appendStints(list []stint, p *section.Part, f *focus) []stint {
	open := false
	for _, s := range p.Spans {
		last := s.(*segment)
		for _, x := range append(slices.Clip(last.earlier), last) {
			if !open {
				list = append(list, stint{by: p.Thread, from: f.at(p.Thread, x.start.at)})
			}
			n := &list[len(list)-1]
			n.to, n.segments = f.at(p.Thread, x.at), append(n.segments, x)
			open = !x.left
		}
	}
	return list
}

// fold gives each stint a row that is free: the goroutine's last one, or the lowest.
func (o *output) fold(stints []stint, release unit.Cycles) (parts []section.Part) {
	slices.SortStableFunc(stints, func(a, b stint) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.by, b.by))
	})
	part := map[int32]int{}
	for i := range stints {
		s := &stints[i]
		row := o.rowFor(s)
		k, ok := part[row]
		if !ok {
			k = len(parts)
			part[row] = k
			parts = append(parts, section.Part{Thread: section.ThreadID(row), Start: unit.Cycles(s.from),
				Arrive: unit.Cycles(s.from), Release: release})
		}
		addStint(&parts[k], s, o.focus)
		o.threads[row].End = max(o.threads[row].End, s.to)
	}
	return parts
}

func (o *output) rowFor(s *stint) int32 {
	x := &o.goRows
	if s.by == goroutineBase {
		return o.roster.threads[0].row // the main goroutine is the main thread
	}
	if x.of == nil {
		x.of, x.last = map[section.ThreadID]int32{}, map[int32]stint{}
	}
	row, had := x.of[s.by]
	if !had || !x.free(row, s) {
		row = o.freeRow(s)
	}
	x.of[s.by] = row
	if s.to >= x.last[row].to {
		x.last[row] = stint{by: s.by, to: s.to}
	}
	return row
}

// free reports whether nobody else has a row any more. Sections may nest: what belongs to several
// comes more than once.
func (x *goRows) free(row int32, s *stint) bool {
	l := x.last[row]
	return l.to <= s.from || l.by == s.by
}

func (o *output) freeRow(s *stint) int32 {
	x := &o.goRows
	for _, row := range x.list {
		if x.free(row, s) {
			return row
		}
	}
	row := profile.Thread{Name: o.goroutines.table.names[s.by-goroutineBase],
		Parent: profile.ThreadID(o.roster.threads[0].row),
		Start:  s.from, End: s.to, Entry: profile.None}
	x.list = append(x.list, int32(len(o.threads)))
	o.threads = append(o.threads, row)
	o.sink.AddThread(row)
	return x.list[len(x.list)-1]
}

// addStint adds a stint to its row's part, which begins with the first and lasts as long as all of
// them together: what the goroutine waited for others' work lies at its end, as with any thread.
func addStint(p *section.Part, s *stint, f *focus) {
	time := p.Arrive - p.Start
	for _, x := range s.segments {
		time += unit.Cycles(f.at(s.by, x.at) - min(f.at(s.by, x.at), f.at(s.by, x.start.at)))
		p.OffCPU += unit.Cycles(x.off)
		for _, l := range x.locks {
			if !l.kind.outside() {
				p.LockWait += unit.Cycles(l.wait)
			}
		}
		p.Spans = append(p.Spans, x)
	}
	p.Arrive = p.Start + time
	p.Came, p.Release = max(p.Came, unit.Cycles(s.to)), max(p.Release, unit.Cycles(s.to))
}

// closeRows writes when the rows ended.
func (o *output) closeRows() {
	for _, row := range o.goRows.list {
		o.sink.SetThread(profile.ThreadID(row), o.threads[row])
	}
}
