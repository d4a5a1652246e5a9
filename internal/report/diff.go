package report

import (
	"cmp"
	"math"
	"slices"
)

// Changes of a part of the report from one run to another.
const (
	ChangeBetter = "better"
	ChangeWorse  = "worse"
	ChangeSame   = "same"
	ChangeNew    = "new"
	ChangeGone   = "gone"
)

// DiffSchema names the version of the JSON form of Diff.
const DiffSchema = "lime-diff/1"

// Diff compares two runs, A before and B after, or several a side: then figures are means.
type Diff struct {
	Schema   string        `json:"schema"`
	A        Program       `json:"a"` // of the first run
	B        Program       `json:"b"`
	Runs     [2]int        `json:"runs"` // how many there were before, and after
	Whole    []FigureDiff  `json:"whole"`
	Loss     *LossDiff     `json:"loss,omitempty"`
	Sections []SectionDiff `json:"sections"`
	Warnings []string      `json:"warnings"` // what makes the comparison doubtful
}

// Change is a figure before and after. It changed by less than Noise if it is
// no better and no worse than chance would have it.
type Change struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Noise  float64 `json:"noise"`
	Word   string  `json:"change"`
}

// Delta is after - before.
func (c Change) Delta() float64 { return c.After - c.Before }

// FigureDiff is a figure of the whole run.
type FigureDiff struct {
	Name  string `json:"name"` // as --fail-on calls it
	Title string `json:"title"`
	Unit  string `json:"unit"` // "share" or the clock unit
	Change
}

// SectionDiff is a section that stands in one of the runs or in both.
type SectionDiff struct {
	EndsAt    Place       `json:"ends_at"`
	Was       *Place      `json:"was,omitempty"` // before, if its line moved
	Word      string      `json:"change"`
	Imbalance Change      `json:"imbalance"`
	Lost      Change      `json:"lost"` // core time, or its share if the runs' clocks differ
	LostShare Change      `json:"lost_share"`
	Causes    []CauseDiff `json:"causes"`
}

// CauseDiff is a cause that stands in one of the runs or in both. Loss is what
// it stands for, as in SectionDiff.Lost.
type CauseDiff struct {
	Place
	Was   *Place `json:"was,omitempty"`
	Event string `json:"event"`
	Word  string `json:"change"`
	Loss  Change `json:"loss"`
	Share Change `json:"share"`
}

// leastChange is the change of a share that is worth a word, however exact.
const leastChange = 0.002

// Compare compares two reports.
func Compare(a, b *Report) *Diff { return CompareRuns([]*Report{a}, []*Report{b}) }

// CompareRuns compares the runs before with those after, at least one of each. What the first ones
// hold is what is told of.
func CompareRuns(before, after []*Report) *Diff {
	a, b := &runSide{runs: before, unit: 1}, &runSide{runs: after, unit: 1}
	d := &Diff{Schema: DiffSchema, A: a.ref().Program, B: b.ref().Program, Runs: [2]int{len(before), len(after)},
		Warnings: doubts(a.ref(), b.ref())}
	if d.A.ClockUnit != d.B.ClockUnit {
		a.unit, b.unit = 0, 0
	}
	d.Whole, d.Loss, d.Sections = wholeDiff(a, b), lossDiff(a, b), sectionDiffs(a, b)
	return d
}

// doubts names what makes two runs hard to compare.
func doubts(a, b *Report) []string {
	out := []string{}
	p, q := &a.Program, &b.Program
	for _, c := range []struct {
		differ bool
		text   string
	}{
		{p.ClockUnit != q.ClockUnit, "the times are in " + p.ClockUnit + " before and " + q.ClockUnit + " after: only shares compare"},
		{p.Cores != q.Cores, "the runs had different numbers of cores"},
		{p.Model != q.Model, "the runs had different machines: " + p.Model + " and " + q.Model},
		{!p.Complete || !q.Complete, "a run did not end in order: it may hold less than the other"},
	} {
		if c.differ {
			out = append(out, c.text)
		}
	}
	return out
}

