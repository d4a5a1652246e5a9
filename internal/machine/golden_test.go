package machine

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// randomBlock makes a block with up to twelve instructions; hot decides how many distinct lines its
// accesses go to.
func randomBlock(rng *rand.Rand, addr uint64) Block {
	b := Block{Addr: addr}
	reg := func() uint8 { return uint8(rng.IntN(16)) }
	for i := range 1 + rng.IntN(12) {
		in := newInstr(Class(rng.IntN(int(ClassSyscall))))
		in.Srcs[0], in.Srcs[1], in.Dsts[0], in.Addrs[0] = reg(), reg(), reg(), reg()
		a := Access{Instr: uint16(i), Size: 1 << rng.IntN(7)}
		switch rng.IntN(6) {
		case 0, 1:
			a.Read, in.Load = true, true
		case 2:
			a.Write, in.Store = true, true
		case 3:
			a.Read, a.Write, in.Load, in.Store = true, true, true, true
			a.Lock = rng.IntN(4) == 0
		case 4:
			if rng.IntN(8) == 0 {
				a.Write, a.Rep, in.Store = true, true, true
			}
			if rng.IntN(8) == 0 {
				a.Size, a.Read = 0, true
			}
		}
		if a.Read || a.Write {
			b.Accesses = append(b.Accesses, a)
		}
		b.Instrs = append(b.Instrs, in)
	}
	if b.End = EndCond; rng.IntN(3) == 0 {
		b.End = End(rng.IntN(5))
	}
	return withPCs(b)
}

// randomBlocks adds blocks to a machine.
func randomBlocks(t testing.TB, rng *rand.Rand, m *Machine) (blocks []Block) {
	t.Helper()
	addr := uint64(0x401000)
	for n := range 60 {
		blocks = append(blocks, randomBlock(rng, addr))
		addr = blocks[n].Fall + uint64(rng.IntN(8)/7*40)
		if n%9 == 8 {
			addr += 4096
		}
		if rng.IntN(6) == 0 {
			m.Erase(blocks[n].PCs[0], KindSet(rng.Uint32()))
		}
		if _, err := m.AddBlock(blocks[n]); err != nil {
			t.Fatal(err)
		}
	}
	return blocks
}

// randomTrace appends records of blocks as loops and calls would run them.
func randomTrace(rng *rand.Rand, blocks []Block, core int, records int) (trace []uint64) {
	at := rng.IntN(len(blocks))
	for range records {
		switch rng.IntN(8) {
		case 0:
			at = rng.IntN(len(blocks))
		case 1, 2:
			at = (at + 1) % len(blocks)
		case 3:
			at = max(0, at-2)
		}
		trace = append(trace, BlockWord(BlockID(at)))
		for i, a := range blocks[at].Accesses {
			var addr uint64
			switch rng.IntN(16) {
			case 0: // shared with others
				addr = 1<<30 + uint64(rng.IntN(40*64))
			case 1:
				addr = 1<<33 + uint64(core)<<24 + uint64(rng.IntN(1<<20))
			case 2:
				addr = 0
			default:
				addr = 1<<32 + uint64(core)<<24 + uint64(at)*4096 + uint64(i)*72 + uint64(rng.IntN(4))*8
			}
			trace = append(trace, addr)
			if a.Rep {
				trace = append(trace, uint64(rng.IntN(300)))
			}
		}
	}
	return trace
}

// state describes all that came out of a run, in an order that does not depend on how it was kept.
func outcome(m *Machine, accounts []*Account) (lines []string) {
	h := fnv.New64a()
	var kinds, costs [NumKinds]uint64
	for i, a := range accounts {
		var all []string
		a.Drain(func(b BlockID, n uint64) { all = append(all, fmt.Sprintf("t %d %d", b, n)) },
			func(e int32, n, cost uint64) {
				ev := m.Events()[e]
				if ev.Kind.InPlacement() { // came later, and changes nothing
					return
				}
				kinds[ev.Kind] += n
				costs[ev.Kind] += cost
				all = append(all, fmt.Sprintf("e %v %d %d", ev, n, cost))
			})
		slices.Sort(all)
		fmt.Fprintln(h, i, all)
	}
	var share []string
	for s, x := range m.share {
		share = append(share, fmt.Sprintf("%v %v", s, *x))
	}
	slices.Sort(share)
	fmt.Fprintln(h, share)
	for c := range m.cores {
		lines = append(lines, fmt.Sprint("  clock ", m.Clock(c)))
	}
	for k, info := range Kinds() {
		lines = append(lines, fmt.Sprintf("  %s %d for %d", info.Name, kinds[k], costs[k]))
	}
	losses, fights := m.Contention()
	return append(lines, fmt.Sprintf("  contention %d, %d, everything %016x", losses, fights, h.Sum64()))
}

// goldenMachines are machines that differ in every part.
func goldenMachines() [][]string {
	return [][]string{
		{"desktop", "core.predictor=gshare"},
		{"desktop", "core.predictor=tage", "core.predictor_bits=8"},
		{"lime2011", "core.predictor=gshare", "core.predictor_bits=8"},
		{"server", "core.predictor=bimodal"},
		{"desktop", "core.predictor=perfect", "l1d.size=4KB", "l1d.ways=2", "l1i.size=1KB", "l1i.ways=2",
			"l2.size=16KB", "l2.ways=4", "l2.policy=plru", "l3.size=96KB", "l3.ways=8"},
		{"lime2011", "core.predictor=gshare", "l1d.size=1KB", "l1d.ways=4", "l1d.policy=random", "l2.size=24KB",
			"l2.ways=3", "memory.nodes=2", "memory.remote_cycles=70"},
		{"desktop", "core.predictor=gshare", "l1d.size=3KB", "l1d.ways=4", "l2.size=8KB", "l2.ways=8", "l3.size=64KB",
			"l3.policy=random", "l3.ways=16", "dtlb.entries=16", "dtlb.ways=4"},
	}
}

// The outcome of random programs on random data, to the cycle, has not changed. The golden file
// began with the plain form of the model, before it was made fast: what only makes it faster leaves
// it alone.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for i, words := range goldenMachines() {
		d, err := Load(words[0], words[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(d, 5)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(uint64(i), 77))
		blocks := randomBlocks(t, rng, m)
		accounts := make([]*Account, len(m.cores))
		for a := range accounts {
			accounts[a] = &Account{}
		}
		for range 400 {
			core := rng.IntN(len(m.cores))
			if rng.IntN(10) == 0 {
				m.Switch(core)
			}
			if err := run(m, core, randomTrace(rng, blocks, core, 1+rng.IntN(200)), accounts[core]); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintln(&got, strings.Join(words, " "))
		fmt.Fprintln(&got, strings.Join(outcome(m, accounts), "\n"))
	}
	const file = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}
