// How long a slice took: by instructions here, by a machine in machine.go.

package sim

import (
	"math/bits"

	"lime/internal/cpu"
	"lime/internal/engine"
)

// Meter says how long a slice took. Model "count" is the one below; a machine model
// (machine.go) reads the trace that the slice left in the engine.
type Meter interface {
	// Before is told which core runs next.
	Before(core int)
	// Slice returns the clock units that the last run of ctx took on a core whose clock stood at
	// now, given the instructions that it retired.
	Slice(core int, ctx *cpu.Context, now, retired uint64) (uint64, error)
	// Drain returns what the thread of ctx spent and suffered since the last Drain, in which it ran
	// along some edges.
	Drain(ctx *cpu.Context, ran []edgeCount) hardware
	// Turn is how many instructions a core may run beyond the core behind it.
	Turn(core int) int64
	// Within is about how many instructions a core does in some clock units.
	Within(core int, units uint64) int64
	// Mode is what the engine must record.
	Mode() engine.Mode
	// Record completes the engine's configuration by what it must record.
	Record(*engine.Config)
	// Unit and Hz describe the clock.
	Unit() string
	Hz() float64
}

// countMeter is model "count": an instruction takes one unit.
type countMeter struct{ turn int64 }

func newCountMeter(c *Config) countMeter {
	if c.Turn > 0 {
		return countMeter{c.Turn}
	}
	return countMeter{sliceLength}
}

func (countMeter) Slice(_ int, _ *cpu.Context, _, retired uint64) (uint64, error) {
	return retired, nil
}
func (countMeter) Before(int)                               {}
func (countMeter) Drain(*cpu.Context, []edgeCount) hardware { return hardware{} }
func (m countMeter) Turn(int) int64                         { return m.turn }
func (countMeter) Within(_ int, units uint64) int64         { return int64(units) }
func (countMeter) Mode() engine.Mode                        { return engine.Count }
func (countMeter) Record(c *engine.Config)                  { c.Mode = engine.Count }
func (countMeter) Unit() string                             { return "instructions" }
func (countMeter) Hz() float64                              { return 1e9 }

// hardware is what a thread spent in blocks, and the events of its instructions, where a machine is
// modelled.
type hardware struct {
	times  []blockTime
	events []hardwareEvent
}

type blockTime struct {
	block engine.BlockID
	units uint64
}

// hardwareEvent is an event of the machine: which one, how often, and the clock units lost to it.
type hardwareEvent struct {
	id      int32
	n, cost uint64
}

// add appends what another segment of the same thread has.
func (h *hardware) add(o hardware) {
	h.times = append(h.times, o.times...)
	h.events = append(h.events, o.events...)
}

// without takes out what happened in some blocks, and returns the time that it was.
func (h *hardware) without(blocks map[engine.BlockID]bool, blockOf func(int32) engine.BlockID) (units uint64) {
	times, events := h.times[:0], h.events[:0]
	for _, t := range h.times {
		if blocks[t.block] {
			units += t.units
		} else {
			times = append(times, t)
		}
	}
	for _, e := range h.events {
		if !blocks[blockOf(e.id)] {
			events = append(events, e)
		}
	}
	h.times, h.events = times, events
	return units
}

// share takes a part of what happened in each block out, and returns the time that it was.
func (h *hardware) share(of func(engine.BlockID) (part, whole uint64),
	blockOf func(int32) engine.BlockID) (units uint64) {
	less := func(n uint64, b engine.BlockID) uint64 {
		part, whole := of(b)
		if part == 0 || whole == 0 {
			return 0
		}
		hi, lo := bits.Mul64(n, min(part, whole))
		q, _ := bits.Div64(hi, lo, whole)
		return q
	}
	for i := range h.times {
		n := less(h.times[i].units, h.times[i].block)
		h.times[i].units -= n
		units += n
	}
	for i := range h.events {
		e, b := &h.events[i], blockOf(h.events[i].id)
		e.n, e.cost = e.n-less(e.n, b), e.cost-less(e.cost, b)
	}
	return units
}
