package analysis

import (
	"fmt"
	"slices"

	"lime/internal/profile"
	"lime/internal/unit"
)

// Every section gets its answer. What its loss is worth decides in what order and at what length
// people are told, never whether there is one.

// weigh says whether a section's loss matters to the program's parallel part.
func (r *runner) weigh(sec *Section) {
	sec.ParallelShare = ratio(sec.LostTime-sec.chanceLost+sec.ContendedTime, r.parallel)
	sec.Matters = sec.ParallelShare >= worthwhile
}

// weighAll looks at all that the sections lose, once the account of it is there: a section with
// even threads that wait for a lock, or for work, or are off their cores, or are fewer than the
// cores, is worth a person's time as well. What its threads differ in is no cause of that.
func (r *runner) weighAll(res *Result) {
	for i := range res.Sections {
		sec := &res.Sections[i]
		if !sec.Matters && sec.AllLost >= worthwhile {
			sec.Matters = true
			sec.Verdicts = slices.DeleteFunc(sec.Verdicts, func(v Verdict) bool { return v.Code == "small" })
			for k := range sec.Causes {
				sec.Causes[k].Important = sec.Causes[k].Important && sec.Causes[k].CostShare > 0
			}
			claimed := sec.AllLost - sec.Loss[TermUnproved]
			if name, _ := sec.Loss.largest(); claimed >= worthwhile && (name != TermImbalance || !sec.mostlyChance()) { // else that is said
				sec.otherLoss()
			}
		} else if name, most := sec.Loss.largest(); sec.Matters && name == TermSerial && most >= worthwhile {
			sec.otherLoss() // no wait, no event: nothing else says so
		}
	}
}

// otherLoss says what a section loses most to, if not to threads that differ.
func (sec *Section) otherLoss() {
	name, most := sec.Loss.largest()
	if name == TermWait && sec.Awaited > littleFound*most {
		return // said already: others wait for this section
	}
	text := fmt.Sprintf(lostWords[name]+", %s is imbalance.", unit.Percent(most), unit.Percent(sec.Loss[TermImbalance]))
	sec.Verdicts = append([]Verdict{{"other-loss", SeverityInfo, text}}, sec.Verdicts...)
}

// lostWords say of a share of the core time that it is a term's.
var lostWords = map[string]string{
	TermImbalance: "%s of the core time is lost here because threads differ",
	TermSerial:    "%s of the core time is lost here because too few threads are at work",
	TermLock:      "%s of the core time is spent waiting for locks here",
	TermWait:      "%s of the core time is spent waiting for others' work here",
	TermOffCore:   "%s of the core time is spent off the core here",
	TermOverhead:  "%s of the core time is runtime overhead here",
	TermMemory:    "%s of the core time is lost to stalls of the core here",
}

// even says whether what a section loses is less than the measurement can tell from nothing: with
// exact counts, no more than one event of scheduling in each passage and little of it, as long as
// there are not so many passages that these matter; with samples, what differs by chance.
func (r *runner) even(sec *Section, s *summary) bool {
	switch {
	case s.win == 0:
		return true
	case s.lost >= worthwhile*r.parallel:
		return false
	case r.isSampled():
		return r.noisy[sec.ID] != "" || slices.Contains(r.tooFew, sec.ID)
	case r.meta.TimeLabel == profile.Sampled || r.meta.ClockUnit == "ns": // no clock that counts events of scheduling
		return false
	}
	return s.win <= oneEvent*float64(s.instances) && sec.Imbalance < worthwhile
}

// balancedVerdict says by how much a section is even.
func balancedVerdict(s *Section, clock string, say func(code, severity, format string, args ...any)) {
	if s.TimeToWin == 0 {
		say("balanced", SeverityInfo, "All threads take the same time here.")
		return
	}
	per, of := s.TimeToWin/float64(s.InstanceCount), s.Time/float64(s.InstanceCount)
	say("balanced", SeverityInfo, "The last thread is %s later than the mean, of %s: no more than the order in which "+
		"threads come to a barrier, or call a library first, makes of nothing.", timeWords(per, clock), timeWords(of, clock))
}

// smallVerdict puts a loss that does not matter in proportion.
func smallVerdict(s *Section, say func(code, severity, format string, args ...any)) {
	say("small", SeverityInfo, "The threads differ, but little is lost: %s of the threads' time here, %s of their "+
		"time in all parallel sections.",
		unit.Percent(s.Imbalance), unit.Percent(s.ParallelShare))
}

// timeWords prints a time of the clock.
func timeWords(t float64, clock string) string {
	if clock == "ns" {
		return unit.Nanos(t).String()
	}
	return fmt.Sprintf("%s %s", unit.SI(t), clock)
}
