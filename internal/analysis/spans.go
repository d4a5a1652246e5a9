// The stretches of work of a whole run in the order of their beginnings. A large run has ten
// million, which are needed several times over: they are kept packed, in runs that are each in
// order, and are merged whenever somebody goes through them.

package analysis

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"lime/internal/profile"
)

// span is a stretch of work of one thread, for the whole-program figures.
type span struct {
	thread  profile.ThreadID
	section profile.SectionID
	lo, hi  uint64
	end     uint64 // what it waits for after its work has come; not before hi
	useful  float64
	opening bool // it is on its way into a region (opening.go)
	helper  bool // it needs no core while it does nothing (members.go)
}

func compareSpans(a, b *span) int {
	return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.thread, b.thread), cmp.Compare(a.hi, b.hi))
}

// partSpan is a part as a span.
func partSpan(section profile.SectionID, p *profile.Part) span {
	time, lock, off := divided(p)
	return span{p.Thread, section, p.Start, p.Arrive, max(p.Arrive, p.Release), float64(time - lock - off), false, false}
}

// spanRun is a number of spans of one section, in order: of each the beginning since the one
// before, the thread, the length, the wait at the end, and what of the length is not useful; eight
// to ten bytes instead of forty.
type spanRun struct {
	section profile.SectionID
	opening bool
	helper  bool
	first   uint64 // beginning of the first
	packed  []byte
}

// runLength is how many spans a run has at most.
const runLength = 1 << 14

// spanPacker takes the spans of a section in any order.
type spanPacker struct {
	asTheyCome bool // its runs are in no order but that
	open       []span
	runs       []spanRun
}

func (p *spanPacker) add(s span) {
	if p.open = append(p.open, s); len(p.open) == runLength {
		p.pack()
	}
}

// pack makes a run of the spans that are in none yet.
func (p *spanPacker) pack() {
	if len(p.open) == 0 {
		return
	}
	if !p.asTheyCome {
		slices.SortFunc(p.open, func(a, b span) int { return compareSpans(&a, &b) })
	}
	r := spanRun{section: p.open[0].section, opening: p.open[0].opening, helper: p.open[0].helper, first: p.open[0].lo}
	was := r.first
	var b []byte
	for i := range p.open {
		s := &p.open[i]
		b = binary.AppendVarint(b, int64(s.lo-was))
		for _, x := range [...]uint64{uint64(s.thread), s.hi - s.lo, s.end - s.hi, s.hi - s.lo - uint64(s.useful)} {
			b = binary.AppendUvarint(b, x)
		}
		was = s.lo
	}
	r.packed = slices.Clone(b)
	p.runs, p.open = append(p.runs, r), p.open[:0]
}

// finish packs the rest, and returns all runs.
func (p *spanPacker) finish() []spanRun {
	p.pack()
	runs := p.runs
	*p = spanPacker{}
	return runs
}

// reader goes through a run.
type reader struct {
	span
	rest []byte
}

func (r *spanRun) reader() reader {
	return reader{span{section: r.section, opening: r.opening, helper: r.helper, lo: r.first}, r.packed}
}

// next reads a span; there is none behind the last one.
func (r *reader) next() bool {
	if len(r.rest) == 0 {
		return false
	}
	step, n := binary.Varint(r.rest)
	r.lo, r.rest = r.lo+uint64(step), r.rest[n:]
	r.thread = profile.ThreadID(r.number())
	length := r.number()
	r.hi = r.lo + length
	r.end = r.hi + r.number()
	r.useful = float64(length - r.number())
	return true
}

func (r *reader) number() uint64 {
	x, n := binary.Uvarint(r.rest)
	r.rest = r.rest[n:]
	return x
}

func (r *reader) before(o *reader) bool {
	return cmp.Or(compareSpans(&r.span, &o.span), cmp.Compare(r.section, o.section)) < 0
}

// inOrder yields the spans of all runs by compareSpans. A run is looked into when its time has
// come: most are over by then.
func inOrder(runs []spanRun) iter.Seq[span] {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b spanRun) int { return cmp.Compare(a.first, b.first) })
	return func(yield func(span) bool) {
		var open heap[reader, *reader]
		for ahead := runs; ; {
			for len(ahead) > 0 && (len(open) == 0 || ahead[0].first <= open[0].lo) {
				if r := ahead[0].reader(); r.next() {
					open.push(r)
				}
				ahead = ahead[1:]
			}
			if len(open) == 0 || !yield(open[0].span) {
				return
			}
			if open[0].next() {
				open.sink()
			} else {
				open.pop()
			}
		}
	}
}

// asPacked yields the spans of some runs one after the other.
func asPacked(runs []spanRun) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := range runs {
			for r := runs[i].reader(); r.next(); {
				if !yield(r.span) {
					return
				}
			}
		}
	}
}

// moment is one at which a thread begins or ends to work.
type moment struct {
	at     uint64
	thread profile.ThreadID
	change int   // 1 or -1
	rate   int64 // of the span: the part of its time that is useful, in parts of whole
	most   bool  // that is half of it or more
}

// whole is a useful share of all, as moments count it: sums of such shares are exact.
const whole = 1 << 20

// mostlyUseful reports whether the thread works for half of the time or more.
func (s *span) mostlyUseful() bool { return s.useful >= float64(s.hi-s.lo)/2 }

func (s *span) rate() int64 { return int64(s.useful * whole / float64(s.hi-s.lo)) }

func (m *moment) before(o *moment) bool { return m.at < o.at }

// moments yields the beginnings and ends of spans that come in order, as time goes on; at the same
// moment ends come first. Spans without length have neither.
func moments(spans iter.Seq[span]) iter.Seq[moment] {
	return func(yield func(moment) bool) {
		var ends heap[moment, *moment]
		for s := range spans {
			if s.hi <= s.lo {
				continue
			}
			for len(ends) > 0 && ends[0].at <= s.lo {
				if !yield(ends.pop()) {
					return
				}
			}
			m := moment{s.lo, s.thread, 1, s.rate(), s.mostlyUseful()}
			if !yield(m) {
				return
			}
			m.at, m.change, m.rate = s.hi, -1, -m.rate
			ends.push(m)
		}
		for len(ends) > 0 && yield(ends.pop()) {
		}
	}
}
