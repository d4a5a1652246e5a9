// The first sentence of a report: what is lost most, where, and why.

package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lime/internal/analysis"
	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/unit"
)

// littleLost is the share of the core time below which the report does not speak of a loss first:
// two builds of one program differ by as much.
const littleLost = 0.01

// headline says what is lost most, where, and how much.
func (l *Loss) headline() string {
	ranked := l.claimed()
	cores := countOf(l.Cores, "core")
	if l.CoreTime == 0 {
		return ""
	}
	if 1-l.Useful < littleLost || len(ranked) == 0 && l.Unproved == 0 {
		return fmt.Sprintf("Next to nothing is lost: %s of the time of %s is useful work.", unit.Percent(l.Useful), cores)
	}
	if len(ranked) == 0 || ranked[0].Share < littleLost && l.Unproved >= littleLost {
		return fmt.Sprintf("No loss is proved to be the program's: %s of the time of %s is useful work%s.",
			unit.Percent(l.Useful), cores, l.unprovedWords())
	}
	most := ranked[0]
	if most.ofUsed() < littleLost {
		return l.usefulWords()
	}
	return fmt.Sprintf("%s of the time of %s %s%s. %s",
		unit.Percent(most.ofUsed()), cores, most.lostTo(), most.where(), l.usefulWords())
}

// usefulWords end the headline.
func (l *Loss) usefulWords() string {
	words := unit.Percent(l.Useful) + " is useful work" + l.unprovedWords() + "."
	for i := range l.Terms {
		if p := l.Terms[i].neverUsed(); p != nil {
			return fmt.Sprintf("For %d of the %s there was never a thread (%s of the time). %s", p.Cores, countOf(l.Cores, "core"),
				unit.Percent(p.Share), words)
		}
	}
	return words
}

func (l *Loss) unprovedWords() string {
	if l.Unproved < littleLost {
		return ""
	}
	return fmt.Sprintf(", and %s is lost to differences between threads that the machine or chance may have made", unit.Percent(l.Unproved))
}

// mostlyAwaited is the part of all waiting for others' work that one section must be waited for, to
// be why: most of it.
const mostlyAwaited = 0.5

// nameCause adds to the headline, where imbalance is what most is lost to, the first cause of the
// section that loses it: a section's end is where the threads wait, and the cause is why. So it
// does where threads of other sections wait for one, or those of a section for one another while
// some have more to do. Where a place that it names has no line, it says how to have one.
func (r *Report) nameCause() {
	if r.Loss == nil {
		return
	}
	ranked := r.Loss.claimed()
	if len(ranked) == 0 || ranked[0].ofPlaces() == nil || ranked[0].ofUsed() < littleLost {
		return
	}
	useful := r.Loss.usefulWords()
	why, at := r.why(ranked[0])
	if at != nil {
		r.Loss.Headline = strings.TrimSuffix(r.Loss.Headline, useful) + why + " " + at.String() + ". " + useful
	}
	r.Loss.Headline += r.forLines(at, ranked[0].at())
}

// why says what the threads wait for, and where that is; nil if nothing is known of it.
func (r *Report) why(most *LossTerm) (words string, at *Place) {
	if words, at := r.smallTasks(most); at != nil {
		return words, at
	}
	words, c := "The first cause:", (*Cause)(nil)
	switch {
	case most.Name == analysis.TermImbalance:
		if at := r.slower(most.ofPlaces().Section); at != nil {
			return "The same work takes longer in some threads, most of it at", at
		}
		if at := r.inItsEnd(most.ofPlaces().Section); at != nil {
			return "The last one to come works longer, most of it at", at
		}
		c = r.leading(most.ofPlaces().Section)
	case most.Name == analysis.TermSerial:
		c = r.keepsAlone(most.ofPlaces())
	case most.Name == analysis.TermWait && len(r.Sections) > 0 && r.Sections[0].Awaited > mostlyAwaited*most.Share:
		c = r.leading(r.Sections[0].ID)
	case most.Name == analysis.TermWait:
		words, c = "They wait for those with more to do:", r.longest(mostlyAwaited*most.Share)
	}
	if c != nil {
		return words + " " + c.Title + " at", &c.Place
	}
	if awaits := most.ofPlaces().Awaits; len(awaits) > 0 {
		return "They wait for what is done at", &awaits[0].Place
	}
	return r.meanwhile(most)
}

// at is the first place of a term, nil if no place is known.
func (t *LossTerm) at() *Place {
	switch p := t.ofPlaces(); {
	case p == nil || p.Why != "":
		return nil
	case p.Spent != nil:
		return &p.Spent.Place
	default:
		return &p.Place
	}
}