// change makes a Change of a share; more is worse.
func change(before, after, noise float64) Change {
	c := Change{Before: before, After: after, Noise: noise, Word: ChangeSame}
	if d := c.Delta(); math.Abs(d) > max(noise, leastChange) {
		c.Word = ChangeBetter
		if d > 0 {
			c.Word = ChangeWorse
		}
	}
	return c
}

// flip turns a change around, for figures of which more is better.
func flip(c Change) Change {
	switch c.Word {
	case ChangeBetter:
		c.Word = ChangeWorse
	case ChangeWorse:
		c.Word = ChangeBetter
	}
	return c
}

func wholeDiff(a, b *runSide) []FigureDiff {
	share := func(f func(*Report) float64) Change { return compared(a.each(f), b.each(f), 0, 1) }
	run := share(func(r *Report) float64 { return r.Program.RunTime })
	if run.Word = ChangeSame; a.unit != 0 && math.Abs(run.Delta()) > max(run.Noise, leastChange*run.Before) {
		run.Word = change(0, run.Delta(), 0).Word
	}
	// A serial part that takes as long as before is no worse because the rest has become shorter.
	serial := share(func(r *Report) float64 { return r.Whole.SerialShare })
	alone := func(r *Report) float64 { return r.Whole.SerialShare * r.Program.RunTime }
	if a.unit != 0 && run.Before > 0 {
		serial.Word = compared(a.each(alone), b.each(alone), 0, run.Before).Word
	}
	return []FigureDiff{
		{"runtime", "Run time", b.ref().Program.ClockUnit, run},
		{"lost", "Core time that is not useful work", "share", share(func(r *Report) float64 { return r.lost() })},
		{"efficiency", "Parallel efficiency", "share", flip(share(func(r *Report) float64 { return r.Whole.ParallelEfficiency }))},
		{"balance", "Load balance", "share", flip(share(func(r *Report) float64 { return r.Whole.LoadBalance }))},
		{"serial", "Serial share of the run time", "share", serial},
	}
}

// lost is the share of the core time that is lost; of a report of an earlier version, in parallel
// sections.
func (r *Report) lost() float64 {
	if r.Loss != nil {
		return 1 - r.Loss.Useful
	}
	return r.Whole.LostShare
}

// sectionKeys tell sections apart.
func sectionKeys() []func(*Section) any {
	return []func(*Section) any{
		func(s *Section) any { return [3]any{s.Kind, s.EndsAt.key(), s.EndsAt.Address} },
		func(s *Section) any { return [2]any{s.Kind, s.EndsAt.key()} },
		func(s *Section) any { return [2]any{s.Kind, s.EndsAt.loose()} },
	}
}

// sections finds a section of the first run in each run, nil where it is not there.
func (s *runSide) sections(of *Section) []*Section {
	out := make([]*Section, len(s.runs))
	if of == nil {
		return out
	}
	for i, r := range s.runs {
		if i == 0 {
			out[i] = of
			continue
		}
		for _, p := range match([]Section{*of}, r.Sections, sectionKeys()) {
			if p.a != nil {
				out[i] = p.b
			}
		}
	}
	return out
}

// ofSections is a figure of a section in all runs, 0 where it is not there.
func (s *runSide) ofSections(list []*Section, f func(*Report, *Section) float64) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		if x != nil {
			out[i] = f(s.runs[i], x)
		}
	}
	return out
}

func sectionDiffs(a, b *runSide) []SectionDiff {
	out := []SectionDiff{}
	for _, p := range match(a.ref().Sections, b.ref().Sections, sectionKeys()) {
		out = append(out, sectionDiff(a, b, p.a, p.b))
	}
	slices.SortStableFunc(out, func(x, y SectionDiff) int {
		return cmp.Compare(math.Abs(y.Lost.Delta()), math.Abs(x.Lost.Delta()))
	})
	return out
}

