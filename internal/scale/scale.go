// Package scale compares runs of one program on different numbers of cores, and looks ahead from
// them. It takes the account of the whole loss (analysis.Loss) of each run: what the larger run has
// more than the smaller one, scaled, is what its efficiency was lost to, term by term and place by
// place, and adds up (loss.go). Each term's way over the cores gives a forecast (fit.go). It
// imports analysis, profile and unit only; it runs nothing.
package scale

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lime/internal/analysis"
)

// Run is what is used of one run.
type Run struct {
	Name     string  `json:"name"`
	Cores    int     `json:"cores"`
	Time     float64 `json:"time"`
	CoreTime float64 `json:"core_time"` // cores x time
	Terms    []Term  `json:"terms"`     // add up to CoreTime

	unit    string
	how     string
	places  map[placeKey]*Place
	sampled []sampledPath
	roots   []string // functions in which created threads begin
	paths   pathNode
}

// Term is what core time went into.
type Term struct {
	Name  string  `json:"name"`
	Title string  `json:"title"`
	Time  float64 `json:"time"`
}

// Place is a line's part of a term.
type Place struct {
	Term     string  `json:"term"`
	Event    string  `json:"event,omitempty"`
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Function string  `json:"function"`
	Why      string  `json:"why,omitempty"` // the place is not known, for this reason
	Time     float64 `json:"time"`
}

// placeKey is what a place has in common in all runs.
type placeKey struct {
	term, event, file, function, why string
	line                             int
}

// From takes what is needed of an analysis. A number of cores above 0 is that which the run was
// given: those that it could not use are cores for which there were too few threads.
func From(name string, res *analysis.Result, cores int) (*Run, error) {
	l := res.Loss
	if l == nil || l.CoreTime <= 0 {
		return nil, fmt.Errorf("%s: nothing was measured in it", name)
	}
	r := &Run{Name: name, Cores: l.Cores, Time: res.Whole.RunTime, CoreTime: l.CoreTime, unit: res.Run.ClockUnit,
		how: res.Run.Collector + ", " + res.Run.Model, places: map[placeKey]*Place{}}
	for _, t := range l.Terms {
		r.Terms = append(r.Terms, Term{t.Name, t.Title, t.Time})
		for _, p := range t.Places {
			r.add(placeKey{t.Name, p.Event, p.File, p.Function, p.Why, p.Line}, p.Time)
		}
	}
	if more := cores - r.Cores; cores > 0 && more > 0 {
		idle := float64(more) * r.Time
		r.Cores, r.CoreTime = cores, r.CoreTime+idle
		for i := range r.Terms {
			if r.Terms[i].Name == analysis.TermSerial {
				r.Terms[i].Time += idle
			}
		}
		r.add(placeKey{term: analysis.TermSerial, why: analysis.NeverUsed}, idle)
	}
	return r, nil
}

func (r *Run) add(k placeKey, time float64) {
	p := r.places[k]
	if p == nil {
		p = &Place{Term: k.term, Event: k.event, File: k.file, Line: k.line, Function: k.function, Why: k.why}
		r.places[k] = p
	}
	p.Time += time
}

// term is the time of a term.
func (r *Run) term(name string) float64 {
	for _, t := range r.Terms {
		if t.Name == name {
			return t.Time
		}
	}
	return 0
}

// Mode says what a program does with more cores.
type Mode string

// The modes.
const (
	Strong Mode = "strong" // the same work
	Weak   Mode = "weak"   // as much work for each core
)

// Scaling is what the runs say together.
type Scaling struct {
	Mode       Mode       `json:"mode"`
	Recognised bool       `json:"recognised"` // by the work that the runs did; else it was said
	Unit       string     `json:"clock_unit"`
	Points     []Point    `json:"points"` // by cores
	Knee       int        `json:"knee"`   // cores; 0 = it is not reached
	Forecast   []Forecast `json:"forecast,omitempty"`
	Outlook    string     `json:"outlook,omitempty"`
	Warnings   []string   `json:"warnings,omitempty"`
}

// Point is one run beside the smallest one.
type Point struct {
	*Run
	Speedup    float64    `json:"speedup"`              // strong: how many times as fast; weak: how many times as much work in a time
	Efficiency float64    `json:"efficiency"`           // speed-up / how many times as many cores
	Losses     []Loss     `json:"losses"`               // add up to 1 - efficiency
	Paths      []PathLoss `json:"call_paths,omitempty"` // what each costs more, from the outermost level on
	Limit      *Loss      `json:"limit"`                // the term that costs most, with its first place; nil if nothing does
}

// Loss is a term's part of what is lost against the smallest run.
type Loss struct {
	Term   string      `json:"term"`
	Title  string      `json:"title"`
	Share  float64     `json:"share"`            // of the run's core time; below 0: it takes less than scaled
	Places []PlaceLoss `json:"places,omitempty"` // by share, the most first; they add up to the term
}

