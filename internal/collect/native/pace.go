// How long a thread waits for others, without what these waited for a core meanwhile.

package native

// pace is a clock for waits of threads for one another. It goes as fast as the wall's while all
// threads of the program that could run do so, and slower by as many as have no core: where work is
// handed out it gets on by their share. It stands while none of them has a core. Where nobody could run, all wait for something outside, unless some of those
// that wait in loops of the program's own have no core: one of them has been let go, and does not
// know yet.
type pace struct {
	at  uint64
	now uint64
	// the same without the time in which any of them had no core: whom others wait for the longest is
	// mostly one of those, so where it is not known who it is only the rest is sure to be a wait
	sure    uint64
	part    float64 // of a ns
	running int     // threads that have a core
	able    int     // those that could run and do not merely wait for others, these included
	wanting int     // those that wait in loops of the program's own, and have no core
}

// to moves the clock on.
func (p *pace) to(at uint64) {
	if at <= p.at {
		return
	}
	if p.at != 0 {
		if p.rate() == 1 {
			p.sure += at - p.at
		}
		p.part += p.rate() * float64(at-p.at)
		whole := uint64(p.part)
		p.now, p.part = p.now+whole, p.part-float64(whole)
	}
	p.at = at
}

// rate is how fast the clock goes.
func (p *pace) rate() float64 {
	switch {
	case p.able <= 0 && p.wanting > 0:
		return 0
	case p.able <= 0:
		return 1
	}
	return float64(p.running) / float64(p.able)
}

// paced is what the clock knows of a thread.
type paced struct{ runs, able, wants bool }

// set notes whether a thread has a core, and whether it could run.
func (p *pace) set(t *paced, runs, able bool) {
	change := func(was, is bool) int {
		switch {
		case was == is:
			return 0
		case is:
			return 1
		}
		return -1
	}
	p.running, p.able = p.running+change(t.runs, runs), p.able+change(t.able, able)
	p.wanting += change(t.wants, false)
	*t = paced{runs: runs, able: able}
}

// loses notes that a thread that waits in a loop of the program's own has lost its core.
func (p *pace) loses(t *paced) {
	p.set(t, false, false)
	p.wanting++
	t.wants = true
}

// onPace is how far that clock went while a thread had a core.
type onPace struct{ since, total uint64 }

func (o *onPace) at(now uint64, on bool) uint64 {
	if on {
		return o.total + now - o.since
	}
	return o.total
}

// spinMark is a sample in a loop of the program's own that waits: the thread's CPU time, and the
// clock's while it had a core.
type spinMark struct{ cpu, pace uint64 }
