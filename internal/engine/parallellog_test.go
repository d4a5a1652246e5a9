package engine

import (
	"encoding/binary"
	"hash/fnv"
	"testing"

	"lime/internal/cpu"
)

// loggedWalk runs the thread of a seed to its end, and sums up all the words that its blocks leave
// but for the blocks' own, which depend on where blocks were cut.
func loggedWalk(t testing.TB, e *Engine, ctx *cpu.Context, between func()) uint64 {
	sum := fnv.New64()
	m := &machine{Engine: e, ctx: ctx}
	for {
		x := e.Run(ctx, 1e6)
		for _, b := range m.logs(t) {
			_ = binary.Write(sum, binary.LittleEndian, b.words)
		}
		switch x.Reason {
		case cpu.ExitSyscall:
			return sum.Sum64()
		case cpu.ExitBudget:
			between()
		default:
			t.Errorf("exit %+v at %#x", x, ctx.RIP)
			return 0
		}
	}
}

// TestParallelLog runs threads beside each other in mode Log, while others empty the cache: each
// leaves what it leaves alone.
func TestParallelLog(t *testing.T) {
	threads, steps := 16, usually(5_000, 100_000)
	alone := newMachine(t, Config{Mode: Log, MaxEdges: 1 << 16}, stressProgram())
	var want []uint64
	for i := range threads {
		want = append(want, loggedWalk(t, alone.Engine, stressContext(t, alone.Engine, i, steps), func() {}))
	}
	got := make([]uint64, threads)
	_, _, group := sideBySide(t, Log, threads, steps, func(e *Engine, i int, ctx *cpu.Context, between func()) {
		flushes := 0
		got[i] = loggedWalk(t, e, ctx, func() {
			if flushes++; flushes < 4 {
				e.flush()
			}
			between()
		})
	})
	group.Wait()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("thread %d: words %x, alone %x", i, got[i], want[i])
		}
	}
}
