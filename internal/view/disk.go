// An index that is made on a disk: of a large profile no more is in memory than pieces of it.

package view

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
)

// disk is where an index is made.
type disk struct {
	dir  string
	keep func(fill func(*os.File) error) (path string, err error) // nil: the file goes with this lime
}

// write makes the file of an index, and maps it.
func (d *disk) write(fill func(*os.File) error) (*index, error) {
	if d.keep != nil {
		path, err := d.keep(fill)
		if err != nil {
			return nil, err
		}
		return mapped(path)
	}
	f, err := os.CreateTemp(d.dir, "lime-*.tmp")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(fill(f), f.Close()); err != nil {
		return nil, err
	}
	return mapped(f.Name())
}

// inFile writes the index to a file: the lanes as they are merged, then what is made of the lanes,
// which are read from the file.
func (x *index) inFile(f *os.File, found *runs) error {
	counts := found.counts(len(x.lanes))
	if _, err := f.WriteAt(front(), 0); err != nil {
		return err
	}
	if err := mergeTo(f, found, counts); err != nil {
		return err
	}
	unmap, err := x.look(f.Name(), counts)
	if err != nil {
		return err
	}
	defer unmap()
	x.members()
	if err := x.coarse(tileParts); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	return x.writeRest(bufio.NewWriterSize(f, 1<<20))
}

// mergeTo writes the cells of all lanes, those of each share of them at the same time.
func mergeTo(f *os.File, found *runs, counts []int) error {
	bounds, before := portions(counts, runtime.GOMAXPROCS(0))
	return inParallel(len(bounds)-1, func(k int) error {
		at := int64(keptFront + before[k]*len(raw(make([]cell, 1))))
		w := bufio.NewWriterSize(io.NewOffsetWriter(f, at), 1<<18)
		err := found.merge(bounds[k], bounds[k+1], func(_ int, cells []cell) error {
			_, err := w.Write(raw(cells))
			return err
		})
		return cmp.Or(err, w.Flush())
	})
}

// portions divides lanes into so many stretches with about as many cells each: where they begin,
// the last one's end among it, and how many cells are before each.
func portions(counts []int, n int) (bounds, before []int) {
	all, sum := 0, 0
	for _, c := range counts {
		all += c
	}
	for i, c := range counts {
		if len(bounds) < n && sum >= all*len(bounds)/n {
			bounds, before = append(bounds, i), append(before, sum)
		}
		sum += c
	}
	return append(bounds, len(counts)), before
}

// look maps the cells that have been written to a file, as long as unmap is not called.
func (x *index) look(path string, counts []int) (unmap func(), err error) {
	b, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	unmap = func() {
		for i := range x.lanes {
			x.lanes[i].cells = nil
		}
		x.file = nil
		_ = syscall.Munmap(b)
	}
	x.file = b
	rest, at, ok := b[keptFront:], keptFront, true
	for i, n := range counts {
		x.lanes[i].cells, x.lanes[i].place = array[cell](&rest, n, &ok), at
		at += len(raw(x.lanes[i].cells))
	}
	if !ok || len(rest) > 0 {
		unmap()
		return nil, errIndex
	}
	return unmap, nil
}
