// What starting and ending a parallel region costs: from the moment at which the thread that opens
// it leaves its own work, each of its threads is on its way into the region's body; and when all
// have done what they had to, the runtime lets them go. Nobody works then, and nobody has too little
// to do: the time is the runtime's.

package analysis

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"lime/internal/profile"
)

// mayOpen reports whether a section's instances may begin as regions do: there are regions, and it
// ends as one does, or at a region's first barrier.
func mayOpen(tab *profile.Tables, kind profile.SectionKind) bool {
	return (kind == profile.SectionRegion || kind == profile.SectionBarrier) &&
		slices.ContainsFunc(tab.Sections, func(s profile.Section) bool { return s.Kind == profile.SectionRegion })
}

// openings are the stretches in which threads are on their way into regions, as spans of the
// regions' sections.
func openings(sums []*summary) (runs []spanRun) {
	if !slices.ContainsFunc(sums, func(s *summary) bool { return s.begins }) {
		return nil
	}
	known, ways := newWhereabouts(sums), map[profile.SectionID]*spanPacker{}
	for _, s := range sums {
		for parts := range s.grouped() {
			for _, x := range known.opening(parts) {
				if ways[x.section] == nil {
					ways[x.section] = &spanPacker{}
				}
				ways[x.section].add(x)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ways)) {
		runs = append(runs, ways[id].finish()...)
	}
	return runs
}

// grouped yields the spans of each instance that may begin as a region does; they are good until
// the next ones come.
func (s *summary) grouped() iter.Seq[[]span] {
	return func(yield func([]span) bool) {
		var parts []span
		i := 0
		for x := range asPacked(s.parts.finish()) {
			if parts = append(parts, x); len(parts) < s.points[i].n {
				continue
			}
			if !yield(parts) {
				return
			}
			parts, i = parts[:0], i+1
		}
	}
}

// whereabouts are the parts of each thread, in the order of their beginnings.
type whereabouts map[profile.ThreadID][]whereabout

// whereabout is a part, and where the thread has been up to its end.
type whereabout struct {
	lo, until uint64 // until: the latest end of this part and those before it
	section   profile.SectionID
	serial    bool // the thread worked alone in the part that ends last
	region    bool // this part ends with a region
}

func newWhereabouts(sums []*summary) whereabouts {
	w := whereabouts{}
	for _, s := range sums {
		for p := range asPacked(s.runs) {
			w[p.thread] = append(w[p.thread], whereabout{p.lo, max(p.hi, p.end), s.id,
				s.kind == profile.SectionSerial, s.kind == profile.SectionRegion})
		}
	}
	for _, parts := range w {
		slices.SortStableFunc(parts, func(a, b whereabout) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.until, b.until)) })
		for i := 1; i < len(parts); i++ {
			if parts[i].until < parts[i-1].until {
				parts[i].until, parts[i].serial = parts[i-1].until, parts[i-1].serial
			}
		}
	}
	return w
}

// from is a thread's parts from one on, and the one before it, if there is one.
func (w whereabouts) from(p *span) (before *whereabout, rest []whereabout) {
	parts := w[p.thread]
	i, _ := slices.BinarySearchFunc(parts, p.lo, func(x whereabout, at uint64) int { return cmp.Compare(x.lo, at) })
	if i > 0 {
		before = &parts[i-1]
	}
	return before, parts[i:]
}

// opening is how an instance begins with which a region does: the thread that opens it has worked
// alone last, has left that after all others had left what they were in, and is on its way itself.
// A region within other sections has none: the way into it is part of what these hold.
func (w whereabouts) opening(parts []span) (out []span) {
	var left uint64
	var next []whereabout // parts of who opens it
	first := parts[0].lo
	for i := range parts {
		p := &parts[i]
		first = min(first, p.lo)
		before, rest := w.from(p)
		switch {
		case before == nil || before.until < left:
		case before.serial && p.lo > before.until:
			left, next = before.until, rest
		case before.until > left:
			left, next = before.until, nil
		}
	}
	k := slices.IndexFunc(next, func(x whereabout) bool { return x.region })
	if k < 0 || left > first {
		return nil
	}
	for i := range parts {
		if p := &parts[i]; p.lo > left {
			out = append(out, span{thread: p.thread, section: next[k].section, lo: left, hi: p.lo, end: p.lo, opening: true})
		}
	}
	return out
}

// closing are the regions and barriers at whose ends nobody waits for anything but the runtime once
// all have done their work. Where it gives out tasks there, threads wait for these; who comes out of a
// barrier may have to wait for a core that others have; and of recorded profiles the ends are not to
// be had to that point.
func closing(res *Result, sampled bool) map[profile.SectionID]bool {
	out := map[profile.SectionID]bool{}
	for i := range res.Sections {
		s := &res.Sections[i]
		ends := s.Kind == string(profile.SectionRegion) || s.meets(res.Run.Cores)
		out[s.ID] = ends && s.Tasks == nil && !sampled
	}
	return out
}

// meets reports whether the threads of a section do nothing at its end but meet: it is a runtime's
// barrier, and there is a core for each of them.
func (s *Section) meets(cores int) bool {
	return s.Kind == string(profile.SectionBarrier) && (cores == 0 || s.ThreadsMax <= cores)
}

// passage is what a barrier takes a thread when all have come, and its work since it came last.
func (s *summary) passage() (cost, work float64) {
	n := 0.0
	for _, t := range s.threads {
		n += float64(t.Instances)
	}
	return ratio(s.loss.away, n), ratio(s.own, n)
}

// tellBarriers says of barriers that cost more than the work between two of them what both are.
func (b *lossBuilder) tellBarriers(res *Result, sums []*summary) {
	by := map[profile.SectionID]*summary{}
	for _, s := range sums {
		by[s.id] = s
	}
	for i := range res.Sections {
		s := &res.Sections[i]
		if !b.closing[s.ID] || s.Kind != string(profile.SectionBarrier) {
			continue
		}
		if cost, work := by[s.ID].passage(); cost > work {
			clock := b.r.meta.ClockUnit
			s.insteadOfBusy(Verdict{"barrier-cost", SeverityWarn, fmt.Sprintf("The barrier costs more than the work between two of them: "+
				"%s when all have come, and %s of work for each thread. Have more to do between two barriers, or fewer threads for it.",
				timeWords(cost, clock), timeWords(work, clock))})
		}
	}
}
