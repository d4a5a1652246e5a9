// Comparing what core time went into: by absolute loss, over one run or several a side.

package report

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/analysis"
)

// LossDiff compares the accounts of the whole loss.
type LossDiff struct {
	Unit   string     `json:"unit"` // of what stands below: the clock unit, or "share" if the runs' clocks differ
	Before float64    `json:"before"`
	After  float64    `json:"after"` // core time
	Terms  []TermDiff `json:"terms"`
}

// TermDiff is a term before and after.
type TermDiff struct {
	Name  string `json:"name"` // as --fail-on calls it
	Title string `json:"title"`
	Change
	WonShare float64     `json:"won_share"` // of the core time that was saved in all, 0 if none was
	Places   []PlaceDiff `json:"places"`    // that changed, the most first
}

// PlaceDiff is a place of a term before and after.
type PlaceDiff struct {
	Place
	Was   *Place `json:"was,omitempty"` // before, if its line moved
	Event string `json:"event,omitempty"`
	Change
}

// runSide is the runs before, or those after. The first one says which sections and places there
// are.
type runSide struct {
	runs []*Report
	unit float64 // times are multiplied by it
}

// ref is the run whose rows are compared.
func (s *runSide) ref() *Report { return s.runs[0] }

// each is a figure in all runs.
func (s *runSide) each(f func(*Report) float64) []float64 {
	out := make([]float64, len(s.runs))
	for i, r := range s.runs {
		out[i] = f(r)
	}
	return out
}

// coreTime is the time of the cores of the account; of a report of an earlier version, cores x run
// time.
func (r *Report) coreTime() float64 {
	if r.Loss != nil && r.Loss.CoreTime > 0 {
		return r.Loss.CoreTime
	}
	return max(1, r.Program.RunTime) * float64(max(1, r.Whole.Width))
}

// scale is the core time in the unit of the comparison.
func (s *runSide) scale(r *Report) float64 {
	if s.unit == 0 {
		return 1
	}
	return r.coreTime()
}

// lostOf is the share of the core time that a section loses.
func (r *Report) lostOf(s *Section) float64 {
	if r.Loss != nil {
		return s.AllLost
	}
	return s.LostShare
}

// compared makes a Change of amounts, of which less is better: the means, and the noise of several
// runs, or else the one given.
func compared(before, after []float64, noise, scale float64) Change {
	c := Change{Before: mean(before), After: mean(after), Noise: noise, Word: ChangeSame}
	if len(before)+len(after) > 2 {
		c.Noise = welch(before, after)
	}
	if d := c.Delta(); math.Abs(d) > max(c.Noise, leastChange*scale) {
		c.Word = ChangeBetter
		if d > 0 {
			c.Word = ChangeWorse
		}
	}
	return c
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return ratio(sum, float64(len(x)))
}

// welch is half the width of the 95 % interval of the difference of two means (Welch's t interval).
// A side with one run has no scatter to see, and is taken to scatter like the other.
func welch(a, b []float64) float64 {
	va, vb := variance(a), variance(b)
	switch {
	case len(a) < 2:
		va = vb
	case len(b) < 2:
		vb = va
	}
	sa, sb := va/float64(len(a)), vb/float64(len(b))
	if sa+sb == 0 {
		return 0
	}
	free := 0.0 // 1 / degrees of freedom
	for _, x := range []struct {
		s float64
		n int
	}{{sa, len(a)}, {sb, len(b)}} {
		if x.n > 1 {
			free += (x.s / (sa + sb)) * (x.s / (sa + sb)) / float64(x.n-1)
		}
	}
	return student(1/free) * math.Sqrt(sa+sb)
}

func variance(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return sum / float64(len(x)-1)
}

// student is the 97.5 % quantile of Student's t distribution, interpolated in the reciprocal of the
// degrees of freedom.
func student(free float64) float64 {
	table := [...]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
		2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}
	const normal = 1.960
	n := int(free)
	switch {
	case math.IsNaN(free) || n < 1:
		return table[0]
	case n < len(table):
		x := (1/float64(n) - 1/free) / (1/float64(n) - 1/float64(n+1))
		return table[n-1] + x*(table[n]-table[n-1])
	}
	last := float64(len(table))
	return normal + (table[len(table)-1]-normal)*last/free
}

// lossDiff compares the accounts, nil if a run has none.
func lossDiff(a, b *runSide) *LossDiff {
	for _, r := range slices.Concat(a.runs, b.runs) {
		if r.Loss == nil {
			return nil
		}
	}
	d := &LossDiff{Unit: b.ref().Program.ClockUnit, Before: mean(a.each(a.scale)), After: mean(b.each(b.scale))}
	if a.unit == 0 {
		d.Unit = "share"
	}
	for i := range b.ref().Loss.Terms {
		t := &b.ref().Loss.Terms[i]
		amount := func(s *runSide) func(*Report) float64 {
			return func(r *Report) float64 { return r.Loss.term(t.Name).Share * s.scale(r) }
		}
		row := TermDiff{Name: t.Name, Title: t.Title, Change: compared(a.each(amount(a)), b.each(amount(b)), 0, d.Before)}
		if saved := d.Before - d.After; saved > leastChange*d.Before {
			row.WonShare = -row.Delta() / saved
		}
		row.Places = placeDiffs(a, b, t.Name, d.Before)
		d.Terms = append(d.Terms, row)
	}
	return d
}

// term is the term of that name.
func (l *Loss) term(name string) *LossTerm {
	for i := range l.Terms {
		if l.Terms[i].Name == name {
			return &l.Terms[i]
		}
	}
	return &LossTerm{}
}

// lossPlaceKeys tell places apart: by what stays when a program is built anew, then without the
// line.
func lossPlaceKeys() []func(*LossPlace) any {
	return []func(*LossPlace) any{
		func(p *LossPlace) any { return [3]any{p.Event, p.Place.key(), p.Why} },
		func(p *LossPlace) any { return [3]any{p.Event, p.Place.loose(), p.Why} },
	}
}

// placeDiffs lists the places of a term that changed.
func placeDiffs(a, b *runSide, term string, scale float64) []PlaceDiff {
	out := []PlaceDiff{}
	if term == analysis.TermUseful {
		return out
	}
	places := func(r *Report) []LossPlace { return r.Loss.term(term).Places }
	for _, p := range match(places(a.ref()), places(b.ref()), lossPlaceKeys()) {
		amounts := func(s *runSide, of *LossPlace) []float64 {
			return s.each(func(r *Report) float64 {
				if of == nil {
					return 0
				}
				for _, q := range match([]LossPlace{*of}, places(r), lossPlaceKeys()) {
					if q.a != nil && q.b != nil {
						return q.b.Share * s.scale(r)
					}
				}
				return 0
			})
		}
		row := PlaceDiff{Change: compared(amounts(a, p.a), amounts(b, p.b), 0, scale)}
		at := cmp.Or(p.b, p.a)
		if row.Word == ChangeSame || at.Why != "" {
			continue
		}
		row.Place, row.Event = at.Place, at.Event
		switch {
		case p.a == nil:
			row.Word = ChangeNew
		case p.b == nil:
			row.Word = ChangeGone
		default:
			row.Was = moved(p.a.Place, p.b.Place)
		}
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(x, y PlaceDiff) int { return cmp.Compare(math.Abs(y.Delta()), math.Abs(x.Delta())) })
	return out
}
