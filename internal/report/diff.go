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

// Diff compares two runs, A before and B after.
type Diff struct {
	Schema   string        `json:"schema"`
	A        Program       `json:"a"`
	B        Program       `json:"b"`
	Whole    []FigureDiff  `json:"whole"`
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
	LostShare Change      `json:"lost_share"`
	Causes    []CauseDiff `json:"causes"`
}

// CauseDiff is a cause that stands in one of the runs or in both. Loss is the
// part of the run's lost share that it stands for.
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
func Compare(a, b *Report) *Diff {
	d := &Diff{Schema: DiffSchema, A: a.Program, B: b.Program, Whole: wholeDiff(a, b), Warnings: doubts(a, b)}
	d.Sections = sectionDiffs(a, b)
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

func wholeDiff(a, b *Report) []FigureDiff {
	run := Change{Before: a.Program.RunTime, After: b.Program.RunTime, Word: ChangeSame}
	if rel := ratio(run.Delta(), run.Before); a.Program.ClockUnit == b.Program.ClockUnit && math.Abs(rel) > leastChange {
		run.Word = change(0, rel, 0).Word
	}
	return []FigureDiff{
		{"runtime", "Run time", b.Program.ClockUnit, run},
		{"lost", "Lost in parallel sections", "share", change(a.Whole.LostShare, b.Whole.LostShare, 0)},
		{"efficiency", "Parallel efficiency", "share", flip(change(a.Whole.ParallelEfficiency, b.Whole.ParallelEfficiency, 0))},
		{"balance", "Load balance", "share", flip(change(a.Whole.LoadBalance, b.Whole.LoadBalance, 0))},
		{"serial", "Serial share", "share", change(a.Whole.SerialShare, b.Whole.SerialShare, 0)},
	}
}

func sectionDiffs(a, b *Report) []SectionDiff {
	pairs := match(a.Sections, b.Sections, []func(*Section) any{
		func(s *Section) any { return [3]any{s.Kind, s.EndsAt.key(), s.EndsAt.Address} },
		func(s *Section) any { return [2]any{s.Kind, s.EndsAt.key()} },
		func(s *Section) any { return [2]any{s.Kind, s.EndsAt.loose()} },
	})
	out := []SectionDiff{}
	for _, p := range pairs {
		out = append(out, sectionDiff(p.a, p.b, a.repeatable() && b.repeatable()))
	}
	slices.SortStableFunc(out, func(x, y SectionDiff) int {
		return cmp.Compare(math.Abs(y.LostShare.Delta()), math.Abs(x.LostShare.Delta()))
	})
	return out
}

// repeatable tells whether another run would give the same figures to the bit:
// then the scatter of the instances is the program's own, and no noise.
func (r *Report) repeatable() bool { return r.Program.Collector == "simulate" }

func sectionDiff(a, b *Section, exact bool) SectionDiff {
	switch {
	case b == nil:
		return SectionDiff{EndsAt: a.EndsAt, Word: ChangeGone, Causes: causeDiffs(a, nil),
			Imbalance: Change{Before: a.Imbalance, Word: ChangeGone}, LostShare: Change{Before: a.LostShare, Word: ChangeGone}}
	case a == nil:
		return SectionDiff{EndsAt: b.EndsAt, Word: ChangeNew, Causes: causeDiffs(nil, b),
			Imbalance: Change{After: b.Imbalance, Word: ChangeNew}, LostShare: Change{After: b.LostShare, Word: ChangeNew}}
	}
	noise := 0.0
	if !exact {
		noise = math.Hypot(spread(a), spread(b))
	}
	d := SectionDiff{EndsAt: b.EndsAt, Was: moved(a.EndsAt, b.EndsAt), Causes: causeDiffs(a, b),
		Imbalance: change(a.Imbalance, b.Imbalance, noise),
		LostShare: change(a.LostShare, b.LostShare, noise*max(ratio(a.LostShare, a.Imbalance), ratio(b.LostShare, b.Imbalance)))}
	d.Word = d.LostShare.Word
	if d.Word == ChangeSame {
		d.Word = d.Imbalance.Word
	}
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

// tells reports whether a section's causes are of interest: it matters, or is of a report of an earlier version, which had causes of no others.
func (s *Section) tells() bool {
	return s != nil && (s.Matters || s.ParallelShare == 0 && len(s.Causes) > 0)
}

func causeDiffs(a, b *Section) []CauseDiff {
	if !a.tells() && !b.tells() {
		return []CauseDiff{}
	}
	var none Section
	if a == nil {
		a = &none
	}
	if b == nil {
		b = &none
	}
	pairs := match(a.Causes, b.Causes, []func(*Cause) any{
		func(c *Cause) any { return [3]any{c.Event, c.Place.key(), c.Address} },
		func(c *Cause) any { return [2]any{c.Event, c.Place.key()} },
		func(c *Cause) any { return [3]any{c.Event, c.Place.loose(), c.markedText()} },
		func(c *Cause) any { return [2]any{c.Event, c.Place.loose()} },
	})
	out := []CauseDiff{}
	for _, p := range pairs {
		out = append(out, causeDiff(a, b, p.a, p.b))
	}
	slices.SortStableFunc(out, func(x, y CauseDiff) int {
		return cmp.Compare(math.Abs(y.Loss.Delta()), math.Abs(x.Loss.Delta()))
	})
	return out
}

func causeDiff(sa, sb *Section, a, b *Cause) CauseDiff {
	switch {
	case b == nil:
		return CauseDiff{Place: a.Place, Event: a.Event, Word: ChangeGone,
			Loss:  Change{Before: a.Share * sa.LostShare, Word: ChangeGone},
			Share: Change{Before: a.Share, Word: ChangeGone}}
	case a == nil:
		return CauseDiff{Place: b.Place, Event: b.Event, Word: ChangeNew,
			Loss:  Change{After: b.Share * sb.LostShare, Word: ChangeNew},
			Share: Change{After: b.Share, Word: ChangeNew}}
	}
	noise := math.Hypot(doubt(a), doubt(b))
	d := CauseDiff{Place: b.Place, Was: moved(a.Place, b.Place), Event: b.Event,
		Loss:  change(a.Share*sa.LostShare, b.Share*sb.LostShare, noise*max(sa.LostShare, sb.LostShare)),
		Share: change(a.Share, b.Share, noise)}
	d.Word = d.Loss.Word
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
