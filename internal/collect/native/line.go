// The time line that the program would have with a core for every thread, as far as a wait for others
// needs it: who had no core made others wait for what nobody would have waited for.

package native

// line is how far on that time line a thread is beyond its own CPU time, in ns: by what it has slept,
// and waited for others.
type line struct{ beyond int64 }

// at is the moment on the line that a thread has come to.
func (l *line) at(c *onCPU, now uint64) int64 { return int64(c.at(now)) + l.beyond }

// waits moves a thread on by a time off its core.
func (l *line) waits(ns uint64) { l.beyond += int64(ns) }

// meets moves a thread on to a moment, unless it is further.
func (l *line) meets(c *onCPU, now uint64, moment int64) {
	l.beyond += max(0, moment-l.at(c, now))
}

// letGo is for how long a thread had to wait that another one lets go on: until that one came to where
// it does so on the line, and for no longer than it waited. Where work is handed out that moment is
// late, since who had a core has done the others' share; then the pace's clock says less.
func (t *thread) letGo(by *thread, now uint64) (ns uint64) {
	late := by.line.at(&by.cpu, now) - t.line.at(&t.cpu, now)
	return min(t.cond.waited, uint64(max(0, late)))
}

// meetOnLine moves threads on that let one another go: all come to where the last one is.
func meetOnLine(list []*thread, now uint64) {
	last := int64(0)
	for _, t := range list {
		last = max(last, t.line.at(&t.cpu, now))
	}
	for _, t := range list {
		t.line.meets(&t.cpu, now, last)
	}
}

// letGo sets the time of a thread that has waited for one that it made to where that one is now,
// with what it has done since it made threads before that: such a wait is one for their end, or for
// their work, and no part of what comes next.
func (o *output) letGo(t, by *thread, at uint64) {
	if by.parent != t || !t.making.on {
		return
	}
	now, then := t.cpu.at(at), o.virtual[int32(by.id)]
	since := now - min(t.making.cpu, now)
	o.virtual[int32(t.id)] = max(o.virtual[int32(t.id)], then-min(since, then))
}
