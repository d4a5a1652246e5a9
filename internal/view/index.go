package view

import (
	"cmp"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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
	place int    // where they are in the index's file
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
	file     []byte     // where it is mapped, if it is
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

// Readers rest for a moment after every few milliseconds' work: while all processors are busy, Go
// looks for new requests every ten milliseconds only, and an answer takes several looks.
const (
	restAfter = 1024 // instances
	rest      = 20 * time.Microsecond
)

// mostReaders is how many read the parts at the same time: each has room of its own.
const mostReaders = 8

// buildIndex reads all parts. done counts the instances that have been read. The index of a large
// profile is made on a disk, if there is room for it.
func buildIndex(src Source, done *atomic.Int64, heap *Heap, on *disk) (*index, error) {
	defer heap.lean(leanGC)() // while others answer
	x, found, err := readRuns(src, on, func(k, of int, each func(*profile.Instance) error) error {
		return src.ScanShare(k, of, func(in *profile.Instance) error {
			if done.Add(1)%restAfter == 0 {
				time.Sleep(rest)
			}
			return each(in)
		})
	})
	defer found.close()
	if err != nil {
		return nil, err
	}
	if on != nil && x.parts >= keptParts {
		if m, err := on.write(func(f *os.File) error { return x.inFile(f, found) }); err == nil {
			return m, nil
		}
	}
	if err := x.inMemory(found); err != nil {
		return nil, err
	}
	x.members()
	return x, x.coarse(tileParts)
}

// readIndex makes an index in memory of the parts that several readers find, each in its share.
func readIndex(src Source, read func(share, of int, each func(*profile.Instance) error) error) (*index, error) {
	x, found, err := readRuns(src, nil, read)
	if err != nil {
		return nil, err
	}
	return x, x.inMemory(found)
}

// readRuns reads the parts of an index: its lanes are still to be merged from the runs.
func readRuns(src Source, on *disk, read func(share, of int, each func(*profile.Instance) error) error) (*index, *runs, error) {
	t := src.Tables()
	found := &runs{each: runCells}
	if on != nil {
		found.dir = on.dir
	}
	x := &index{lanes: make([]lane, len(t.Threads)), sections: make([]sectionIndex, len(t.Sections)), from: math.MaxUint64}
	for s := range x.sections {
		n := src.InstanceCount(profile.SectionID(s))
		x.sections[s].longest, x.sections[s].last = make([]float32, n), make([]int32, n)
	}
	shares := make([]*share, min(mostReaders, runtime.GOMAXPROCS(0)))
	if err := inParallel(len(shares), func(k int) error {
		own := &share{runs: found, lanes: make([]laneShare, len(t.Threads)), sections: x.sections, from: math.MaxUint64}
		shares[k] = own
		err := read(k, len(shares), own.add)
		own.flush()
		return err
	}); err != nil {
		return nil, found, err
	}
	x.sum(shares)
	if x.parts == 0 {
		x.from = 0
	}
	x.to = max(x.to, x.from+1)
	if run := src.Meta().RunTime; run > x.to && run-x.from < 1<<62 {
		x.to = run
	}
	return x, found, nil
}

// inMemory merges the lanes.
func (x *index) inMemory(found *runs) error {
	for i, n := range found.counts(len(x.lanes)) {
		x.lanes[i].cells = make([]cell, 0, n)
	}
	return inParallel(len(x.lanes), func(i int) error {
		return found.merge(i, i+1, func(_ int, cells []cell) error {
			x.lanes[i].cells = append(x.lanes[i].cells, cells...)
			return nil
		})
	})
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
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // what is mapped may be cut short, or its disk fail
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

// members finds who takes part in what.
func (x *index) members() {
	for s := range x.sections {
		x.sections[s].threads = nil
	}
	seen := make([]int32, len(x.sections)) // the thread that was seen last, plus one
	for i := range x.lanes {
		for k := range x.lanes[i].cells {
			if s := x.lanes[i].cells[k].section; seen[s] != int32(i)+1 {
				seen[s] = int32(i) + 1
				x.sections[s].threads = append(x.sections[s].threads, int32(i))
			}
		}
		x.drop(x.lanes[i : i+1])
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