// PlaceLoss is a place's part.
type PlaceLoss struct {
	Place
	Share  float64 `json:"share"`
	Before float64 `json:"before"` // what it took in the smallest run, scaled
}

// Compare puts runs beside the one with the fewest cores. No mode: it is recognised by the work
// that they did.
func Compare(runs []*Run, mode Mode) (*Scaling, error) {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b *Run) int { return cmp.Compare(a.Cores, b.Cores) })
	if len(runs) < 2 || runs[0].Cores == runs[len(runs)-1].Cores {
		return nil, fmt.Errorf("all runs used %d cores: scaling is seen between runs on different numbers of them", runs[0].Cores)
	}
	s := &Scaling{Mode: mode, Unit: runs[0].unit}
	for _, r := range runs[1:] {
		if r.unit != runs[0].unit || r.how != runs[0].how {
			return nil, fmt.Errorf("%s (%s, times in %s) and %s (%s, times in %s) cannot be compared: collect both in "+
				"the same way", runs[0].Name, runs[0].how, runs[0].unit, r.Name, r.how, r.unit)
		}
	}
	if mode == "" {
		s.Mode, s.Recognised = recognise(runs[0], runs[len(runs)-1]), true
	}
	rooted(runs)
	for _, r := range runs {
		s.Points = append(s.Points, against(runs[0], r, s.Mode))
	}
	s.knee()
	return s, nil
}

// recognise tells strong from weak scaling by what is nearer: the same work, or as much for each
// core.
func recognise(a, b *Run) Mode {
	work, cores := math.Log(b.term(analysis.TermUseful)/a.term(analysis.TermUseful)), math.Log(float64(b.Cores)/float64(a.Cores))
	if math.Abs(work) <= math.Abs(work-cores) {
		return Strong
	}
	return Weak
}

// against puts a run beside the base. Ideally it takes as much core time, times how much more work
// it has to do; what it takes more is lost, and each term and place has its part of that: its time
// less its scaled time in the base.
func against(base, r *Run, mode Mode) Point {
	times := float64(r.Cores) / float64(base.Cores)
	scaled := 1.0
	if mode == Weak {
		scaled = times
	}
	p := Point{Run: r, Speedup: scaled * base.Time / r.Time}
	p.Efficiency = scaled * base.CoreTime / r.CoreTime
	for _, t := range r.Terms {
		l := Loss{Term: t.Name, Title: t.Title, Share: (t.Time - scaled*base.term(t.Name)) / r.CoreTime}
		if t.Name == analysis.TermUseful {
			l.Title = "more work"
		}
		l.Places = placeLosses(base, r, t.Name, scaled)
		p.Losses = append(p.Losses, l)
	}
	p.Paths = pathLosses(base, r, scaled)
	p.Limit = p.limit()
	return p
}

// placeLosses compares the places of a term.
func placeLosses(base, r *Run, term string, scaled float64) (out []PlaceLoss) {
	keys := map[placeKey]bool{}
	for _, places := range []map[placeKey]*Place{base.places, r.places} {
		for k := range places {
			keys[k] = keys[k] || k.term == term
		}
	}
	for k, of := range keys {
		if !of {
			continue
		}
		l := PlaceLoss{Place: Place{Term: k.term, Event: k.event, File: k.file, Line: k.line, Function: k.function, Why: k.why}}
		if p := r.places[k]; p != nil {
			l.Time = p.Time
		}
		if p := base.places[k]; p != nil {
			l.Before = scaled * p.Time
		}
		l.Share = (l.Time - l.Before) / r.CoreTime
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b PlaceLoss) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.Why, b.Why), cmp.Compare(a.Event, b.Event))
	})
	return out
}

// limit is the term that costs most, with the place that has most of it.
func (p *Point) limit() *Loss {
	most := p.largest()
	if most == nil || len(most.Places) == 0 {
		return nil
	}
	return &Loss{Term: most.Term, Title: most.Title, Share: most.Share, Places: most.Places[:1]}
}

// knee finds the number of cores with the largest speed-up x efficiency: up to there a core more
// brings a larger part of its cost in speed than it takes in efficiency (Eager, Zahorjan, Lazowska:
// Speedup versus efficiency in parallel systems, IEEE Trans. Comp. 38, 1989). It is no knee if it
// is the last point.
func (s *Scaling) knee() {
	best := 0
	for i, p := range s.Points {
		if b := &s.Points[best]; p.Speedup*p.Efficiency > b.Speedup*b.Efficiency {
			best = i
		}
	}
	if best < len(s.Points)-1 {
		s.Knee = s.Points[best].Cores
	}
}
