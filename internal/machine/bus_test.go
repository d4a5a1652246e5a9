package machine

import (
	"fmt"
	"testing"
)

// flood is what a loop over lines of its own does on each core: how many cycles the machine ran,
// how many lines came, and for how long their requests waited, for bus and memory.
type flood struct{ cycles, lines, bus, memory float64 }

// floods lets all cores of a machine walk through regions of their own, rounds times, in turns of
// one block; the core with the lowest clock comes next.
func floods(t *testing.T, d *Description, cores, bytes, rounds int, write bool) (s flood) {
	t.Helper()
	m, err := New(d, cores)
	if err != nil {
		t.Fatal(err)
	}
	id, err := m.AddBlock(withPCs(Block{Addr: 0x1000,
		Instrs:   append([]Instr{load(1, 14)}, instrs(7, func(i int) Instr { return alu(uint8(2+i%6), NoReg) })...),
		Accesses: []Access{{Size: 8, Read: !write, Write: write}}}))
	if err != nil {
		t.Fatal(err)
	}
	accounts, at := make([]Account, cores), make([]int, cores)
	lines := bytes / 64
	for left := cores; left > 0; {
		next := -1
		for c := range cores {
			if at[c] < lines*rounds && (next < 0 || m.Clock(c) < m.Clock(next)) {
				next = c
			}
		}
		addr := uint64(1+next)<<32 + uint64(at[next]%lines)*64
		if err := run(m, next, []uint64{BlockWord(id), addr}, &accounts[next]); err != nil {
			t.Fatal(err)
		}
		if at[next]++; at[next] == lines*rounds {
			left--
		}
	}
	for c := range accounts {
		s.cycles = max(s.cycles, float64(m.Clock(c)))
		accounts[c].Drain(func(BlockID, uint64) {}, func(e int32, n, _ uint64) {
			switch m.Events()[e].Kind {
			case BusWait:
				s.bus += float64(n)
			case MemoryWait:
				s.memory += float64(n)
			}
		})
	}
	s.lines = float64(cores * lines * rounds)
	return s
}

// On lime2011, what asks for many lines fills the bus first, whether they come from the shared
// cache or from memory: they come as fast as the bus carries them, but for the beginning and the
// end (a fifth), and nobody waits for memory to speak of. With a bus eight times as wide, 95 % of
// the waiting is gone: Oh et al., 2011, 5.4, simulate "a higher-bandwidth bus" and see "a 95%
// imbalance reduction" for fft and swaptions.
func TestTheBusOfLime2011FillsFirst(t *testing.T) {
	for _, c := range []struct {
		from                 string
		cores, bytes, rounds int
		write                bool
	}{
		{"the shared cache", 16, 64 << 10, 8, false},
		{"memory", 16, 256 << 10, 1, false}, {"memory", 32, 256 << 10, 1, false}, {"memory", 64, 256 << 10, 1, false},
		{"memory and back", 16, 256 << 10, 1, true}, {"memory and back", 32, 256 << 10, 1, true}, {"memory and back", 64, 256 << 10, 1, true},
	} {
		t.Run(fmt.Sprint(c.cores, " cores, lines from ", c.from), func(t *testing.T) {
			load := func(settings ...string) *Description {
				d, err := Load("lime2011", append(settings, "dtlb.entries=0")...)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			d, wide := load(), load("bus.width_bytes=256")
			carries := float64(d.Bus.Width) / float64(d.LineBytes*d.Bus.Cycles)
			if c.write {
				carries /= 2 // every line goes back
			}
			a, b := floods(t, d, c.cores, c.bytes, c.rounds, c.write), floods(t, wide, c.cores, c.bytes, c.rounds, c.write)
			if a.lines/a.cycles < 0.8*carries || a.memory > 0.05*a.bus {
				t.Errorf("%.2f lines a cycle, the bus carries %.2f; a line waits %.1f cycles for it, %.1f for memory",
					a.lines/a.cycles, carries, a.bus/a.lines, a.memory/a.lines)
			}
			if gone := 1 - (b.bus+b.memory)/(a.bus+a.memory); gone < 0.95 {
				t.Errorf("with a bus eight times as wide, %.1f %% of the waiting is gone, want 95 %%", 100*gone)
			}
		})
	}
}
