// How long a thread waits for others, without the moments at which none of them had a core though
// some could have run.

package native

// pace is a clock for waits of threads for one another. It goes as fast as the wall's, and stands
// while no thread of the program has a core though one could run: whatever the others wait for,
// nobody gets on with it then, for want of a core. While one of them runs, it may be who they wait
// for, and the time counts. Where nobody could run, all wait for something outside.
type pace struct {
	at      uint64
	now     uint64
	running int // threads that have a core
	able    int // those that could run, these included
}

// to moves the clock on.
func (p *pace) to(at uint64) {
	if at <= p.at {
		return
	}
	if p.at != 0 && (p.running > 0 || p.able == 0) {
		p.now += at - p.at
	}
	p.at = at
}

// paced is what the clock knows of a thread.
type paced struct{ runs, able bool }

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
	*t = paced{runs, able}
}
