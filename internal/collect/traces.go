package collect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"lime/internal/profile"
)

// DefaultTraceBudget is how many bytes the traces of a run may take in memory, and at most in the
// profile: a minute of 16 threads at 499 samples a second.
const DefaultTraceBudget = 12 << 20

// Traces keeps which thread was on which call path when, within a budget. When it is used up, one
// of two samples is dropped, evenly over the whole run, and what is left speaks for both.
type Traces struct {
	most  int // samples
	kept  int
	every uint64 // one of so many is kept
	by    map[profile.ThreadID]*trace
}

// trace is the samples of a thread.
type trace struct {
	list []profile.TraceSample
	last profile.TraceSample // seen; its Length is that of all since the last kept one
	n    uint64              // how many those are
}

// NewTraces returns traces for a budget of so many bytes; 0 is the default, and less is none.
func NewTraces(budget int64) *Traces {
	if budget == 0 {
		budget = DefaultTraceBudget
	}
	size := int64(unsafe.Sizeof(profile.TraceSample{}))
	return &Traces{most: int(max(0, budget) / size), every: 1, by: map[profile.ThreadID]*trace{}}
}

// Add adds a sample that speaks for n of those that would be taken without thinning.
func (t *Traces) Add(thread profile.ThreadID, s profile.TraceSample, n uint64) {
	if t.most == 0 || s.Path < 0 || thread < 0 {
		return
	}
	r := t.by[thread]
	if r == nil {
		r = &trace{}
		t.by[thread] = r
	}
	s.Length += r.last.Length
	r.last, r.n = s, r.n+n
	if r.n < t.every {
		return
	}
	t.keep(r)
	if t.kept > t.most {
		t.Thin()
	}
}

func (t *Traces) keep(r *trace) {
	r.list = append(r.list, r.last)
	r.last.Length, r.n = 0, 0
	t.kept++
}

// Thin drops every second sample of each thread.
func (t *Traces) Thin() {
	t.kept = 0
	for _, r := range t.by {
		half := r.list[:0]
		for i := 1; i < len(r.list); i += 2 {
			s := r.list[i]
			s.Length += r.list[i-1].Length
			half = append(half, s)
		}
		if len(r.list)%2 == 1 { // the last one waits for its fellow
			alone := r.list[len(r.list)-1]
			if r.n == 0 {
				r.last = alone
			} else {
				r.last.Length += alone.Length
			}
			r.n += t.every
		}
		r.list = half
		t.kept += len(half)
	}
	t.every *= 2
}

// Write adds the traces to the profile, and says in a note what was dropped.
func (t *Traces) Write(sink profile.Sink, notes Notes) {
	for _, thread := range slices.Sorted(maps.Keys(t.by)) {
		r := t.by[thread]
		if r.n > 0 {
			t.keep(r)
		}
		slices.SortStableFunc(r.list, func(a, b profile.TraceSample) int { return cmp.Compare(a.At, b.At) })
		sink.AddTrace(profile.Trace{Thread: thread, Every: t.every, Samples: r.list})
	}
	if t.every > 1 {
		notes.Set("trace-thinned", fmt.Sprintf("the time line has call paths of one of %d samples: --trace-budget was used up", t.every), 1)
	}
	t.by = map[profile.ThreadID]*trace{}
}
