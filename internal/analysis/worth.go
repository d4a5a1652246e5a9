package analysis

import (
	"fmt"
	"slices"

	"lime/internal/profile"
	"lime/internal/unit"
)

// Every section gets its answer. What its loss is worth decides in what order and at what length people are told, never whether there
// is one.

const (
	// worthwhile is the share of the threads' time in all parallel sections from which what one section loses is worth a person's
	// time: to mend it all would make the parallel part that much faster, and two builds of one program differ by as much.
	// The serial part is left out: a program that loads for long and computes then is asked about what it computes.
	worthwhile = 0.01
	// oneEvent is the time, in instructions or cycles, that a thread may be later than others for nothing but the order in which
	// they came: who comes last to a barrier wakes the others, who calls a library's function first has it looked up, who
	// finds a lock taken asks again. The balanced programs of workloads/ lose 3 to 230 in each passage.
	oneEvent = 250
)

// weigh says whether a section's loss matters to the program's parallel part.
func (r *runner) weigh(sec *Section) {
	sec.ParallelShare = ratio(sec.LostTime+sec.ContendedTime, r.parallel)
	sec.Matters = sec.ParallelShare >= worthwhile
}

// even says whether what a section loses is less than the measurement can tell from nothing: with exact counts, no more than one event of
// scheduling in each passage and little of it, as long as there are not so many passages that these matter; with samples, what differs by chance.
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
	say("balanced", SeverityInfo, "The last thread is %s later than the mean, of %s: no more than the order in which threads come to a barrier, or call a library first, makes of nothing.", timeWords(per, clock), timeWords(of, clock))
}

// smallVerdict puts a loss that does not matter in proportion.
func smallVerdict(s *Section, say func(code, severity, format string, args ...any)) {
	say("small", SeverityInfo, "The threads differ, but little is lost: %s of the threads' time here, %s of their time in all parallel sections.",
		unit.Percent(s.Imbalance), unit.Percent(s.ParallelShare))
}

// timeWords prints a time of the clock.
func timeWords(t float64, clock string) string {
	if clock == "ns" {
		return unit.Nanos(t).String()
	}
	return fmt.Sprintf("%s %s", unit.SI(t), clock)
}
