package native

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"lime/internal/profile"
)

// idling charges idleness to the code that runs meanwhile. With no more threads than cores, what
// the others do at that moment tells. With more, threads that merely wait for a core finish their
// part of a section one after the other, and the last ones would be blamed for it; then the moments
// are those of the time line with a core for every thread.
type idling struct {
	cores   int
	hooked  bool // waits are known: there are sections
	width   int  // the threads for which idleness is measured, at the last corrections
	moment  levels
	line    levels
	written map[pathKey]float64
}

// levels are samples by the number of threads that work. A sample that is taken while k threads
// work stands for the k-th part of a moment in which width - k threads had nothing to do; the
// width, the most threads that ever work together, is known at the end only. So the samples are
// kept by k, and what was written once is corrected later.
type levels struct {
	elapsed []float64 // by k: how long k threads worked
	samples map[levelKey]float64
}

// levelKey is a call path while a number of threads worked.
type levelKey struct {
	path, thread int32
	working      int
}

func newIdling(cores int) *idling {
	return &idling{cores: cores, written: map[pathKey]float64{}}
}

// add takes a sample of a working thread.
func (i *levels) add(path, thread int32, working int, nanos float64) {
	if i.samples == nil {
		i.samples = map[levelKey]float64{}
	}
	for working >= len(i.elapsed) {
		i.elapsed = append(i.elapsed, 0)
	}
	i.elapsed[working] += nanos / float64(working)
	i.samples[levelKey{path, thread, working}] += nanos
}

// briefly is the share of the time below which so many threads at work are a passing overlap, as in
// the analysis.
const briefly = 0.01

// width is the largest number of threads at work together for more than a moment.
func (i *levels) width() int {
	all, above := 0.0, 0.0
	for _, t := range i.elapsed {
		all += t
	}
	for k := len(i.elapsed) - 1; k > 1; k-- {
		if above += i.elapsed[k]; above >= briefly*all {
			return k
		}
	}
	return 1
}

// corrections is what each path's idleness has changed by since the last time, in order.
func (i *idling) corrections(visit func(k pathKey, change float64)) {
	l := &i.moment
	width, onLine := l.width(), i.line.width()
	switch {
	case max(width, onLine) > i.cores && i.hooked:
		l, width = &i.line, onLine
	case width > i.cores: // a runtime that schedules by itself has threads to spare
		width = i.cores
	}
	i.width = width
	now := map[pathKey]float64{}
	keys := slices.SortedFunc(maps.Keys(l.samples), func(a, b levelKey) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.thread, b.thread), cmp.Compare(a.working, b.working))
	})
	for _, k := range keys {
		p := pathKey{k.path, k.thread, noSection, profile.MetricIdleness}
		now[p] += l.samples[k] * float64(max(0, width-k.working)) / float64(k.working)
	}
	for p := range i.written {
		now[p] += 0 // what is not there any more becomes nil
	}
	for _, p := range slices.SortedFunc(maps.Keys(now), comparePaths) {
		if change := now[p] - i.written[p]; change != 0 {
			visit(p, change)
			i.written[p] = now[p]
		}
	}
}

// charge puts the samples of a piece on the time line: before says how much of its part lies before
// the piece, lengths are those of all parts of the instance. Where the waits are not known (lengths
// is nil), the moment of the sample counts.
func (i *idling) charge(p *piece, before uint64, lengths []uint64) {
	long := float64(p.working())
	i.hooked = i.hooked || lengths != nil
	for _, w := range p.samples {
		k := w.working
		if lengths != nil {
			at := before + uint64(long*float64(w.at)/float64(max(p.cpu, 1)))
			k = len(lengths) - sort.Search(len(lengths), func(j int) bool { return lengths[j] > at })
		}
		i.line.add(w.path, p.row, max(k, 1), float64(w.nanos))
	}
}

// idles reports whether the thread is known to have nothing to do.
func (t *thread) idles() bool {
	return t.waits() && !t.onTask || t.cond.on || t.spins || t.cpu.blocked()
}

// nanosOf is the CPU time that a sample stands for.
func (ev *events) nanosOf(period uint64) uint64 {
	if ev.by == "cycles" {
		return 1e9 / ev.o.Frequency
	}
	return period
}
