package whatif

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// Stretch is by how much less time a part is to take (negative: more), and the time that the thread
// works in it.
type Stretch struct{ Save, Of int64 }

// Plan says for every thread and each of its parts, in the order of time, how much less time it is
// to take.
type Plan [][]Stretch

// Numbered gives the parts of a plan the numbers that a repeated run counts them by: by thread, in
// the order of time.
func (p Plan) Numbered(numbers [][]int) (Plan, error) {
	out := make(Plan, len(p))
	for t, parts := range p {
		if t >= len(numbers) && len(parts) > 0 || t < len(numbers) && len(numbers[t]) != len(parts) {
			return nil, fmt.Errorf("thread %d has other parts than in the profile", t)
		}
		for k, stretch := range parts {
			n := numbers[t][k]
			if n < 0 {
				return nil, fmt.Errorf("thread %d, part %d: number %d", t, k, n)
			}
			for len(out[t]) <= n {
				out[t] = append(out[t], Stretch{})
			}
			out[t][n] = stretch
		}
	}
	return out, nil
}

// passage is a thread's part in an instance.
type passage struct {
	section profile.SectionID
	seq     int
	thread  profile.ThreadID
}

// schedule knows which of a thread's parts is which.
type schedule struct {
	at    map[passage]int
	works [][]int64 // by thread: the time that it works in each part
}

// newSchedule numbers the parts of every thread in the order of time.
func newSchedule(src profile.Source) (*schedule, error) {
	type started struct {
		passage
		start, arrive uint64
		works         int64
	}
	tab := src.Tables()
	byThread := make([][]started, len(tab.Threads))
	for id := range tab.Sections {
		for in, err := range src.Instances(profile.SectionID(id)) {
			if err != nil {
				return nil, fmt.Errorf("section %d: %w", id, err)
			}
			for i := range in.Parts {
				p := &in.Parts[i]
				if int(p.Thread) < len(byThread) && p.Thread >= 0 {
					byThread[p.Thread] = append(byThread[p.Thread],
						started{passage{profile.SectionID(id), in.Seq, p.Thread}, p.Start, p.Arrive, int64(p.Time() - min(p.Time(), p.LockWait+p.OffCPU))})
				}
			}
		}
	}
	s := &schedule{at: map[passage]int{}}
	for _, parts := range byThread {
		slices.SortStableFunc(parts, func(a, b started) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.arrive, b.arrive)) })
		works := make([]int64, len(parts))
		for i, p := range parts {
			s.at[p.passage], works[i] = i, p.works
		}
		s.works = append(s.works, works)
	}
	return s, nil
}

// add puts what the account charges the threads of a section with into a plan.
func (s *schedule) add(plan Plan, id profile.SectionID, e *ledger.Evened) {
	for _, in := range e.Instances {
		for i, t := range in.Threads {
			if k, ok := s.at[passage{id, in.Seq, t}]; ok {
				plan[t][k].Save += int64(math.Round(in.Before[i] - in.After[i]))
			}
		}
	}
}

func (s *schedule) plan() Plan {
	p := make(Plan, len(s.works))
	for t, works := range s.works {
		p[t] = make([]Stretch, len(works))
		for k, w := range works {
			p[t][k].Of = w
		}
	}
	return p
}

// Even asks the account what would be if every thread did at a place what the threads do there on
// average: what it says of each section that has the place, and the plan of a run in which it is
// so.
func Even(src profile.Source, l *ledger.Ledger, sections []profile.SectionID,
	at []ledger.Target) (map[profile.SectionID]*ledger.Evened, Plan, error) {
	s, err := newSchedule(src)
	if err != nil {
		return nil, nil, err
	}
	plan, said := s.plan(), map[profile.SectionID]*ledger.Evened{}
	var first error
	for _, id := range sections {
		e, err := l.Even(id, at, 0)
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		said[id] = e
		s.add(plan, id, e)
	}
	if len(said) == 0 {
		return nil, nil, first
	}
	return said, plan, nil
}
