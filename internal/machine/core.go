package machine

// core is one core's clock and what it has in flight.
type core struct {
	clock   uint64 // cycles
	units   uint64 // rest of the clock in 1/scale cycles
	count   uint64 // instructions
	pipe    pipeline
	pred    predictor
	tage    *tage // the predictor, if it is one of these
	dtlb    tlb
	itlb    tlb
	pre     streams
	prev    BlockID // block executed last, -1 after a switch
	skipped bool    // blocks were costed from memory since the pipeline last ran
	code    uint64  // line fetched last + 1

	leadCount uint64 // the miss that leads the current group of overlapping misses: instruction count,
	leadIssue uint64 // and time of issue
	leading   bool
	misses    []uint64 // completion times of the last misses, one for each miss register
	missAt    int
	buffer    storeBuffer
	shadow    uint64 // for how long a miss that the core waits for goes on behind the filling window

	waited uint64 // cycles that requests have waited for the bus and for memory
}

func newCore(d *Description) core {
	c := core{
		pipe: newPipeline(d.Core.Window), pred: newPredictor(d.Core), dtlb: newTLB(d.DTLB), itlb: newTLB(d.ITLB),
		pre: streams{next: make([]uint64, d.Prefetch.Streams)}, prev: -1,
		misses: make([]uint64, d.Core.Misses), buffer: newStoreBuffer(d.Core.StoreBuffer), shadow: uint64(d.Core.Window / d.Core.Width),
	}
	c.tage, _ = c.pred.(*tage)
	return c
}

// advance adds base time in 1/scale cycles and returns the whole cycles that it came to.
func (c *core) advance(units uint64) (cycles uint64) {
	c.units += units
	cycles = c.units / scale
	c.units -= cycles * scale
	c.clock += cycles
	return cycles
}

// issue returns when a miss can leave for the next level: a miss within the window of the leading
// one goes out in its shadow, unless its address waits for it; and a miss register must be free.
func (c *core) issue(d *Description, chase bool) uint64 {
	at := c.clock
	switch {
	case chase:
		c.leading = false
	case c.leading && c.count-c.leadCount < uint64(d.Core.Window):
		at = min(c.clock, c.leadIssue+(c.count-c.leadCount)/uint64(d.Core.Width))
	default:
		c.leading, c.leadCount, c.leadIssue = true, c.count, c.clock
	}
	return max(at, c.misses[c.missAt])
}

// register takes a miss register until done.
func (c *core) register(done uint64) {
	c.misses[c.missAt] = done
	if c.missAt++; c.missAt == len(c.misses) {
		c.missAt = 0
	}
}

// load accounts for a load that has what it waits for at done, and returns the cycles that the core
// stands still for it.
func (c *core) load(done uint64, chase bool) (stall uint64) {
	if !chase { // the window goes on filling before the core stands still
		done -= min(done, c.shadow)
	}
	if done <= c.clock {
		return 0
	}
	stall = done - c.clock
	c.clock = done
	return stall
}

// atomic waits for all stores before, and for the line.
func (c *core) atomic(latency uint64) (stall uint64) {
	done := max(c.clock, c.buffer.last) + latency
	stall = done - c.clock
	c.clock, c.buffer.last = done, done
	return stall
}
