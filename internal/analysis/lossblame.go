// Who is waited for: where sections run side by side, a section in which nobody has anything to do
// ends when others have done their work.

package analysis

import (
	"fmt"
	"maps"
	"slices"

	"lime/internal/profile"
	"lime/internal/unit"
)

// awaits names a section whose threads have all arrived, and one whose threads work meanwhile.
type awaits struct{ who, whom profile.SectionID }

// present is what the threads of a section do at a moment.
type present struct {
	there         int
	running, idle float64
}

// nobody is the number of threads below which it is rounding.
const nobody = 1e-9

// come and goAway note that a thread's current part begins and ends to count.
func (s *sweeper) come(id profile.SectionID, t *sweptThread) {
	for int(id) >= len(s.at) {
		s.at = append(s.at, present{})
	}
	a := &s.at[id]
	if a.there == 0 {
		s.live = append(s.live, id)
	}
	a.there++
	a.running += t.runRate
	if t.arrived {
		a.idle += t.waitingRate
	}
}

func (s *sweeper) goAway(id profile.SectionID, t *sweptThread) {
	a := &s.at[id]
	a.there--
	a.running -= t.runRate
	if t.arrived {
		a.idle -= t.waitingRate
	}
	if a.there == 0 {
		*a = present{}
		s.live = slices.DeleteFunc(s.live, func(x profile.SectionID) bool { return x == id })
	}
}

// await charges a stretch of time in which each thread that waits costs so much.
func (s *sweeper) await(cost float64) {
	running := 0.0
	for _, id := range s.live {
		running += s.at[id].running
	}
	if running < nobody {
		return
	}
	for _, id := range s.live {
		if a := &s.at[id]; a.running < nobody && a.idle > nobody {
			for _, other := range s.live {
				if r := s.at[other].running; r > nobody {
					s.out.awaited[awaits{id, other}] += a.idle * cost * r / running
				}
			}
		}
	}
}

// await moves what a section's threads lose at its end while nobody of them has anything to do to
// the sections in which others work meanwhile: no more than they wait for others' work.
func (b *lossBuilder) await(t *timeline, flows []*sectionFlow, sums []*summary) {
	away, all := map[profile.SectionID]float64{}, map[profile.SectionID]float64{}
	for _, s := range sums {
		if b.closing[s.id] {
			continue
		}
		away[s.id] = flows[s.id].idle * ratio(s.loss.away, s.loss.late+s.loss.away)
	}
	keys := slices.SortedFunc(maps.Keys(t.awaited), func(a, b awaits) int {
		if a.who != b.who {
			return int(a.who) - int(b.who)
		}
		return int(a.whom) - int(b.whom)
	})
	for _, k := range keys {
		all[k.who] += t.awaited[k]
	}
	for _, k := range keys {
		x := t.awaited[k] * min(1, ratio(away[k.who], all[k.who]))
		b.of(k.whom, TermWait, x)
		b.own[k.who][TermWait] -= x
		b.awaited[k] = x
	}
}

// insteadOfBusy puts a verdict first that says why no thread of a section is busy all the time.
func (s *Section) insteadOfBusy(v Verdict) {
	s.Verdicts = slices.DeleteFunc(s.Verdicts, func(o Verdict) bool { return o.Code == "nobody-busy" })
	s.Verdicts = append([]Verdict{v}, s.Verdicts...)
}

// tellAwaited says it with the sections: whom one waits for, and who waits for it.
func (b *lossBuilder) tellAwaited(l *Loss, res *Result) {
	by := map[profile.SectionID]*Section{}
	for i := range res.Sections {
		by[res.Sections[i].ID] = &res.Sections[i]
	}
	most := map[profile.SectionID]awaits{}
	for k, x := range b.awaited {
		if s := by[k.whom]; s != nil {
			s.Awaited += ratio(x, l.CoreTime)
		}
		if old, ok := most[k.who]; !ok || x > b.awaited[old] || x == b.awaited[old] && k.whom < old.whom {
			most[k.who] = k
		}
	}
	for i := range res.Sections {
		s := &res.Sections[i]
		k, ok := most[s.ID]
		if whom := by[k.whom]; ok && whom != nil && ratio(b.awaited[k], l.CoreTime) >= worthwhile {
			s.insteadOfBusy(Verdict{"awaits", SeverityInfo,
				fmt.Sprintf("Its threads wait, for %s of the core time, for what is done meanwhile in the section that ends at %s.",
					unit.Percent(ratio(b.awaited[k], l.CoreTime)), whom.EndsAt.short())})
		}
		if s.Awaited >= worthwhile {
			s.Verdicts = append([]Verdict{{"awaited", SeverityInfo,
				fmt.Sprintf("Threads of other sections wait for what is done here, for %s of the core time.", unit.Percent(s.Awaited))}},
				s.Verdicts...)
		}
	}
}
