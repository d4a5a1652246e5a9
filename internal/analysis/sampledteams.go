// Threads that are made anew for every instance of a section. What such a thread did no other
// instance tells; but whoever makes them gives them their work in some order, and what the first of
// each team does, the second and so on, is comparable.

package analysis

import (
	"fmt"
	"maps"
	"slices"

	"lime/internal/profile"
)

// teams gives the threads that are part of one instance only the names of those that were made in
// their place for the first one.
type teams struct {
	stands map[profile.ThreadID]profile.ThreadID // by thread: who stands for it; empty if no such teams are there
	places int
}

// teamsOf looks for the teams of a section.
func (r *runner) teamsOf(id profile.SectionID) (*teams, error) {
	seen := map[profile.ThreadID]int{}
	for in, err := range r.src.Instances(id) {
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
		for i := range in.Parts {
			seen[in.Parts[i].Thread]++
		}
	}
	t, found := &teams{stands: map[profile.ThreadID]profile.ThreadID{}}, 0
	var first []profile.ThreadID // by place
	for in, err := range r.src.Instances(id) {
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
		var team []profile.ThreadID
		for i := range in.Parts {
			if th := in.Parts[i].Thread; seen[th] == 1 {
				team = append(team, th)
			}
		}
		if len(team) > 0 {
			found++
		}
		slices.Sort(team) // the order in which they were made
		for k, th := range team {
			if k == len(first) {
				first = append(first, th)
			}
			t.stands[th] = first[k]
		}
	}
	if found < 2 {
		clear(t.stands)
	}
	t.places = len(first)
	return t, nil
}

// of is who stands for a thread.
func (t *teams) of(id profile.ThreadID) profile.ThreadID {
	if s, ok := t.stands[id]; ok {
		return s
	}
	return id
}

// renamed is an instance with those that stand for its threads.
func (t *teams) renamed(in *profile.Instance) *profile.Instance {
	if len(t.stands) == 0 {
		return in
	}
	out := *in
	out.Parts = slices.Clone(in.Parts)
	for i := range out.Parts {
		out.Parts[i].Thread = t.of(out.Parts[i].Thread)
	}
	return &out
}

// totals adds up what the threads are that others stand for.
func (t *teams) totals(list []ThreadTotal) []ThreadTotal {
	if len(t.stands) == 0 {
		return list
	}
	sums := map[profile.ThreadID]ThreadTotal{}
	for _, x := range list {
		id := t.of(x.Thread)
		s := sums[id]
		s.Thread, s.Instances, s.Last = id, s.Instances+x.Instances, s.Last+x.Last
		s.Time, s.Wait, s.LockWait, s.OffCPU = s.Time+x.Time, s.Wait+x.Wait, s.LockWait+x.LockWait, s.OffCPU+x.OffCPU
		if s.Name == "" {
			s.Name = x.Name
		}
		sums[id] = s
	}
	out := make([]ThreadTotal, 0, len(sums))
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, sums[id])
	}
	return out
}

// verdict says what the threads are that causes are told by.
func (t *teams) verdict(sec *Section) {
	if len(t.stands) == 0 || len(sec.Causes) == 0 {
		return
	}
	sec.Verdicts = append(sec.Verdicts, Verdict{"teams", SeverityInfo,
		fmt.Sprintf("Threads are made anew for each instance, up to %d of them: "+
			"what the first one of each team does, the second and so on, counts together, under the first team's numbers.", t.places)})
}
