package analysis

import (
	"slices"

	"lime/internal/ledger"
)

// A share of the account is exact for the run that was profiled. How much it says of the program is
// seen from how it varies over the instances: they are drawn anew, as many of them, with
// replacement. A share is the sum of what a cause put on the last threads by the sum of the
// imbalances, so that heavy instances weigh as much as they cost.

// shareGroups is the number of groups into which neighbouring instances are put where there are
// more.
const shareGroups = 256

// shareDraws draws the instances of an account.
type shareDraws struct {
	groups, instances int
	totals            []float64 // imbalance, by group
	draws             [][]int
}

func newShareDraws(acc *ledger.Account) *shareDraws {
	n := len(acc.Instances)
	d := &shareDraws{groups: min(n, shareGroups), instances: n}
	d.totals = make([]float64, d.groups)
	for i := range acc.Instances {
		d.totals[d.group(i)] += acc.Instances[i].Total
	}
	d.draws = draws(d.groups)
	return d
}

func (d *shareDraws) group(instance int) int { return instance * d.groups / d.instances }

// course is what a posting put on the last threads, by group.
func (d *shareDraws) course(p *posting) []float64 {
	out := make([]float64, d.groups)
	for _, row := range p.rows {
		for _, c := range row.Course {
			if c.Index < d.instances {
				out[d.group(c.Index)] += c.Cycles
			}
		}
	}
	return out
}

// interval is that of the share with the given course.
func (d *shareDraws) interval(value float64, course []float64) Interval {
	spread := make([]float64, 0, len(d.draws))
	for _, times := range d.draws {
		x, y := 0.0, 0.0
		for g, n := range times {
			x, y = x+float64(n)*course[g], y+float64(n)*d.totals[g]
		}
		if y > 0 {
			spread = append(spread, x/y)
		}
	}
	if len(spread) == 0 {
		return Interval{value, value, value}
	}
	slices.Sort(spread)
	k := len(spread) / 40
	return Interval{Value: value, Lo: min(value, spread[k]), Hi: max(value, spread[len(spread)-1-k])}
}

// shareIntervals says how much the shares of a section's causes vary over its instances.
func (r *runner) shareIntervals(sec *Section, d *shareDraws) {
	if d == nil || d.groups < 2 {
		return
	}
	for i := range sec.Causes {
		if c := &sec.Causes[i]; c.Share != nil && c.course != nil {
			v := d.interval(*c.Share, c.course)
			c.ShareInterval = &v
		}
	}
}
