// Time by a described machine.

package sim

import (
	"fmt"
	"slices"

	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/machine"
	"lime/internal/uop"
)

// Erase says which kinds of events at one instruction cost nothing and do not count.
type Erase struct {
	PC    uint64
	Kinds []string
}

// machineMeter is a described machine: it takes its time, and its events, from the engine's traces.
type machineMeter struct {
	m        *machine.Machine
	eng      *engine.Engine
	read     func(addr uint64, n int) []byte
	sampled  func(*cpu.Context, machine.Sample, uint64) // takes accesses that missed, with the instruction's address
	accounts map[*cpu.Context]*machine.Account
	last     []*cpu.Context // by core: who ran there last
	short    []uint64       // by core: until when its turns are short
	pace     []float64      // by core: instructions in a cycle in the last turn, at most 1
	hz       float64
}

// Cores that take lines from each other run in short turns: in a long one, a core would do many
// accesses for which a real one had to fetch the line again. A line that is lost once is no fight
// yet, but may become one: the machine sees that in long turns too, and from then on turns are
// short until nothing was lost for a while.
const (
	turnCycles  = 150   // about the time that a line takes from core to core; the instructions of a turn at one a cycle
	trialCycles = 1_000 // how long turns are short after a line was lost
	fightCycles = 5_000 // and after it was lost again
)

// So do cores that crowd the bus or the memory: in a long turn, a core would have them for itself,
// and the one whose turn comes last would wait for all. Whoever takes crowded times as long as its
// requests have waited is not crowded.
const (
	crowded     = 8
	crowdCycles = 2_000
)

// newMachineMeter builds the machine of a configuration, with cores cores.
func newMachineMeter(cfg *Config) (*machineMeter, error) {
	d, err := machine.Parse(cfg.Model, cfg.Machine)
	if err != nil {
		return nil, err
	}
	m, err := machine.New(d, cfg.Cores)
	if err != nil {
		return nil, err
	}
	for _, e := range cfg.Erase {
		var kinds machine.KindSet
		for _, name := range e.Kinds {
			k, ok := machine.KindByName(name)
			if !ok {
				return nil, fmt.Errorf("machine %s: no event %q to erase", d.Name, name)
			}
			kinds = kinds.With(k)
		}
		m.Erase(e.PC, kinds)
	}
	return &machineMeter{
		m: m, accounts: map[*cpu.Context]*machine.Account{}, last: make([]*cpu.Context, cfg.Cores),
		short: make([]uint64, cfg.Cores), pace: make([]float64, cfg.Cores),
		hz: d.FrequencyMHz * 1e6,
	}, nil
}

func (mm *machineMeter) Mode() engine.Mode { return engine.Trace }

// Record asks for a trace without what the machine's filters hold back.
func (mm *machineMeter) Record(c *engine.Config) {
	c.Mode, c.FilterLines, c.FilterMask = engine.Trace, mm.m.FilterLines(), mm.m.FilterMask()
}

// Before gives the engine the filter of the core.
func (mm *machineMeter) Before(core int) { mm.eng.SetFilter(mm.m.Filter(core)) }

func (mm *machineMeter) Unit() string { return "cycles" }
func (mm *machineMeter) Hz() float64  { return mm.hz }

// Slice runs the trace through the machine.
func (mm *machineMeter) Slice(core int, ctx *cpu.Context, now, retired uint64) (uint64, error) {
	if err := mm.learn(); err != nil {
		return 0, err
	}
	if mm.last[core] != ctx {
		mm.m.Switch(core)
		mm.last[core] = ctx
	}
	acct := mm.accounts[ctx]
	if acct == nil {
		acct = &machine.Account{}
		mm.accounts[ctx] = acct
	}
	mm.m.SetClock(core, now)
	before := mm.m.Clock(core)
	losses, fights := mm.m.Contention()
	waited := mm.m.Waited(core)
	if err := mm.m.Run(core, mm.eng.Trace(), acct); err != nil {
		return 0, err
	}
	for _, s := range mm.m.Samples() {
		mm.sampled(ctx, s, mm.m.PC(s.Site))
	}
	clock := mm.m.Clock(core)
	mm.pace[core] = min(float64(retired)/float64(max(clock-before, 1)), 1)
	if l, f := mm.m.Contention(); f != fights {
		mm.short[core] = max(mm.short[core], clock+fightCycles)
	} else if l != losses {
		mm.short[core] = max(mm.short[core], clock+trialCycles)
	}
	if crowded*(mm.m.Waited(core)-waited) > clock-before {
		mm.short[core] = max(mm.short[core], clock+crowdCycles)
	}
	return clock - before, nil
}

// Within is how many instructions fit, at the pace of the core's last turn.
func (mm *machineMeter) Within(core int, units uint64) int64 {
	return int64(float64(units) * mm.pace[core])
}

// Turn is short while the core fights for lines.
func (mm *machineMeter) Turn(core int) int64 {
	if mm.m.Clock(core) < mm.short[core] {
		return max(mm.Within(core, turnCycles), 6)
	}
	return sliceLength
}

// learn describes the engine's new blocks to the machine, which numbers them alike.
func (mm *machineMeter) learn() error {
	for _, b := range mm.eng.Blocks()[mm.m.Blocks():] {
		d, err := uop.Describe(b.PC, mm.read(b.PC, int(b.Size)))
		if err != nil {
			return fmt.Errorf("block at %#x: %w", b.PC, err)
		}
		if _, err := mm.m.AddBlock(d); err != nil {
			return err
		}
	}
	return nil
}

// Drain returns the account of a thread, in order of block and event.
func (mm *machineMeter) Drain(ctx *cpu.Context, _ []edgeCount) hardware {
	var h hardware
	acct := mm.accounts[ctx]
	if acct == nil {
		return h
	}
	acct.Drain(func(b machine.BlockID, units uint64) {
		h.times = append(h.times, blockTime{engine.BlockID(b), units})
	}, func(id int32, n, cost uint64) {
		h.events = append(h.events, hardwareEvent{id, n, cost})
	})
	slices.SortFunc(h.times, func(a, b blockTime) int { return int(a.block - b.block) })
	slices.SortFunc(h.events, func(a, b hardwareEvent) int { return int(a.id - b.id) })
	return h
}
