package engine

import (
	"maps"
	"runtime"
	"slices"
	"testing"

	"lime/internal/cpu"
)

// TestProbesOnce has threads come past probes while others call them out of their code, forget
// translations and empty the cache: each probe is reported once for each time that a thread comes past
// it, also where the thread is called out between the report and the instruction.
func TestProbesOnce(t *testing.T) {
	threads, steps := 8, usually(700, 60_000)
	alone := newMachine(t, Config{Mode: Count, MaxEdges: 1 << 16}, stressProgram())
	walk(t, alone.Engine, stressContext(t, alone.Engine, 0, steps), func() {})
	var places []uint64
	for i, pc := range slices.Sorted(maps.Keys(alone.blocks)) {
		if i%5 == 0 {
			places = append(places, pc)
		}
	}
	probe := func(e *Engine) {
		for _, pc := range places {
			e.SetProbe(pc)
		}
	}
	probe(alone.Engine)
	var want []map[uint64]int
	for i := range threads {
		want = append(want, probes(t, alone.Engine, stressContext(t, alone.Engine, i, steps), func() {}))
	}
	for _, c := range []struct {
		name    string
		disturb func(e *Engine, n int)
	}{
		{"called", func(e *Engine, _ int) {
			for ctx := range e.contexts {
				e.Call(ctx)
			}
		}},
		{"halted", func(e *Engine, _ int) { e.Halt() }},
		{"invalidated", func(e *Engine, n int) {
			lo := guestCode + uint64(n*97%len(alone.code))
			e.Invalidate(lo, lo+uint64(n%500)+1)
		}},
		{"emptied", func(e *Engine, n int) {
			if n < usually(60, 2000) {
				e.flush()
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make([]map[uint64]int, threads)
			disturbed(t, Count, threads, steps, c.disturb, func(e *Engine, i int, ctx *cpu.Context, between func()) {
				probe(e)
				got[i] = probes(t, e, ctx, between)
			})
			for i := range want {
				for pc, n := range want[i] {
					if got[i][pc] != n {
						t.Errorf("thread %d: %#x reported %d times, alone %d", i, pc, got[i][pc], n)
					}
				}
			}
		})
	}
}

// probes counts how often each probe is reported until a thread ends.
func probes(t testing.TB, e *Engine, ctx *cpu.Context, between func()) map[uint64]int {
	seen := map[uint64]int{}
	for {
		switch x := e.Run(ctx, 1e6); x.Reason {
		case cpu.ExitSyscall:
			return seen
		case cpu.ExitProbe:
			seen[ctx.RIP]++
			between()
			runtime.Gosched()
		case cpu.ExitBudget:
			between()
		default:
			t.Errorf("exit %+v at %#x", x, ctx.RIP)
			return seen
		}
	}
}
