package ranks

import (
	"unsafe"

	"lime/internal/profile"
)

// Which call path the ranks' threads were on when, on the clock of all, within a budget.

// traceBudget is how many bytes the samples of a merged profile may take in memory: as many as a
// time line of 1,000 threads has cells on the widest screen.
const traceBudget = 96 << 20

// traces are those of the files, until the clocks are set in the ranks' own times.
type traces struct {
	list []trace
	kept int // samples
	most int
	thin uint64 // how often every second one was dropped
}

// trace is a thread's.
type trace struct {
	profile.Trace
	line *line
}

func newTraces(budget int) traces {
	return traces{most: budget / int(unsafe.Sizeof(profile.TraceSample{}))}
}

// traced takes a file's traces over; paths are the union's, by the file's own.
func (f *file) traced(paths []profile.PathID) {
	t := &f.m.traces
	for _, tr := range f.r.Tables().Traces {
		x := trace{profile.Trace{Thread: f.thread(tr.Thread), Every: tr.Every << t.thin}, f.line(tr.Thread)}
		for _, s := range tr.Samples {
			s.Path = of(paths, s.Path, profile.None)
			x.Samples = append(x.Samples, s)
		}
		for range t.thin {
			x.halve()
		}
		t.list = append(t.list, x)
		for t.kept += len(x.Samples); t.kept > t.most; {
			t.halve()
		}
	}
}

// halve drops every second sample of each thread; those that stay speak for both.
func (t *traces) halve() {
	t.kept = 0
	for i := range t.list {
		x := &t.list[i]
		x.halve()
		x.Every *= 2
		t.kept += len(x.Samples)
	}
	t.thin++
}

func (x *trace) halve() {
	half := make([]profile.TraceSample, 0, len(x.Samples)/2)
	for i := 1; i < len(x.Samples); i += 2 {
		s := x.Samples[i]
		s.Length += x.Samples[i-1].Length
		half = append(half, s)
	}
	if n := len(x.Samples); n%2 == 1 && n > 1 { // the last one has no fellow
		half[len(half)-1].Length += x.Samples[n-1].Length
	}
	x.Samples = half
}

// common are the traces on the clock of all, when it is set.
func (t *traces) common() (out []profile.Trace) {
	for i := range t.list {
		x := &t.list[i]
		for k := range x.Samples {
			s := &x.Samples[k]
			s.At = x.line.working(s.At)
		}
		out = append(out, x.Trace)
	}
	return out
}
