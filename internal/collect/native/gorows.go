package native

import (
	"cmp"
	"slices"

	"lime/internal/profile"
	"lime/internal/section"
)

// Goroutines are given rows of the profile section by section, as if each had a processor of its
// own, like threads. Of more than some for a processor the runtime makes sure that none is without
// work as long as there is any; so they are dealt out to that many rows, each to the one that has
// the least to do. By who ran when, they could not be: a processor that other programs take away
// would look like one that has more to do.

// goRows is the rows of the profile that goroutines have.
type goRows []int32

// goroutinesEach is how many goroutines for each processor have rows of their own.
const goroutinesEach = 4

// rows puts the parts of goroutines into rows.
func (o *output) rows(in *section.Instance) {
	byGo := func(p section.Part) bool { return p.Thread >= goroutineBase && len(p.Spans) > 0 }
	if !slices.ContainsFunc(in.Parts, byGo) {
		return
	}
	dealt := deal{o: o, taken: map[int32]int{}, most: goroutinesEach * o.idle.cores}
	for _, p := range in.Parts { // by id: in the order in which they began
		if !byGo(p) {
			dealt.parts = append(dealt.parts, p)
			continue
		}
		g := p.Spans[0].(*piece).thread
		row := dealt.rowFor(g)
		for _, s := range p.Spans {
			s.(*piece).row = row
		}
		dealt.add(row, p.Spans)
	}
	slices.SortStableFunc(dealt.parts, func(a, b section.Part) int { return cmp.Compare(a.Thread, b.Thread) })
	in.Parts = dealt.parts
}

// deal is the rows of an instance.
type deal struct {
	o     *output
	parts []section.Part
	taken map[int32]int // by row: its part
	loads []uint64      // by part: how long it is
	most  int
}

// rowFor gives a goroutine a row: the main one that of the main thread, others the one that they
// had last, or another, or the one that has the least to do.
func (d *deal) rowFor(g *thread) int32 {
	if g.id == goroutineBase {
		return int32(d.o.main.id)
	}
	if row := g.goroutine.row; row != noRow && d.free(row) {
		return row
	}
	if i := slices.IndexFunc(d.o.goRows, d.free); i >= 0 {
		g.goroutine.row = d.o.goRows[i]
	} else if len(d.o.goRows) < d.most {
		g.goroutine.row = d.o.goRow(g)
	} else {
		g.goroutine.row = slices.MinFunc(d.o.goRows, func(a, b int32) int { return cmp.Compare(d.loads[d.taken[a]], d.loads[d.taken[b]]) })
	}
	return g.goroutine.row
}

func (d *deal) free(row int32) bool { _, ok := d.taken[row]; return !ok }

// add adds pieces to the part of a row.
func (d *deal) add(row int32, spans []any) {
	k, ok := d.taken[row]
	if !ok {
		k = len(d.parts)
		d.taken[row] = k
		d.parts = append(d.parts, section.Part{Thread: section.ThreadID(row)})
		d.loads = append(d.loads, make([]uint64, k+1-len(d.loads))...)
	}
	d.parts[k].Spans = append(d.parts[k].Spans, spans...)
	for _, s := range spans {
		d.loads[k] += s.(*piece).working()
	}
}

// goRow adds a row, named after the function of the goroutine that has it first.
func (o *output) goRow(g *thread) int32 {
	row := o.newRow(profile.Thread{Name: g.name, Parent: profile.ThreadID(o.main.id), TID: g.tid, Start: g.start,
		End: max(g.start, g.end), Entry: profile.None})
	o.virtual[row] = o.virtual[int32(o.main.id)]
	o.goRows = append(o.goRows, row)
	return row
}

// waited sets a goroutine's time behind that of the instance for whose end it has waited, which is
// the last one.
func (o *output) waited(g *thread) {
	row := g.goroutine.row
	if g.id == goroutineBase {
		row = int32(o.main.id)
	}
	if row != noRow {
		o.virtual[row] = max(o.virtual[row], o.latest)
	}
}

// together is how long pieces of several goroutines that share a row took on the wall, and 0 for
// those of one thread.
func together(spans []any) uint64 {
	if len(spans) < 2 {
		return 0
	}
	first := spans[0].(*piece)
	from, to, several := first.from, first.to, false
	for _, s := range spans[1:] {
		p := s.(*piece)
		from, to, several = min(from, p.from), max(to, p.to), several || p.thread != first.thread
	}
	if !several {
		return 0
	}
	return to - min(from, to)
}

// within cuts the waits of goroutines that share a row to what the row had time for: they waited at
// the same time.
func (s *partSum) within(wall uint64) {
	waits, have := s.lockOff+s.blocked, wall-min(wall, s.onCPU())
	if wall == 0 || waits <= have {
		return
	}
	share := float64(have) / float64(waits)
	for _, x := range []*uint64{&s.lockOff, &s.wait, &s.blocked} {
		*x = uint64(float64(*x) * share)
	}
	for i := range s.locks {
		s.locks[i].time = uint64(float64(s.locks[i].time) * share)
	}
	for i := range s.off {
		s.off[i].wait = uint64(float64(s.off[i].wait) * share)
	}
}
