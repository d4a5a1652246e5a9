// Barriers that have a name: pthread_barrier_wait and its like, OpenMP's.

package sim

import (
	"lime/internal/collect/threads"
	"lime/internal/section"
)

func (b *barriers) enterBarrier(t *thread, f *fn) {
	c := b.openCalls.open(t, f)
	b.operations.feed(b.openCalls.arrival(t, c, section.OpArrive))
	c.reported = true
	b.beside.arrives(t, c)
}

func (b *barriers) enterTeam(t *thread, f *fn) {
	c := b.openCalls.open(t, f)
	if len(t.regions) == 0 {
		return
	}
	c.object = threads.Team | t.regions[len(t.regions)-1]
	b.operations.feed(b.openCalls.arrival(t, c, section.OpArrive))
	c.reported = true
	b.beside.arrives(t, c)
}

func (b *barriers) leaveBarrier(t *thread, c *call) {
	if !c.reported {
		return
	}
	b.beside.leaves(t, c)
	b.operations.feed(t.simple(section.OpLeave, c.object))
	b.segments.begin(t, outCall, b.places.outside(t, c))
}
