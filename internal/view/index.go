package view

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"lime/internal/profile"
)

// cell is a part in memory: 32 bytes, of which a profile may have ten million. Lengths are good to
// seven digits; the exact ones are in the profile.
type cell struct {
	start        uint64
	work, wait   float32 // start to arrival, arrival to release
	lock, off    float32 // of work
	section, seq int32
}

func (c *cell) arrive() uint64 { return c.start + uint64(c.work) }
func (c *cell) end() uint64    { return c.start + uint64(c.work) + uint64(c.wait) }

// lane is what one thread took part in, by start.
type lane struct {
	cells []cell
	reach uint64 // length of the longest part: how far before a moment those may begin that last until then
	until uint64 // end of the last part
}

// within is how much of a stretch of time lies between the first part and the last.
func (l *lane) within(lo, hi uint64) float64 {
	if len(l.cells) == 0 {
		return 0
	}
	lo, hi = max(lo, l.cells[0].start), min(hi, l.until)
	return float64(max(lo, hi) - lo)
}

// from returns the first part that may last until at.
func (l *lane) from(at uint64) int {
	since := at - min(at, l.reach)
	n, _ := slices.BinarySearchFunc(l.cells, since, func(c cell, t uint64) int { return cmp.Compare(c.start, t) })
	return n
}

// index holds all parts of a profile, thread by thread.
type index struct {
	lanes    []lane
	sections []sectionIndex
	from, to uint64 // of the whole run
	parts    int
	levels   [][][]byte // the coarsest levels of the time line, tile by tile and band by band, where a tile would take long to make
}

// sectionIndex is what the views of one section need.
type sectionIndex struct {
	threads []int32   // that take part, in order
	longest []float32 // by instance: the longest time
	last    []int32   // by instance: the thread that arrived last, for which the others waited
}

// scanner is a profile whose parts can be read without its counts, in shares at the same time, or
// here and there.
type scanner interface {
	ScanShare(share, of int, each func(*profile.Instance) error) error
	ScanPicked(numbers []int, each func(*profile.Instance) error) error
}

// leanGC is by how many percent the heap may grow between two collections of garbage while the
// parts are read.
const leanGC = 10

// mostReaders is how many read the parts at the same time: each has blocks of its own for all
// threads.
const mostReaders = 8

// buildIndex reads all parts. done counts the instances that have been read.
func buildIndex(src Source, done *atomic.Int64, heap *Heap) (*index, error) {
	defer heap.lean(leanGC)() // the parts of a large profile hold no pointers, and fill the memory
	x, err := readIndex(src, func(k, of int, each func(*profile.Instance) error) error {
		return src.ScanShare(k, of, func(in *profile.Instance) error {
			done.Add(1)
			return each(in)
		})
	})
	if err != nil {
		return nil, err
	}
	x.members()
	return x, x.coarse(tileParts)
}

// readIndex makes an index of the parts that several readers find, each in its share.
func readIndex(src Source, read func(share, of int, each func(*profile.Instance) error) error) (*index, error) {
	t := src.Tables()
	x := &index{lanes: make([]lane, len(t.Threads)), sections: make([]sectionIndex, len(t.Sections)), from: math.MaxUint64}
	for s := range x.sections {
		n := src.InstanceCount(profile.SectionID(s))
		x.sections[s].longest, x.sections[s].last = make([]float32, n), make([]int32, n)
	}
	shares := make([]*share, min(mostReaders, runtime.GOMAXPROCS(0)))
	if err := inParallel(len(shares), func(k int) error {
		own := &share{lanes: make([]growing, len(t.Threads)), sections: x.sections, from: math.MaxUint64}
		shares[k] = own
		return read(k, len(shares), own.add)
	}); err != nil {
		return nil, err
	}
	x.unite(shares)
	if x.parts == 0 {
		x.from = 0
	}
	x.to = max(x.to, x.from+1)
	if run := src.Meta().RunTime; run > x.to && run-x.from < 1<<62 {
		x.to = run
	}
	return x, inParallel(len(x.lanes), func(i int) error { x.lanes[i].finish(); return nil })
}

// inParallel does a piece of work for each number below n, on all processors, and returns the first
// error.
func inParallel(n int, do func(int) error) error {
	var next atomic.Int64
	workers := min(n, runtime.GOMAXPROCS(0))
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			defer caught("reading the profile", &errs[w])
			for errs[w] == nil {
				k := int(next.Add(1)) - 1
				if k >= n {
					return
				}
				errs[w] = do(k)
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

// finish sorts a lane.
func (l *lane) finish() {
	byStart := func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end(), a.end()), cmp.Compare(a.section, b.section), cmp.Compare(a.seq, b.seq))
	}
	if !slices.IsSortedFunc(l.cells, byStart) {
		slices.SortFunc(l.cells, byStart)
	}
}

// members finds who takes part in what.
func (x *index) members() {
	seen := make([]int32, len(x.sections)) // the thread that was seen last, plus one
	for i := range x.lanes {
		for k := range x.lanes[i].cells {
			if s := x.lanes[i].cells[k].section; seen[s] != int32(i)+1 {
				seen[s] = int32(i) + 1
				x.sections[s].threads = append(x.sections[s].threads, int32(i))
			}
		}
	}
}

// value is a metric of a part that the index knows.
func (x *index) value(c *cell, m metricKind) float32 {
	switch m {
	case metricTime:
		return c.work
	case metricWait:
		return x.sections[c.section].longest[c.seq] - c.work
	case metricLock:
		return c.lock
	}
	return c.off
}