// repeatable tells whether another run would give the same figures to the bit:
// then the scatter of the instances is the program's own, and no noise.
func (r *Report) repeatable() bool { return r.Program.Collector == "simulate" }

func sectionDiff(a, b *runSide, sa, sb *Section) SectionDiff {
	noise := 0.0
	if sa != nil && sb != nil && !(a.ref().repeatable() && b.ref().repeatable()) {
		noise = math.Hypot(spread(sa), spread(sb))
	}
	as, bs := a.sections(sa), b.sections(sb)
	figure := func(f func(*Report, *Section) float64, noise, scale float64) Change {
		return compared(a.ofSections(as, f), b.ofSections(bs, f), noise, scale)
	}
	share := func(r *Report, s *Section) float64 { return r.lostOf(s) }
	lost := func(of *runSide) func(*Report, *Section) float64 {
		return func(r *Report, s *Section) float64 { return r.lostOf(s) * of.scale(r) }
	}
	scale := a.scale(a.ref())
	rel := 0.0 // what the noise of the imbalance makes of the loss
	for _, x := range []struct {
		of *runSide
		s  *Section
	}{{a, sa}, {b, sb}} {
		if x.s != nil {
			rel = max(rel, ratio(x.s.LostShare*x.of.scale(x.of.ref()), x.s.Imbalance))
		}
	}
	d := SectionDiff{Imbalance: figure(func(_ *Report, s *Section) float64 { return s.Imbalance }, noise, 1),
		Lost: figure(lost(a), noise*rel, scale), LostShare: figure(share, noise*ratio(rel, scale), 1), Causes: causeDiffs(a, b, sa, sb)}
	switch {
	case sb == nil:
		d.EndsAt, d.Word = sa.EndsAt, ChangeGone
	case sa == nil:
		d.EndsAt, d.Word = sb.EndsAt, ChangeNew
	default:
		d.EndsAt, d.Was = sb.EndsAt, moved(sa.EndsAt, sb.EndsAt)
		if d.Word = d.Lost.Word; d.Word == ChangeSame {
			d.Word = d.Imbalance.Word
		}
		return d
	}
	d.Imbalance.Word, d.Lost.Word, d.LostShare.Word = d.Word, d.Word, d.Word
	return d
}

// spread is the standard error, twice, of a section's imbalance: how far its
// instances scatter, by how many there are. One instance has no scatter to see.
func spread(s *Section) float64 {
	points := s.Course.Points
	if len(points) < 3 {
		return 0
	}
	mean, square := 0.0, 0.0
	for _, p := range points {
		mean += p.Imbalance
	}
	mean /= float64(len(points))
	for _, p := range points {
		square += (p.Imbalance - mean) * (p.Imbalance - mean)
	}
	variance := square / float64(len(points)-1)
	return 2 * math.Sqrt(variance/float64(max(len(points), s.Instances)))
}

// tells reports whether a section's causes are of interest: it matters, or is of a report of an
// earlier version, which had causes of no others.
func (s *Section) tells() bool {
	return s != nil && (s.Matters || s.ParallelShare == 0 && len(s.Causes) > 0)
}

// causeKeys tell causes of a section apart: where lines have moved, by their text.
func causeKeys() []func(*Cause) any {
	return []func(*Cause) any{
		func(c *Cause) any { return [3]any{c.Event, c.Place.key(), c.Address} },
		func(c *Cause) any { return [2]any{c.Event, c.Place.key()} },
		func(c *Cause) any { return [3]any{c.Event, c.Place.loose(), c.markedText()} },
		func(c *Cause) any { return [2]any{c.Event, c.Place.loose()} },
	}
}

func causeDiffs(a, b *runSide, sa, sb *Section) []CauseDiff {
	if !sa.tells() && !sb.tells() {
		return []CauseDiff{}
	}
	var none Section
	sa, sb = cmp.Or(sa, &none), cmp.Or(sb, &none)
	out := []CauseDiff{}
	for _, p := range match(sa.Causes, sb.Causes, causeKeys()) {
		out = append(out, causeDiff(a, b, sa, sb, p.a, p.b))
	}
	slices.SortStableFunc(out, func(x, y CauseDiff) int {
		return cmp.Compare(math.Abs(y.Loss.Delta()), math.Abs(x.Loss.Delta()))
	})
	return out
}

