package analysis

import (
	"math"

	"lime/internal/profile"
)

// tripRow is what the samples of one thread, in one instance or in all, tell of a loop: how many
// there are, and the mean distance to the loop's end.
type tripRow struct{ time, n, left float64 }

// trips gathers what samples tell of loops, by the block of the loop's test.
type trips struct {
	rows    map[profile.NodeID][][]tripRow                                     // by instance
	threads map[profile.NodeID]map[profile.ThreadID]*struct{ n, left float64 } // over all instances
}

func newTrips() *trips {
	return &trips{rows: map[profile.NodeID][][]tripRow{}, threads: map[profile.NodeID]map[profile.ThreadID]*struct{ n, left float64 }{}}
}

// add reads an instance.
func (ts *trips) add(tab *profile.Tables, in *profile.Instance) {
	type sums struct{ n, left []float64 }
	at := map[profile.NodeID]*sums{}
	var order []profile.NodeID
	for _, c := range in.Events {
		if c.Row < 0 || int(c.Row) >= len(tab.Events) || int(c.Part) >= len(in.Parts) {
			continue
		}
		e := &tab.Events[c.Row]
		name := tab.Kinds[e.Kind].Name
		if name != profile.KindLoopSamples && name != profile.KindLoopLeft || e.Node < 0 {
			continue
		}
		s := at[e.Node]
		if s == nil {
			s = &sums{make([]float64, len(in.Parts)), make([]float64, len(in.Parts))}
			at[e.Node], order = s, append(order, e.Node)
		}
		if name == profile.KindLoopSamples {
			s.n[c.Part] += float64(c.N)
		} else {
			s.left[c.Part] += float64(c.N)
		}
	}
	for _, v := range order {
		ts.instance(v, in, at[v].n, at[v].left)
	}
}

func (ts *trips) instance(v profile.NodeID, in *profile.Instance, n, left []float64) {
	var rows []tripRow
	if ts.threads[v] == nil {
		ts.threads[v] = map[profile.ThreadID]*struct{ n, left float64 }{}
	}
	for i := range n {
		if n[i] == 0 {
			continue
		}
		rows = append(rows, tripRow{float64(in.Parts[i].Time()), n[i], left[i] / n[i]})
		t := ts.threads[v][in.Parts[i].Thread]
		if t == nil {
			t = &struct{ n, left float64 }{}
			ts.threads[v][in.Parts[i].Thread] = t
		}
		t.n, t.left = t.n+n[i], t.left+left[i]
	}
	ts.rows[v] = append(ts.rows[v], rows)
}

// length is what samples tell of a loop: its verdict, and how much likelier it is that the loop's
// length goes with the threads' times than that it is the same for all, as a logarithm; 0 where
// samples tell nothing.
type length struct {
	verdict int
	odds    float64
	sure    bool // that it is even, and not merely likely
}

// What a loop's lengths are next to the threads' times.
const (
	loopUnknown = 0
	loopEven    = -1 // it goes round as often in threads that take long as in others
	loopUneven  = 1  // the longer a thread takes, the more often
)

// judge compares the lengths of a loop with the threads' times. If the threads keep their roles, a
// thread's samples of all instances count together. A loop that can be left at several places
// (exits) may end anywhere: the further it gets, the nearer it comes to the end that its test
// names, and where that distance is even it may still be left early more often in some threads: that
// speaks neither for nor against it.
func (ts *trips) judge(v profile.NodeID, exits int, steady bool, w *rows) length {
	all := ts.rows[v]
	if steady {
		var rows []tripRow
		for id, t := range ts.threads[v] {
			rows = append(rows, tripRow{w.thread(id).time, t.n, t.left / t.n})
		}
		all = [][]tripRow{rows}
	}
	var sxy, sxx float64
	for _, rows := range all {
		a, b := elasticity(rows)
		sxy, sxx = sxy+a, sxx+b
	}
	if sxx <= 0 {
		return length{}
	}
	e, se := sxy/sxx, spread/math.Sqrt(sxx)
	l := length{loopUnknown, (2*e - 1) / (2 * se * se), exits == 1 && se <= vague && e+surelyZ*se < evenLoop && e+surelyZ*se >= 0}
	if exits > 1 {
		l.odds = max(0, l.odds)
	}
	switch {
	case se > vague:
	case exits > 1 && e+surelyZ*se < 0:
		l.verdict = loopUneven
	case e+surelyZ*se < 0: // it cannot come nearer to its only end and go round more often: what was read is not its length
	case exits == 1 && (e+sureLoop*se < evenLoop || l.odds < -surelyZ):
		l.verdict = loopEven
	case e > unevenLoop && l.odds > sureOdds:
		l.verdict = loopUneven
	}
	return l
}

// Limits of the elasticity of a loop's length by the time: 0 is even, 1 proportional.
const (
	spread     = 0.58 // of the distance to the end, at a moment taken by chance: sqrt(1/3)
	sureLoop   = 1.5  // standard errors
	vague      = 0.75 // standard error of an estimate that says nothing
	evenLoop   = 0.45
	unevenLoop = 0.5
	sureOdds   = 4 // logarithm: 50 to 1, since many loops are looked at
)

// elasticity adds up, over the threads of one instance, the products of the relative deviations of
// length and time, and the squares of the latter, by the number of samples.
func elasticity(rows []tripRow) (sxy, sxx float64) {
	var n, time, left float64
	for _, r := range rows {
		n, time, left = n+r.n, time+r.n*r.time, left+r.n*r.left
	}
	if n == 0 || time == 0 || left == 0 {
		return 0, 0
	}
	time, left = time/n, left/n
	for _, r := range rows {
		x, y := r.time/time-1, r.left/left-1
		sxy, sxx = sxy+r.n*x*y, sxx+r.n*x*x
	}
	return sxy, sxx
}
