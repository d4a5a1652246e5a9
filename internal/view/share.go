// Reading the parts of a profile by several readers, each with room for so many, whatever there are.

package view

import (
	"fmt"
	"slices"

	"lime/internal/profile"
)

// share is what one reader has of the parts: those that it read last, as they came, until there are
// enough for a run.
type share struct {
	runs     *runs
	cells    []cell
	of       []int32 // their threads
	lanes    []laneShare
	spare    []cell         // room for a run
	sections []sectionIndex // of the index: each instance is of one share
	from, to uint64
	parts    int
}

// laneShare is what is known of a lane while it is read, as lane has it.
type laneShare struct{ reach, until uint64 }

// add takes an instance's parts.
func (s *share) add(in *profile.Instance) error {
	if int(in.Section) >= len(s.sections) || in.Seq >= len(s.sections[in.Section].longest) {
		return fmt.Errorf("section %d, instance %d: it was not there when the profile was opened", in.Section, in.Seq)
	}
	most, arrived, last := float32(0), uint64(0), int32(-1)
	for i := range in.Parts {
		p := &in.Parts[i]
		if p.Thread < 0 || int(p.Thread) >= len(s.lanes) || p.Arrive < p.Start {
			return fmt.Errorf("section %d, instance %d, part %d: its thread or its times cannot be", in.Section, in.Seq, i)
		}
		c := cell{start: p.Start, work: float32(p.Time()), lock: float32(p.LockWait), off: float32(p.OffCPU),
			section: int32(in.Section), seq: int32(in.Seq)}
		if p.Release > p.Arrive {
			c.wait = float32(p.Release - p.Arrive)
		}
		most = max(most, c.work)
		if last < 0 || p.Arrive > arrived {
			arrived, last = p.Arrive, int32(p.Thread)
		}
		s.put(int32(p.Thread), c)
		s.from, s.to = min(s.from, p.Start), max(s.to, p.Arrive, p.Release)
	}
	s.sections[in.Section].longest[in.Seq], s.sections[in.Section].last[in.Seq] = most, last
	return nil
}

func (s *share) put(thread int32, c cell) {
	s.cells, s.of = append(s.cells, c), append(s.of, thread)
	l := &s.lanes[thread]
	l.reach, l.until = max(l.reach, c.end()-c.start+1), max(l.until, c.end())
	if s.parts++; len(s.cells) == s.runs.each {
		s.flush()
	}
}

// flush makes a run of what was read last.
func (s *share) flush() {
	if len(s.cells) > 0 {
		s.spare = s.runs.add(s.sorted())
		s.cells, s.of = s.cells[:0], s.of[:0]
	}
}

// sorted puts the cells in the order of lanes and, in these, of byStart.
func (s *share) sorted() *run {
	r := &run{cells: s.spare, first: make([]int32, len(s.lanes)+1)}
	if r.cells == nil {
		r.cells = make([]cell, len(s.cells))
	}
	r.cells = r.cells[:len(s.cells)]
	for _, i := range s.of {
		r.first[i+1]++
	}
	for i := range s.lanes {
		r.first[i+1] += r.first[i]
	}
	next := slices.Clone(r.first)
	for k, i := range s.of {
		r.cells[next[i]] = s.cells[k]
		next[i]++
	}
	for i := range s.lanes {
		inOrder(r.cells[r.first[i]:r.first[i+1]])
	}
	return r
}

// inOrder sorts cells of one lane: most are sorted already.
func inOrder(cells []cell) {
	if !slices.IsSortedFunc(cells, byStart) {
		slices.SortFunc(cells, byStart)
	}
}

// sum takes what the shares know of the lanes and of the run.
func (x *index) sum(shares []*share) {
	for _, s := range shares {
		for i, l := range s.lanes {
			x.lanes[i].reach, x.lanes[i].until = max(x.lanes[i].reach, l.reach), max(x.lanes[i].until, l.until)
		}
		x.from, x.to, x.parts = min(x.from, s.from), max(x.to, s.to), x.parts+s.parts
	}
}
