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
	sec.ParallelShare = ratio(sec.LostTime+sec.ContendedTime, r.parallel)
	sec.Matters = sec.ParallelShare >= worthwhile
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
