// What parts took on the host, where threads run in parallel: processor time and wall time, beside
// the instructions in which the profile's clock counts.

package sim

import (
	"lime/internal/profile"
	"lime/internal/section"
)

// hostClock is how both clocks of the host stand for a thread.
type hostClock profile.HostTime

// clocks reads them. Of a goroutine the processor time is not known: it goes from thread to thread.
func (b *beside) clocks(t *thread) (c hostClock) {
	if b == nil || b.r.memory.proc == nil {
		return c
	}
	c.Wall = uint64(b.r.memory.proc.HostNow())
	if t.goroutine == nil && t.hosts == nil && t.host.tid != 0 {
		c.CPU = uint64(b.cpuTime(t))
	}
	return c
}

// took is what a segment took that began when the clocks stood at from.
func (b *beside) took(t *thread, from hostClock) profile.HostTime {
	now := b.clocks(t)
	return profile.HostTime{CPU: now.CPU - min(from.CPU, now.CPU), Wall: now.Wall - min(from.Wall, now.Wall)}
}

// hostTimes adds up what a part's segments took.
func hostTimes(p *section.Part) (sum profile.HostTime) {
	for _, s := range p.Spans {
		x := s.(*segment).host
		sum.CPU, sum.Wall = sum.CPU+x.CPU, sum.Wall+x.Wall
	}
	return sum
}
