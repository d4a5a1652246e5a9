package scale

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Forecast is what is expected on a number of cores that no run had.
type Forecast struct {
	Cores      int     `json:"cores"`
	Time       float64 `json:"time"`
	Speedup    float64 `json:"speedup"`
	Efficiency float64 `json:"efficiency"`
	Limit      string  `json:"limit"` // the term that will cost most, by its title
	// by how much it would be another one, had the last run not been made, or by how much that one
	// would have been missed: a part of the time
	Spread  float64 `json:"spread"`
	Trusted bool    `json:"trusted"` // Spread is at most trustedSpread
}

// trustedSpread is how far a forecast may move by one run less and still be told as one: the
// accuracy that lime promises for it.
const trustedSpread = 0.10

// laws are the ways in which a term's core time may go with the cores: what is there once (work),
// what every core has (a serial part, a lock that never rests), what a tree has, what each core
// does for each other one.
func laws() []func(p float64) float64 {
	return []func(float64) float64{
		func(float64) float64 { return 1 },
		func(p float64) float64 { return p },
		func(p float64) float64 { return p * math.Log2(p) },
		func(p float64) float64 { return p * p },
	}
}

// sample is a term's core time on a number of cores.
type sample struct{ cores, time float64 }

// curve is a sum of laws.
type curve struct {
	laws  []func(float64) float64
	parts []float64
}

func (c *curve) at(p float64) (sum float64) {
	for i, f := range c.laws {
		sum += c.parts[i] * f(p)
	}
	return max(sum, 0)
}

