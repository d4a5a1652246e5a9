package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

// contentions are the events in which threads keep one another waiting, each with what helps. A
// coherence miss is one only where it is known with whom the line is shared: a line that a thread
// merely takes over moves once. What is served is a queue for all that miss, wherever they do: no
// line causes the wait that it sees, and what the program decides comes first. So it is with a wait
// for others' work: what those do is why.
var contentions = map[string]struct {
	words, remedy string
	served        bool
}{
	"lock-wait": {"wait for a lock here", "Hold it for less work, take it less often, or split what it guards.", false},
	"spin-wait": {"wait here for what another thread stores", "Let that thread do less before it.", false},
	"work-wait": {"wait here for others' work", "Let those who have yet to do it do less before it, or let more of them do it.", true},
	"coherence-miss": {"take a cache line from one another here",
		"Give each thread a line of its own, or let it collect what it has to say and write that once.", false},
	"bus-wait":    {"wait for the shared bus here", "Fewer accesses that miss, or fewer threads, would help.", true},
	"memory-wait": {"wait for memory here", "Fewer accesses that miss, or fewer threads, would help.", true},
}

// contend names the lines at which the section's threads keep one another waiting. What all of them
// pay alike is no imbalance, and often more than what one would win by balance: then it comes
// first, if it is a lock or a line that the program has them fight for. Waits for what serves
// everybody come by what they add to the imbalance, where that is worth while: paid alike, they say
// nothing about why the threads differ.
func (r *runner) contend(sec *Section, s *summary, whole *Whole) error {
	paid := r.contended(s)
	if len(paid) == 0 {
		return nil
	}
	byThread, err := r.paidBy(sec.ID, paid)
	if err != nil {
		return err
	}
	for i := range paid {
		sec.ContendedTime += paid[i].Time
		c := r.contention(sec, s, &paid[i], byThread[i])
		if k := slices.IndexFunc(sec.Causes, func(d Cause) bool { return sameEvent(&d, &c) }); k >= 0 {
			sec.Causes[k].pays(&c)
		} else {
			sec.Causes = append(sec.Causes, c)
		}
	}
	sec.ContendedShare = ratio(sec.ContendedTime, s.own)
	uneven := sec.LostTime >= worthwhile*r.parallel
	slices.SortStableFunc(sec.Causes, func(a, b Cause) int {
		if a.CostShare == 0 && b.CostShare == 0 {
			return 0
		}
		return cmp.Or(compareBool(b.Important, a.Important), cmp.Compare(b.gain(uneven), a.gain(uneven)))
	})
	renumber(sec.Causes)
	return nil
}

// paidCost is a cost and the events that it is the sum of.
type paidCost struct {
	Cost
	events []int
}

// contended lists the section's costs that are contention and weigh, the largest first.
func (r *runner) contended(s *summary) []paidCost {
	rows, kinds := make([]float64, len(r.tab.Events)), map[int32]bool{}
	for k := range r.tab.Kinds {
		_, kinds[int32(k)] = contentions[r.tab.Kinds[k].Name]
	}
	for row, n := range s.costs {
		if kinds[r.tab.Events[row].Kind] {
			rows[row] = n
		}
	}
	var out []paidCost
	for _, at := range r.costRows(rows) {
		c := r.cost(at, rows, s.own)
		if c.Share < muchContended {
			continue
		}
		if c.Event != "coherence-miss" || c.Sharing != "" {
			out = append(out, paidCost{c, at})
		}
	}
	slices.SortFunc(out, func(a, b paidCost) int { return compareCosts(&a.Cost, &b.Cost) })
	return out[:min(len(out), maxContended)]
}

// paidBy reads what each thread paid of each of the costs.
func (r *runner) paidBy(id profile.SectionID, paid []paidCost) ([]map[profile.ThreadID]float64, error) {
	of, out := map[int32]int{}, make([]map[profile.ThreadID]float64, len(paid))
	for i := range paid {
		out[i] = map[profile.ThreadID]float64{}
		for _, e := range paid[i].events {
			of[int32(e)] = i
		}
	}
	for in, err := range r.src.Instances(id) {
		if err != nil {
			return nil, fmt.Errorf("section %d: what its threads wait for: %w", id, err)
		}
		for _, c := range in.Costs {
			if i, ok := of[c.Row]; ok && c.Part >= 0 && int(c.Part) < len(in.Parts) {
				out[i][in.Parts[c.Part].Thread] += float64(c.N)
			}
		}
	}
	return out, nil
}

// contention makes a cause of a cost.
func (r *runner) contention(sec *Section, s *summary, paid *paidCost, byThread map[profile.ThreadID]float64) Cause {
	e := &r.tab.Events[paid.events[0]]
	c := Cause{Family: FamilyHardware, Event: paid.Event, Title: paid.Title, Place: paid.Place, Subject: paid.Subject, P: 1, PFamily: 1,
		Important: true, CostShare: paid.Share, CostTime: paid.Time, Summed: true, CountTime: true,
		key: causeKey{lineKey: frameKey(e.Frames, e.Addr), hw: true, kind: e.Kind}}
	c.TimeToWin = ratio(paid.Time, ratio(s.span, s.time)) // of the mean thread
	c.WinShare = min(1, ratio(c.TimeToWin, float64(r.meta.RunTime)))
	for _, t := range sec.Threads {
		c.Threads = append(c.Threads, ThreadCount{Thread: t.Thread, Name: t.Name, Count: uint64(byThread[t.Thread]), Time: t.Time, Wait: t.Wait})
	}
	byCost := func(a, b ThreadCount) int { return cmp.Compare(a.Count, b.Count) }
	hi, lo := slices.MaxFunc(c.Threads, byCost), slices.MinFunc(c.Threads, byCost)
	what := contentions[paid.Event]
	c.Sentence = fmt.Sprintf("The threads %s, for %s of their time in this section: thread %d for %s, thread %d for %s.%s %s",
		what.words, unit.Percent(paid.Share), hi.Thread, r.duration(float64(hi.Count)), lo.Thread,
		r.duration(float64(lo.Count)), c.Subject.words(), what.remedy)
	return c
}

// sameEvent says whether two causes are one and the same event at a line.
func sameEvent(a, b *Cause) bool {
	return a.Event == b.Event && a.File == b.File && a.Line == b.Line && (a.Line > 0 || a.Address == b.Address)
}

// pays adds to a cause of imbalance what all threads pay there.
func (c *Cause) pays(all *Cause) {
	c.CostShare, c.CostTime = all.CostShare, all.CostTime
	c.Sentence, c.Important = all.Sentence+" "+strings.TrimSuffix(c.Sentence, all.Subject.words()), true
	if all.TimeToWin > c.TimeToWin {
		c.TimeToWin, c.WinShare = all.TimeToWin, all.WinShare
	}
}

// gain is by what a cause is ranked where threads keep one another waiting: what there is to win;
// of what is served to all, where the threads differ, only by what it makes them differ.
func (c *Cause) gain(uneven bool) float64 {
	if uneven && c.CostShare > 0 && contentions[c.Event].served {
		return min(c.TimeToWin, max(0, c.LedgerTime))
	}
	return c.TimeToWin
}