// forLines says how lines come to be known, if one of the places has none for want of debug
// information. Of a library it says nothing: that is not the reader's to build.
func (r *Report) forLines(places ...*Place) string {
	for _, p := range places {
		if p == nil || p.Line > 0 || p.Image == "" || origin.LibraryImage(p.Image) {
			continue
		}
		if slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Code == noteNoDebugInfo && n.Text == p.Image }) {
			return fmt.Sprintf(" For lines in place of addresses, build %s with -g and do not strip it.", path.Base(p.Image))
		}
	}
	return ""
}

// slower is where most of the work of a section is that some threads take longer for, nil if there
// is none, or it has causes of another kind.
func (r *Report) slower(section int) *Place {
	i := slices.IndexFunc(r.Sections, func(s Section) bool { return s.ID == section })
	if i < 0 || len(r.Sections[i].Causes) > 0 {
		return nil
	}
	return r.Sections[i].Slower
}

// inItsEnd is where the last thread spends most of what it works longer, where the first cause is no
// other place than the call of the barrier at which the section ends: a library decides there who does
// the rest (what is done once when all have come), and the program's own code does it elsewhere.
func (r *Report) inItsEnd(section int) *Place {
	i := slices.IndexFunc(r.Sections, func(s Section) bool { return s.ID == section })
	c := r.leading(section)
	if c == nil || r.Sections[i].Ledger == nil || r.Sections[i].Ledger.Spent == nil {
		return nil
	}
	if k := profile.SectionKind(r.Sections[i].Kind); k != profile.SectionBuilt && k != profile.SectionBarrier {
		return nil
	}
	if end := &r.Sections[i].EndsAt; c.Place.Line == 0 || c.Place.File != end.File || c.Place.Line != end.Line {
		return nil
	}
	return &r.Sections[i].Ledger.Spent.Place
}

// leading is the first cause of a section, if its place is known.
func (r *Report) leading(section int) *Cause {
	i := slices.IndexFunc(r.Sections, func(s Section) bool { return s.ID == section })
	if i < 0 || len(r.Sections[i].Causes) == 0 || r.Sections[i].Causes[0].unknown() {
		return nil
	}
	return &r.Sections[i].Causes[0]
}

// mostAlone is the part of the time of cores without a thread in which one thread was left of a
// section, from which on what makes that one late is why: most of it.
const mostAlone = 0.5

// keepsAlone is the first cause of a section of whose threads one is left when the others have gone
// and left their cores empty. What makes it take longer is why it is alone; not where more threads
// have a like part of that time, for then they are fewer than the cores all the while, unless one does
// most of their work. Waits make a thread late as well, but are told by themselves.
func (r *Report) keepsAlone(p *LossPlace) *Cause {
	if p == nil || p.Why != "" || p.Spent != nil || len(p.Threads) == 0 {
		return nil
	}
	c := r.leading(p.Section)
	if c == nil || c.CostShare != 0 || p.Threads[0].Time <= mostAlone*p.Time && !c.worksAlone() {
		return nil
	}
	return c
}

// worksAlone reports whether one thread does most of the work of a cause's section.
func (c *Cause) worksAlone() bool {
	most, sum := 0.0, 0.0
	for i := range c.Counts {
		most, sum = max(most, c.Counts[i].Time), sum+c.Counts[i].Time
	}
	return most > mostAlone*sum
}

// longest is why some threads have more to do than others, in the section whose threads wait most for
// others' work because of that, if they do for more than a share of the core time in all sections of
// which a reason is known. (The reason in one is none for the waits in another.)
func (r *Report) longest(least float64) (why *Cause) {
	all, most := 0.0, 0.0
	for i := range r.Sections {
		s := &r.Sections[i]
		k := slices.IndexFunc(s.Causes, Cause.lengthens)
		if k < 0 {
			continue
		}
		x := r.unequal(s)
		if all += x; x > most {
			most, why = x, &s.Causes[k]
		}
	}
	if all <= least {
		return nil
	}
	return why
}

// lengthens reports whether a cause is one of control flow to which threads owe it that they have more
// to do. What merely varies with that, and is charged with next to nothing, is not.
func (c Cause) lengthens() bool {
	charged := c.ShareKind != "ledger" || c.Share >= leastShown
	return c.Family == analysis.FamilyControl && !c.unknown() && charged
}

// unequal is the share of the core time that a section's threads wait for one another's work because
// they have not the same to do: whatever their order, who has least to do waits for who has most.
func (r *Report) unequal(s *Section) float64 {
	sum, most := 0.0, 0.0
	for i := range s.Threads {
		t := &s.Threads[i]
		work := t.Time - t.LockWait - t.OffCPU
		sum, most = sum+work, max(most, work)
	}
	return min(s.Loss.Wait, ratio(most*float64(len(s.Threads))-sum, r.Loss.CoreTime))
}
