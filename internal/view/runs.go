// Sorting parts by thread and time in memory that does not grow with them: runs of so many, each
// sorted, in a file without a name, which are merged lane by lane.

package view

import (
	"cmp"
	"os"
	"sync"
)

// Sizes of the pieces in which parts are sorted.
const (
	runCells   = 1 << 16 // of a run: 2 MB, which a reader has twice; ten million parts are 150 runs
	mergeCells = 1 << 9  // of a run that are in memory while it is merged: 16 kB
)

// byStart is the order of the cells of a lane: outer ones before those that begin with them.
func byStart(a, b cell) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	return cmp.Or(cmp.Compare(b.end(), a.end()), cmp.Compare(a.section, b.section), cmp.Compare(a.seq, b.seq))
}

// run is a number of cells in order, lane by lane.
type run struct {
	cells []cell  // nil: in the file
	at    int64   // there
	first []int32 // by lane: its first cell; and how many there are
}

// runs are those of all readers.
type runs struct {
	each int    // cells of one, but for a reader's last
	dir  string // where the file may be; "": there is none, and runs stay in memory
	mu   sync.Mutex
	list []*run
	file *os.File
	size int64
}

// add keeps a run, and returns its cells if they are not needed any more. Short ones, which small
// profiles and ends of shares are, stay in memory, and so does what the disk has no room for.
func (r *runs) add(one *run) (free []cell) {
	r.mu.Lock()
	r.list = append(r.list, one)
	file := r.open(len(one.cells))
	one.at = r.size
	if file != nil {
		r.size += int64(len(raw(one.cells)))
	}
	r.mu.Unlock()
	if file == nil {
		return nil
	}
	if _, err := file.WriteAt(raw(one.cells), one.at); err != nil {
		return nil
	}
	free, one.cells = one.cells, nil
	return free
}

// open returns the file for a run of so many cells, if it is to be there.
func (r *runs) open(cells int) *os.File {
	if r.file == nil && r.dir != "" && cells == r.each {
		if r.file = nameless(r.dir); r.file == nil {
			r.dir = ""
		}
	}
	if cells < r.each {
		return nil
	}
	return r.file
}

// nameless makes a file that goes with the last who has it open; nil if that cannot be.
func nameless(dir string) *os.File {
	f, err := os.CreateTemp(dir, "lime-*.tmp")
	if err != nil {
		return nil
	}
	if os.Remove(f.Name()) != nil {
		f.Close()
		return nil
	}
	return f
}

// close gives the runs up.
func (r *runs) close() {
	r.list = nil
	if r.file != nil {
		r.file.Close()
	}
}

// counts is how many cells each lane has.
func (r *runs) counts(lanes int) []int {
	n := make([]int, lanes)
	for _, one := range r.list {
		for i := range n {
			n[i] += int(one.first[i+1] - one.first[i])
		}
	}
	return n
}

// merge calls put with the cells of each lane from first to before last, in order, piece by piece.
func (r *runs) merge(first, last int, put func(lane int, cells []cell) error) error {
	m := merger{}
	for _, one := range r.list {
		if one.first[first] < one.first[last] {
			m.streams = append(m.streams, &stream{run: one, file: r.file, next: int(one.first[first]), past: int(one.first[last])})
		}
	}
	for lane := first; lane < last; lane++ {
		if err := m.lane(lane, put); err != nil {
			return err
		}
	}
	return nil
}

// stream reads a run.
type stream struct {
	run        *run
	file       *os.File
	next, past int    // of the run's cells, of those that are not in memory yet
	buffer     []cell // in memory, and not merged yet
	room       []cell
	left       int // of the lane that is merged, in the buffer and behind it
}

// fill has the buffer hold a cell, if there is one.
func (s *stream) fill() error {
	if len(s.buffer) > 0 || s.next == s.past {
		return nil
	}
	if s.run.cells != nil {
		s.buffer, s.next = s.run.cells[s.next:s.past], s.past
		return nil
	}
	if s.room == nil {
		s.room = make([]cell, min(mergeCells, s.past-s.next))
	}
	s.buffer = s.room[:min(len(s.room), s.past-s.next)]
	size := len(raw(s.buffer)) / len(s.buffer)
	_, err := s.file.ReadAt(raw(s.buffer), s.run.at+int64(s.next*size))
	s.next += len(s.buffer)
	return err
}

// here is what the buffer holds of the lane.
func (s *stream) here() []cell { return s.buffer[:min(len(s.buffer), s.left)] }

func (s *stream) take(n int) {
	s.buffer = s.buffer[n:]
	s.left -= n
}

// merger merges streams, which are at the same lane.
type merger struct {
	streams []*stream
	heap    []*stream // those that have more of the lane, the one whose next cell comes first in front
}

// lane merges one lane: from the stream that comes first all that comes before the next of the
// others, and so on.
func (m *merger) lane(lane int, put func(int, []cell) error) error {
	m.heap = m.heap[:0]
	for _, s := range m.streams {
		if s.left = int(s.run.first[lane+1] - s.run.first[lane]); s.left > 0 {
			if err := s.fill(); err != nil {
				return err
			}
			m.heap = append(m.heap, s)
		}
	}
	for k := len(m.heap)/2 - 1; k >= 0; k-- {
		m.sink(k)
	}
	for len(m.heap) > 0 {
		s := m.heap[0]
		part := s.here()
		part = part[:m.before(part)]
		if err := put(lane, part); err != nil {
			return err
		}
		s.take(len(part))
		if s.left == 0 {
			last := len(m.heap) - 1
			m.heap[0], m.heap = m.heap[last], m.heap[:last]
		} else if err := s.fill(); err != nil {
			return err
		}
		m.sink(0)
	}
	return nil
}

// before is how many of the first stream's cells come before those of all others.
func (m *merger) before(cells []cell) int {
	if len(m.heap) == 1 {
		return len(cells)
	}
	next := m.heap[1].buffer[0]
	if len(m.heap) > 2 && byStart(m.heap[2].buffer[0], next) < 0 {
		next = m.heap[2].buffer[0]
	}
	if byStart(cells[len(cells)-1], next) <= 0 {
		return len(cells)
	}
	n := 1
	for byStart(cells[n], next) <= 0 {
		n++
	}
	return n
}

// sink puts a stream in its place.
func (m *merger) sink(k int) {
	for {
		least := k
		for kid := 2*k + 1; kid <= 2*k+2 && kid < len(m.heap); kid++ {
			if byStart(m.heap[kid].buffer[0], m.heap[least].buffer[0]) < 0 {
				least = kid
			}
		}
		if least == k {
			return
		}
		m.heap[k], m.heap[least] = m.heap[least], m.heap[k]
		k = least
	}
}
