package analysis

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// Cost is what an event at a source line cost all threads together in parallel sections, evenly or
// not: what every thread pays alike is no imbalance, and wastes the cores all the same.
type Cost struct {
	Event string `json:"event"`
	Title string `json:"title"`
	Place
	Subject
	Time  float64 `json:"time"`  // of all threads, clock units
	Share float64 `json:"share"` // of the threads' time in parallel sections
}

// mostCosts is how many costs are listed.
const mostCosts = 10

// costKey names what is one row: a kind of event at a line.
type costKey struct {
	lineKey
	kind int32
}

// costs lists the events that took most of the threads' time, the largest first.
func (r *runner) costs(sums []*summary) []Cost {
	own, rows := 0.0, make([]float64, len(r.tab.Events))
	for _, s := range sums {
		if s.serial() {
			continue
		}
		own += s.own
		for row, n := range s.costs {
			rows[row] += n
		}
	}
	var out []Cost
	for _, at := range r.costRows(rows) {
		if c := r.cost(at, rows, own); c.Share >= leastCost {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Cost) int { return compareCosts(&a, &b) })
	return out[:min(len(out), mostCosts)]
}

// costRows puts the events together that are one row.
func (r *runner) costRows(rows []float64) map[costKey][]int {
	byKey := map[costKey][]int{}
	for i, n := range rows {
		if e := &r.tab.Events[i]; n > 0 {
			k := costKey{frameKey(e.Frames, e.Addr), e.Kind}
			byKey[k] = append(byKey[k], i)
		}
	}
	return byKey
}

// compareCosts puts the largest first.
func compareCosts(a, b *Cost) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Event, b.Event), cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line), cmp.Compare(a.Address, b.Address))
}

// cost sums the events of a row; the heaviest names the place.
func (r *runner) cost(events []int, rows []float64, own float64) Cost {
	top, c := events[0], Cost{}
	for _, i := range events {
		c.Time += rows[i]
		if rows[i] > rows[top] {
			top = i
		}
	}
	c.Share = ratio(c.Time, own)
	e := &r.tab.Events[top]
	c.Event, c.Place = r.prog.kindName(e.Kind), r.prog.eventPlace(e)
	if e.Kind >= 0 && int(e.Kind) < len(r.tab.Kinds) {
		c.Title = r.tab.Kinds[e.Kind].Title
	}
	c.Subject = r.subjectAmong(events, func(i int) float64 { return rows[i] })
	return c
}

// addCosts adds what an instance's events cost.
func (s *summary) addCosts(counts []profile.Count, events int) {
	for _, c := range counts {
		if c.Row < 0 || int(c.Row) >= events {
			continue
		}
		if s.costs == nil {
			s.costs = map[int32]float64{}
		}
		s.costs[c.Row] += float64(c.N)
	}
}
