package report

import (
	"cmp"
	"fmt"
	"slices"

	"lime/internal/unit"
)

// plot is a chart of bars, drawn on a canvas N wide and 100 high that the page
// stretches to its width.
type plot struct {
	Title   string
	Second  string // what the pale part of the bars is
	Key     string // class of the bars: work, count, loss
	Range   string
	Summary string // for screen readers
	N       int
	Low     bool
	Threads bool // a bar a thread
	First   string
	Last    string
	Bars    []plotBar
}

// plotBar is one bar, with a pale part on top.
type plotBar struct {
	I, Rank int
	X, W    string
	Y, H    string
	WaitY   string
	WaitH   string
	Tip     string
}

// coordinate prints a figure of a chart as short as possible.
func coordinate(x float64) string { return fmt.Sprintf("%.4g", x) }

// newBar places bar i: value and wait as ratios of the chart's height.
func newBar(i int, value, wait float64, tip string) plotBar {
	height := 100 * clamp(value)
	b := plotBar{I: i, Rank: i, X: coordinate(float64(i) + 0.1), W: "0.8",
		Y: coordinate(100 - height), H: coordinate(height), Tip: tip}
	if w := 100 * clamp(wait); w > 0.05 {
		b.WaitY, b.WaitH = coordinate(max(0, 100-height-w)), coordinate(w)
	}
	return b
}

// newDot places a dot of a scatter chart: a bar that is only its end.
func newDot(i int, value float64, tip string) plotBar {
	const high = 8
	b := newBar(i, 0, 0, tip)
	b.Y, b.H = coordinate((100-high)*(1-clamp(value))), coordinate(high)
	return b
}

func clamp(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}

func ratio(x, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return x / of
}

// threadValues is what a chart of threads shows.
type threadValues struct {
	threads     []int
	time, wait  []float64
	count       []uint64
	place, note string // of the counts; of which instance
	print       func(float64) string
}

// ofSection returns the threads' totals.
func ofSection(s *Section) *threadValues {
	v := &threadValues{}
	for _, t := range s.Threads {
		v.threads, v.time, v.wait = append(v.threads, t.Thread), append(v.time, t.Time), append(v.wait, t.Wait)
	}
	if s.Instances > 1 {
		v.note = ", all instances"
	}
	return v
}

// ofCause returns the threads' times and counts in the cause's instance.
func ofCause(g *Program, s *Section, c *Cause) *threadValues {
	v := &threadValues{place: fmt.Sprintf("%s at %s", c.Title, c.Short())}
	for _, t := range c.Counts {
		v.threads, v.time, v.wait = append(v.threads, t.Thread), append(v.time, t.Time), append(v.wait, t.Wait)
		v.count = append(v.count, t.Count)
	}
	if which := c.which(s); which != "" {
		v.note = ", " + which
	}
	v.print = unit.SI
	if c.CountTime {
		v.place, v.print = map[string]string{"cost": "cost of ", "here": "time in "}[c.countWord(g)]+v.place, g.Short
	}
	return v
}

// timePlot draws time and wait by thread.
func (v *threadValues) timePlot(g *Program) *plot {
	if len(v.threads) == 0 {
		return nil
	}
	top, least, most := 0.0, 0, 0
	for i, t := range v.time {
		top = max(top, t+v.wait[i])
		if t < v.time[least] {
			least = i
		}
		if t > v.time[most] {
			most = i
		}
	}
	p := v.plot("Time"+v.note, "work")
	p.Second = "wait"
	p.Range = fmt.Sprintf("%s to %s", g.Short(v.time[least]), g.Quantity(v.time[most]))
	p.Summary = fmt.Sprintf("Time and wait by thread%s. Thread %d works longest, %s; thread %d shortest, %s.", v.note,
		v.threads[most], g.Quantity(v.time[most]), v.threads[least], g.Quantity(v.time[least]))
	for i, t := range v.time {
		p.Bars = append(p.Bars, newBar(i, ratio(t, top), ratio(v.wait[i], top),
			fmt.Sprintf("thread %d: time %s, wait %s", v.threads[i], g.Quantity(t), g.Short(v.wait[i]))))
	}
	v.rank(p)
	return p
}

// countPlot draws the counts by thread, below the threads' times.
func (v *threadValues) countPlot() *plot {
	if len(v.count) == 0 {
		return nil
	}
	lo, hi := slices.Min(v.count), slices.Max(v.count)
	p := v.plot(v.place, "count")
	p.Low = true
	p.Range = fmt.Sprintf("%s to %s", v.print(float64(lo)), v.print(float64(hi)))
	p.Summary = fmt.Sprintf("Count of %s by thread%s, from %d to %d.", v.place, v.note, lo, hi)
	for i, n := range v.count {
		p.Bars = append(p.Bars, newBar(i, ratio(float64(n), float64(hi)), 0, fmt.Sprintf("thread %d: %d", v.threads[i], n)))
	}
	v.rank(p)
	return p
}

// plot returns an empty chart with a place for every thread.
func (v *threadValues) plot(title, key string) *plot {
	n := len(v.threads)
	return &plot{Title: title, Key: key, N: n, Threads: true,
		First: fmt.Sprintf("thread %d", v.threads[0]), Last: fmt.Sprint(v.threads[n-1])}
}

// rank gives every bar its place in the order of the threads' times.
func (v *threadValues) rank(p *plot) {
	order := make([]int, len(v.time))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.time[b], v.time[a]) })
	for at, i := range order {
		p.Bars[i].Rank = at
	}
}

// coursePlot draws the time lost over the instances.
func coursePlot(g *Program, s *Section) *plot {
	points := s.Course.Points
	if len(points) < 2 {
		return nil
	}
	top := 0.0
	for _, q := range points {
		top = max(top, q.LostTime)
	}
	last := points[len(points)-1]
	p := &plot{Title: "Lost, by instance", Key: "loss", N: len(points), Low: true,
		Range: "up to " + g.Quantity(top), Summary: "Time lost by instance. " + s.Course.Text,
		First: fmt.Sprintf("instance %d", points[0].Seq+1), Last: fmt.Sprint(last.Seq + max(last.Count, 1))}
	for i, q := range points {
		p.Bars = append(p.Bars, newBar(i, ratio(q.LostTime, top), 0,
			fmt.Sprintf("instance %d: lost %s, imbalance %s", q.Seq+1, g.Quantity(q.LostTime), unit.Percent(q.Imbalance))))
	}
	return p
}
