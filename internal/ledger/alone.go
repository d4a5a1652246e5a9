// Where a section's time goes, whether its threads spend it alike or not: of the stretches of one
// thread alone, for one.

package ledger

import (
	"fmt"

	"lime/internal/profile"
)

// Alone is what a section's threads do, as shares of their time.
type Alone struct {
	Spent   *Spent  // where most of what the program does is done; nil if no line stands out
	Loading float64 // the dynamic linker's doing, and what libraries do as they are loaded: no line asks for it
}

// Alone is where the threads of a section spend their time: the innermost loop or line of the
// program's own that has most of it, with all that is called there. Where that is a call of a
// function in which none has most, it is the line that has most by itself, if it stands out.
func (l *Ledger) Alone(id profile.SectionID) (Alone, error) {
	s := stretch{guide: l.guide, time: make([]float64, len(l.tab.Nodes)), used: make([]bool, len(l.tab.Edges)),
		count: make([]float64, len(l.tab.Edges)), stored: l.meta.NodeTime == "stored"}
	for in, err := range l.src.Instances(id) {
		if err != nil {
			return Alone{}, fmt.Errorf("ledger: section %d: %w", id, err)
		}
		s.add(in)
	}
	return s.alone(), nil
}

// stretch is the time and the counts of a section, of all threads and instances.
type stretch struct {
	guide  *guide
	time   []float64 // by node
	used   []bool    // by edge
	count  []float64 // by edge: how often it was used
	total  float64
	stored bool
}

func (s *stretch) add(in *profile.Instance) {
	for i := range in.Parts {
		s.total += float64(in.Parts[i].Time())
	}
	for _, c := range in.Edges {
		if valid(profile.NodeID(c.Row), len(s.used)) {
			s.used[c.Row] = true
			s.count[c.Row] += float64(c.N)
			if to := s.guide.tab.Edges[c.Row].To; !s.stored && valid(to, len(s.time)) {
				s.time[to] += float64(c.N) * float64(s.guide.tab.Nodes[to].Instrs)
			}
		}
	}
	for _, c := range in.Times {
		if s.stored && valid(profile.NodeID(c.Row), len(s.time)) {
			s.time[c.Row] += float64(c.N)
		}
	}
}

func (s *stretch) alone() Alone {
	homes := s.guide.homesOf(s.used, nil)
	loading := s.takeLoading(homes)
	a := Alone{Loading: share(loading, s.total)}
	way, outer := s.guide.hotWay(s.time, s.count, s.total-loading)
	a.Spent = way
	if way == nil || outer {
		if line := s.guide.busiest(s.time, homes, s.total-loading); line != nil && line.Share >= StretchShare {
			a.Spent = line
		}
	}
	if a.Spent != nil {
		a.Spent.Share *= 1 - a.Loading
	}
	return a
}

// takeLoading takes out what is the dynamic linker's, and what only that calls.
func (s *stretch) takeLoading(homes *homes) (sum float64) {
	for v := range s.time {
		if linker(s.guide.tab, profile.NodeID(v)) || homes.label[v] == unasked {
			sum += s.time[v]
			s.time[v] = 0
		}
	}
	return min(sum, s.total)
}
