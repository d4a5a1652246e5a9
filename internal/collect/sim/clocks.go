// The clocks of the cores.

package sim

import "lime/internal/unit"

// clocks are those of the cores, and the program's.
type clocks struct {
	perNano float64 // clock units in a nanosecond
	cores   *cores
	latest  uint64 // highest clock so far
}

// nanos and clock convert between the guest's time and the cores'.
func (c *clocks) nanos(clock uint64) unit.Nanos {
	if c.perNano == 1 {
		return unit.Nanos(clock)
	}
	return unit.Nanos(float64(clock) / c.perNano)
}

func (c *clocks) clock(n unit.Nanos) uint64 {
	if c.perNano == 1 {
		return uint64(n)
	}
	return uint64(float64(n)*c.perNano + 0.999)
}

// charge moves the clock of t's core by work.
func (c *clocks) charge(t *thread, units uint64) {
	t.busy += units
	c.advance(t, t.core.clock+units)
}

// advance moves the clock of t's core.
func (c *clocks) advance(t *thread, to uint64) {
	k := t.here().core
	k.clock = max(k.clock, to)
	c.latest = max(c.latest, k.clock)
	c.cores.moved(k)
}
