// What would be if a decision cost all threads the same; the numbers of parts.

package sim

import (
	"cmp"
	"slices"

	"lime/internal/section"
)

// Stretch says by how much less time a part of a thread is to take, spread over the time that the
// thread works in it.
type Stretch struct {
	Save int64 // clock units; negative: to be added
	Of   int64 // clock units of work
}

// evening changes how long the threads work, to see what would be if a decision's cost were the
// same for all. The plan says for every thread and each of its parts, by their numbers, how. The
// clock goes slower or faster all through the part: where in it the time is lost cannot be told,
// and who holds a lock meanwhile is not to hold it for all of that.
type evening struct {
	plan   [][]Stretch
	part   []int // by thread: which of its parts it is in; -1 before the first
	worked []int64
	saved  []int64 // in that part
	done   int64   // all that was saved or added so far
}

func newEvening(plan [][]Stretch) *evening {
	if len(plan) == 0 {
		return nil
	}
	e := &evening{plan: plan, part: make([]int, len(plan)), worked: make([]int64, len(plan)),
		saved: make([]int64, len(plan))}
	for t := range e.part {
		e.part[t] = -1
	}
	return e
}

// time returns how far the clock moves for some units of a thread's work. A thread on its way out
// of a wait is in no part.
func (e *evening) time(rec *section.Recogniser, id section.ThreadID, units uint64) uint64 {
	if e == nil || int(id) >= len(e.plan) || !rec.Working(id) {
		return units
	}
	n := rec.Parts(id)
	if n != e.part[id] {
		e.part[id], e.worked[id], e.saved[id] = n, 0, 0 // what was not saved by then is lost
	}
	if n >= len(e.plan[id]) {
		return units
	}
	e.worked[id] += int64(units)
	saved := min(e.plan[id][n].due(e.worked[id])-e.saved[id], int64(units))
	e.saved[id] += saved
	e.done += max(saved, -saved)
	return uint64(int64(units) - saved)
}

// due is what is to be saved by the time that so much work is done.
func (s Stretch) due(worked int64) int64 {
	if worked >= s.Of {
		return s.Save
	}
	return int64(float64(s.Save) * float64(worked) / float64(s.Of))
}

// missed is the part of the plan that could not be carried out: parts whose start was known too
// late, or that never came.
func (e *evening) missed() float64 {
	if e == nil {
		return 0
	}
	planned := int64(0)
	for _, parts := range e.plan {
		for _, s := range parts {
			planned += max(s.Save, -s.Save)
		}
	}
	if planned == 0 {
		return 0
	}
	return 1 - float64(e.done)/float64(planned)
}

// numbering notes the numbers of the parts that come into the profile: the recogniser counts
// others, too.
type numbering struct{ parts [][]numbered }

type numbered struct {
	start, arrive uint64
	number        int
}

func (n *numbering) add(in *section.Instance) {
	if n == nil {
		return
	}
	for i := range in.Parts {
		p := &in.Parts[i]
		for len(n.parts) <= int(p.Thread) {
			n.parts = append(n.parts, nil)
		}
		n.parts[p.Thread] = append(n.parts[p.Thread], numbered{uint64(p.Start), uint64(p.Arrive), p.Number})
	}
}

// list returns the numbers by thread, in the order of time.
func (n *numbering) list() [][]int {
	if n == nil {
		return nil
	}
	out := make([][]int, len(n.parts))
	for t, parts := range n.parts {
		slices.SortStableFunc(parts, func(a, b numbered) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.arrive, b.arrive))
		})
		for _, p := range parts {
			out[t] = append(out[t], p.number)
		}
	}
	return out
}
