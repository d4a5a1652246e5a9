package analysis

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// Part is one event of a cause that has several: the misses of one line in several levels of the
// memory.
type Part struct {
	Event     string   `json:"event"`
	Title     string   `json:"title"`
	Score     float64  `json:"score"`
	Share     *float64 `json:"share,omitempty"` // as in Cause
	TimeToWin float64  `json:"time_to_win"`
}

// placeKey names what makes events one cause: the line, and the event that had to happen first.
type placeKey struct {
	lineKey
	root int32
}

// placeOf returns the key of a hardware cause; control flow is not joined.
func (r *runner) placeOf(c *Cause) (placeKey, bool) {
	k := c.key.kind
	if !c.key.hw || k < 0 || int(k) >= len(r.tab.Kinds) {
		return placeKey{}, false
	}
	for range r.tab.Kinds { // a cycle of superiors ends too
		up := r.tab.Kinds[k].Superior
		next := slices.IndexFunc(r.tab.Kinds, func(e profile.EventKind) bool { return e.Name == up })
		if up == "" || next < 0 {
			break
		}
		k = int32(next)
	}
	return placeKey{c.key.lineKey, k}, true
}

// join makes one cause of those that are one to people: an access that misses in the first level,
// in the second and in the last has one reason, and one repair. The event with the largest share
// gives the name. What else there is of such an access, and merely correlates, is part of it, too.
func (r *runner) join(sec *Section) {
	at := map[placeKey]int{}
	var joined []Cause
	for _, c := range sec.Causes { // the heaviest first
		key, ok := r.placeOf(&c)
		i, have := at[key]
		switch {
		case ok && have:
			joined[i].take(&c, sec)
			continue
		case ok:
			at[key] = len(joined)
		}
		joined = append(joined, c)
	}
	sec.Candidates = slices.DeleteFunc(sec.Candidates, func(c Cause) bool {
		key, ok := r.placeOf(&c)
		i, have := at[key]
		if ok && have {
			joined[i].take(&c, sec)
		}
		return ok && have
	})
	for i := range joined {
		r.joinRivals(&joined[i])
	}
	slices.SortStableFunc(joined, func(a, b Cause) int {
		if o := compareBool(b.Important, a.Important); o != 0 || !sec.HasLedger || a.Share == nil || b.Share == nil {
			return o
		}
		return cmp.Compare(*b.Share, *a.Share)
	})
	sec.Causes = joined
	renumber(sec.Causes)
}

func (c *Cause) part() Part {
	return Part{Event: c.Event, Title: c.Title, Score: c.Score, Share: c.Share, TimeToWin: c.TimeToWin}
}

// take makes d a part of c. Shares add up; of the statistics, which see one and the same access,
// the best stand.
func (c *Cause) take(d *Cause, sec *Section) {
	if len(c.Parts) == 0 {
		c.Parts = append(c.Parts, c.part())
	}
	c.Parts = append(c.Parts, d.part())
	if c.Share != nil && d.Share != nil {
		sum := *c.Share + *d.Share
		c.LedgerTime += d.LedgerTime
		c.dealt(plus(slices.Clone(c.luck), d.luck))
		c.put = added(slices.Clone(c.put), d.put)
		if sum > 1 && sec.Ledger != nil {
			sum = max(0, repeatable(sec.Ledger, c.LedgerTime, c.put))
		}
		c.Share = &sum
		if len(c.course) == len(d.course) {
			c.course = slices.Clone(c.course)
			for g, x := range d.course {
				c.course[g] += x
			}
		}
		c.TimeToWin = max(0, min(c.LedgerTime, sec.TimeToWin))
		c.WinShare = sec.WinShare * ratio(c.TimeToWin, sec.TimeToWin)
	}
	c.Important = c.Important || d.Important || c.Share != nil && sec.HasLedger && *c.Share >= importantShare
	if d.Score > c.Score {
		c.Score, c.Beta, c.P, c.PFamily, c.R2, c.Correlation = d.Score, d.Beta, d.P, d.PFamily, d.R2, d.Correlation
		c.Stability, c.StableThreads, c.StableInstances = d.Stability, d.StableThreads, d.StableInstances
		c.Instances, c.Agreement, c.Rivals = d.Instances, "", d.Rivals // a note on one of the two is none on both
	}
	if len(c.Members) == 0 {
		c.Members = d.Members
	}
	if len(c.Paths) == 0 {
		c.Paths = d.Paths
	}
}

// joinRivals leaves out of a cause's rivals what is the same access: its own line's events are no
// rivals of it.
func (r *runner) joinRivals(c *Cause) {
	if c.Family != FamilyHardware {
		return
	}
	c.Rivals = slices.DeleteFunc(c.Rivals, func(v Rival) bool {
		return v.File == c.File && v.Line == c.Line && c.Line > 0 && slices.ContainsFunc(c.Parts, func(p Part) bool { return p.Event == v.Event })
	})
}
