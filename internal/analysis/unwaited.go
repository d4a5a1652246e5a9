// What threads differ in, and nobody waits for: who begins later does less where pieces of work go to
// whoever is free, and all end together.

package analysis

import "lime/internal/profile"

// unwaited sums what instances say of that.
type unwaited struct {
	win, lost float64 // of what the last threads are later than the mean, and of all waits
}

// add takes an instance. That a thread works less than the longest is lost as far as it waits for
// the last one to arrive. If all begin at once, that is all of it.
func (u *unwaited) add(in *profile.Instance, tm timing) {
	last := uint64(0)
	for i := range in.Parts {
		last = max(last, in.Parts[i].Arrive)
	}
	lost := 0.0
	for i := range in.Parts {
		p := &in.Parts[i]
		waits := max(last, p.Release) - p.Arrive
		lost += max(0, tm.time-float64(p.Time())-float64(waits))
	}
	u.win, u.lost = u.win+lost/float64(len(in.Parts)), u.lost+lost
}

// waitedFor is what a section's threads lose because they differ, as far as anybody waits for it: of
// what the last threads are later than the mean, and of all waits.
func (s *summary) waitedFor() (win, lost float64) {
	return max(0, s.win-s.unwaited.win), max(0, s.lost-s.unwaited.lost)
}

// unwaitedVerdict says how much of what the threads differ in is lost, if that is the smaller part.
func unwaitedVerdict(s *Section, clock string, say func(code, severity, format string, args ...any)) {
	if s.Unwaited == 0 || s.Unwaited < littleFound*(s.TimeToWin+s.Unwaited) {
		return
	}
	n := float64(s.InstanceCount)
	say("unwaited", SeverityInfo, "The threads begin one after the other, and those that begin later do less. The last thread "+
		"works %s longer than the mean, but the others wait only %s for it, on average.",
		timeWords((s.TimeToWin+s.Unwaited)/n, clock), timeWords(s.TimeToWin/n, clock))
}