// causeLoss is the time that a cause stands for: its part of the imbalance, or what all threads
// pay.
func (s *runSide) causeLoss(r *Report, in *Section, c *Cause) float64 {
	if c.CostShare > 0 {
		sum := 0.0
		for i := range in.Threads {
			sum += in.Threads[i].Time
		}
		return c.CostShare * ratio(sum, r.coreTime()) * s.scale(r)
	}
	return c.Share * in.LostShare * s.scale(r)
}

func causeDiff(a, b *runSide, sa, sb *Section, ca, cb *Cause) CauseDiff {
	noise, scale := 0.0, a.scale(a.ref())
	if ca != nil && cb != nil {
		noise = math.Hypot(doubt(ca), doubt(cb))
	}
	loss := func(s *runSide, in *Section, c *Cause) []float64 {
		return s.ofSections(s.sections(in), func(r *Report, x *Section) float64 {
			if c == nil {
				return 0
			}
			for _, p := range match([]Cause{*c}, x.Causes, causeKeys()) {
				if p.a != nil && p.b != nil {
					return s.causeLoss(r, x, p.b)
				}
			}
			return 0
		})
	}
	d := CauseDiff{Loss: compared(loss(a, sa, ca), loss(b, sb, cb), noise*max(sa.LostShare*scale, sb.LostShare*b.scale(b.ref())), scale)}
	switch {
	case cb == nil:
		d.Place, d.Event, d.Share, d.Word = ca.Place, ca.Event, Change{Before: ca.Share}, ChangeGone
	case ca == nil:
		d.Place, d.Event, d.Share, d.Word = cb.Place, cb.Event, Change{After: cb.Share}, ChangeNew
	default:
		d.Place, d.Event, d.Was, d.Share, d.Word = cb.Place, cb.Event, moved(ca.Place, cb.Place), change(ca.Share, cb.Share, noise), d.Loss.Word
		return d
	}
	d.Loss.Word, d.Share.Word = d.Word, d.Word
	return d
}

// doubt is half the width of the share's confidence interval; an exact share has none.
func doubt(c *Cause) float64 {
	if c.ShareKind == "ledger" {
		return 0
	}
	return max(0, (c.R2.High-c.R2.Low)/2)
}

func moved(before, after Place) *Place {
	if before.key() == after.key() {
		return nil
	}
	return &before
}

// placeKey tells places apart by what stays when a program is built anew; addresses do not.
type placeKey struct {
	file     string
	line     int
	function string
}

func (p Place) key() placeKey { return placeKey{p.File, p.Line, p.Function} }

// loose leaves the line out: it shifts when the source is edited.
func (p Place) loose() placeKey { return placeKey{p.File, 0, p.Function} }

// markedText is the cause's own source line.
func (c *Cause) markedText() string {
	for _, l := range c.Source {
		if l.Mark {
			return l.Text
		}
	}
	return ""
}

// pair holds rows that are the same thing in both runs; one may be nil.
type pair[T any] struct{ a, b *T }

// match pairs rows whose keys are equal, trying one key after the other on
// what is left, in order.
func match[T any](a, b []T, keys []func(*T) any) []pair[T] {
	partner, taken := make([]*T, len(a)), make([]bool, len(b))
	for _, key := range keys {
		for i := range a {
			if partner[i] != nil {
				continue
			}
			for k := range b {
				if !taken[k] && key(&a[i]) == key(&b[k]) {
					partner[i], taken[k] = &b[k], true
					break
				}
			}
		}
	}
	var out []pair[T]
	for i := range a {
		out = append(out, pair[T]{&a[i], partner[i]})
	}
	for k := range b {
		if !taken[k] {
			out = append(out, pair[T]{nil, &b[k]})
		}
	}
	return out
}
