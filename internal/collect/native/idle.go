package native

import (
	"cmp"
	"maps"
	"slices"
)

// idling charges idleness to the code that runs meanwhile. A sample that is taken while k threads work stands for k-th parts of a
// moment in which width - k threads had nothing to do; the width, the most threads that ever work together, is known at the end
// only. So the samples are kept by k, and what was written once is corrected later.
type idling struct {
	elapsed []float64 // by k: how long k threads worked, had each a core of its own
	samples map[levelKey]float64
	written map[pathKey]float64
}

// levelKey is a call path while a number of threads worked.
type levelKey struct {
	path, thread int32
	working      int
}

func newIdling() *idling {
	return &idling{samples: map[levelKey]float64{}, written: map[pathKey]float64{}}
}

// add takes a sample of a working thread.
func (i *idling) add(path, thread int32, working int, nanos float64) {
	for working >= len(i.elapsed) {
		i.elapsed = append(i.elapsed, 0)
	}
	i.elapsed[working] += nanos / float64(working)
	i.samples[levelKey{path, thread, working}] += nanos
}

// briefly is the share of the time below which so many threads at work are a passing overlap, as in the analysis.
const briefly = 0.01

// width is the largest number of threads at work together for more than a moment.
func (i *idling) width() int {
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
	width, now := i.width(), map[pathKey]float64{}
	keys := slices.SortedFunc(maps.Keys(i.samples), func(a, b levelKey) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.thread, b.thread), cmp.Compare(a.working, b.working))
	})
	for _, k := range keys {
		p := pathKey{k.path, k.thread, noSection, "idleness"}
		now[p] += i.samples[k] * float64(max(0, width-k.working)) / float64(k.working)
	}
	for _, p := range slices.SortedFunc(maps.Keys(now), comparePaths) {
		if change := now[p] - i.written[p]; change != 0 {
			visit(p, change)
			i.written[p] = now[p]
		}
	}
}

// working counts the threads that have something to do: neither wait, nor spin for something, nor sleep in the kernel.
func (r *run) working() (n int) {
	for _, t := range r.threads {
		if !t.ended && !t.idles() {
			n++
		}
	}
	return max(n, 1)
}

// idles reports whether the thread is known to have nothing to do.
func (t *thread) idles() bool {
	return t.waits() && !t.onTask || t.cond.on || t.spins || t.cpu.blocked()
}

// nanosOf is the CPU time that a sample stands for.
func (r *run) nanosOf(period uint64) uint64 {
	if r.by == "cycles" {
		return 1e9 / r.o.Frequency
	}
	return period
}
