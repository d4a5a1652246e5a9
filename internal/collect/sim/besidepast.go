// A program that goes on after it has been counted ("lime count --for"): all threads are stopped
// for a moment, the profile is finished and closed, and from then on they run under the translator
// as before, with nobody looking.

package sim

import "time"

// counting says whether somebody still looks at what the program does.
type counting struct {
	beside *beside
}

// over reports whether the counting is over while the program goes on.
func (c *counting) over() bool { return c.beside != nil && c.beside.over }

// letsGo ends the counting.
func (b *beside) letsGo() {
	r := b.r
	b.gather(nil)
	r.end.state, r.end.asked = "interrupted", true
	r.clocks.latest = b.end()
	b.noteTimes()
	err := r.protected(func() { r.out.err = r.finish() })
	r.end.err = joined(err, r.out.err)
	for pc := range r.probes.placed {
		r.eng.ClearProbe(pc)
	}
	clear(r.probes.placed)
	b.over, b.turnstile.loose = true, true
	if r.whenCounted != nil {
		r.whenCounted()
	}
	r.end.state, r.end.asked = "", false
	b.gathering = false
	b.stopped.Broadcast()
}

// joins takes in a thread that begins when nobody looks any more.
func (b *beside) joins(c *thread) {
	c.ended = true
	b.r.cores.place(c)
}

// through reports whether all that was to be counted has been.
func (r *run) through() bool {
	return r.cfg.For > 0 && time.Duration(r.memory.proc.HostNow()) >= r.cfg.For || r.focus != nil && r.focus.Over()
}