// fitted goes through the last samples as near as it can; the error is a part of each.
func fitted(chosen []func(float64) float64, list []sample) (*curve, bool) {
	a, b := mat.NewDense(len(list), len(chosen), nil), mat.NewVecDense(len(list), nil)
	for i, s := range list {
		weight := 1 / max(s.time, 1e-9*s.cores)
		for k, f := range chosen {
			a.Set(i, k, weight*f(s.cores))
		}
		b.SetVec(i, weight*s.time)
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil {
		return nil, false
	}
	c := &curve{laws: chosen}
	for k := range chosen {
		c.parts = append(c.parts, x.AtVec(k))
	}
	return c, true
}

// follow finds the curve that a term goes on with: of all pairs of laws and all numbers of last
// samples the one that, fitted without them, would have told the last two best. A term may change
// its law on the way (a lock that becomes busy all the time), so that the last samples count.
func follow(list []sample) *curve {
	best, bestError := &curve{}, math.Inf(1)
	for _, chosen := range choices() {
		for from := range list {
			miss, c := tried(chosen, list[from:])
			if c != nil && miss < bestError*(1-1e-9) {
				best, bestError = c, miss
			}
		}
	}
	return best
}

// tried is by how much a choice of laws would have missed the last samples, and the curve through
// all of them.
func tried(chosen []func(float64) float64, list []sample) (miss float64, c *curve) {
	const ahead = 2
	scale := 0.0
	for _, s := range list {
		scale = max(scale, s.time/s.cores)
	}
	n := 0
	for k := 1; k <= ahead && len(list)-k >= len(chosen); k++ {
		last := list[len(list)-k]
		before, ok := fitted(chosen, list[:len(list)-k])
		if !ok {
			return 0, nil
		}
		miss = max(miss, math.Abs(before.at(last.cores)-last.time)/max(last.time, 1e-3*scale*last.cores, 1e-12))
		n++
	}
	if n == 0 {
		return 0, nil
	}
	c, ok := fitted(chosen, list)
	if !ok {
		return 0, nil
	}
	last := list[len(list)-1] // the curve goes on from there
	miss = max(miss, math.Abs(c.at(last.cores)-last.time)/max(last.time, 1e-3*scale*last.cores, 1e-12))
	return miss + 1e-6*float64(len(chosen)), c // of equal ones the simpler
}

// choices are all laws alone, and all pairs.
func choices() (out [][]func(float64) float64) {
	all := laws()
	for i := range all {
		out = append(out, all[i:i+1:i+1])
	}
	for i := range all {
		for k := i + 1; k < len(all); k++ {
			out = append(out, []func(float64) float64{all[i], all[k]})
		}
	}
	return out
}

// terms are the names of a run's terms.
func (s *Scaling) terms() []Term { return s.Points[0].Terms }

// curves follow every term, by the first n points.
func (s *Scaling) curves(n int) []*curve {
	var out []*curve
	for _, t := range s.terms() {
		var list []sample
		for _, p := range s.Points[:n] {
			list = append(list, sample{float64(p.Cores), p.term(t.Name)})
		}
		out = append(out, follow(list))
	}
	return out
}

func total(curves []*curve, p float64) (sum float64) {
	for _, c := range curves {
		sum += c.at(p)
	}
	return sum
}

// leastPoints is how many runs a forecast needs: two for a curve of two laws, one that it is held
// to, and one that may be left out.
const leastPoints = 4

// Look forecasts runs on other numbers of cores.
func (s *Scaling) Look(cores []int) error {
	if len(cores) == 0 {
		return nil
	}
	if len(s.Points) < leastPoints {
		return fmt.Errorf("a forecast needs runs on %d numbers of cores, these are %d", leastPoints, len(s.Points))
	}
	with, without := s.curves(len(s.Points)), s.curves(len(s.Points)-1)
	base, last := s.Points[0], s.Points[len(s.Points)-1]
	missed := math.Abs(total(without, float64(last.Cores))/last.CoreTime - 1)
	for _, n := range cores {
		p := float64(n)
		f := Forecast{Cores: n, Time: total(with, p) / p}
		f.Spread = max(missed, math.Abs(total(without, p)/p-f.Time)/f.Time)
		f.Trusted = f.Spread <= trustedSpread
		scaled := 1.0
		if s.Mode == Weak {
			scaled = p / float64(base.Cores)
		}
		f.Speedup = scaled * base.Time / f.Time
		f.Efficiency = scaled * base.CoreTime / (f.Time * p)
		f.Limit = s.limit(with, n, scaled)
		s.Forecast = append(s.Forecast, f)
	}
	s.look()
	return nil
}

// limit is the term that grows most against the base.
func (s *Scaling) limit(curves []*curve, cores int, scaled float64) string {
	most, title := 0.0, ""
	for i, t := range s.terms() {
		if more := curves[i].at(float64(cores)) - scaled*s.Points[0].term(t.Name); more > most {
			most, title = more, s.Points[0].Terms[i].Title
			if i == 0 {
				title = "more work"
			}
		}
	}
	return title
}

// look puts the forecast into a sentence: what will cost most, and how far the curve can be
// trusted.
func (s *Scaling) look() {
	last := s.Points[len(s.Points)-1]
	now := ""
	if l := last.largest(); l != nil {
		now = l.Title
	}
	for _, f := range s.Forecast {
		if f.Limit != now && f.Limit != "" {
			s.Outlook = fmt.Sprintf("From %d cores on %s will cost most", f.Cores, f.Limit)
			if now != "" {
				s.Outlook += fmt.Sprintf(", no more %s", now)
			}
			s.Outlook += "."
			break
		}
	}
	if s.Outlook == "" && now != "" {
		s.Outlook = fmt.Sprintf("It stays %s that costs most.", now)
	}
	for _, f := range s.Forecast {
		if !f.Trusted {
			s.Outlook += fmt.Sprintf(" From %d cores on the curve cannot be trusted: with one run less it would be "+
				"another by %.0f %%.", f.Cores, 100*f.Spread)
			return
		}
	}
}

// largest is the term that costs most.
func (p *Point) largest() (most *Loss) {
	for i := range p.Losses {
		if l := &p.Losses[i]; l.Share > 0 && (most == nil || l.Share > most.Share) {
			most = l
		}
	}
	return most
}
