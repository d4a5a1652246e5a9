package machine

import (
	"math"
	"math/rand/v2"
	"testing"
)

// kernel is a block that runs in a loop, with the addresses it accesses each time.
type kernel struct {
	block Block
	addrs func(n int) []uint64
}

func instrs(n int, make func(i int) Instr) (out []Instr) {
	for i := range n {
		out = append(out, make(i))
	}
	return out
}

func newInstr(c Class) Instr {
	return Instr{Class: c, Srcs: [4]uint8{NoReg, NoReg, NoReg, NoReg}, Dsts: [2]uint8{NoReg, NoReg}, Addrs: [2]uint8{NoReg, NoReg}}
}

func alu(dst, src uint8) Instr {
	in := newInstr(ClassALU)
	in.Dsts[0], in.Srcs[0] = dst, src
	return in
}

func load(dst, addr uint8) Instr {
	in := newInstr(ClassALU)
	in.Load, in.Dsts[0], in.Addrs[0] = true, dst, addr
	return in
}

func withPCs(b Block) Block {
	for i := range b.Instrs {
		b.PCs = append(b.PCs, b.Addr+uint64(4*i))
	}
	b.Size = uint32(4 * len(b.Instrs))
	b.Fall = b.Addr + uint64(b.Size)
	return b
}

// measure runs a kernel n times on a core and returns cycles per passage over the second half.
func measure(t testing.TB, m *Machine, core int, k kernel, n int) float64 {
	t.Helper()
	id, err := m.AddBlock(withPCs(k.block))
	if err != nil {
		t.Fatal(err)
	}
	var acct Account
	half := uint64(0)
	for i := range n {
		if i == n/2 {
			half = m.Clock(core)
		}
		trace := []uint64{BlockWord(id)}
		if k.addrs != nil {
			trace = append(trace, k.addrs(i)...)
		}
		if err := run(m, core, trace, &acct); err != nil {
			t.Fatal(err)
		}
	}
	if acct.Time() != m.Clock(core) {
		t.Errorf("accounted %d cycles, the clock went %d", acct.Time(), m.Clock(core))
	}
	return float64(m.Clock(core)-half) / float64(n-n/2)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.1*want {
		t.Errorf("%s: %.2f cycles, want %.2f within 10 %%", what, got, want)
	}
}

// cycle returns a random cyclic order of n lines far apart enough to miss the prefetcher.
func cycle(n int, seed uint64) []uint64 {
	p := rand.New(rand.NewPCG(seed, 1)).Perm(n)
	out := make([]uint64, n)
	for i, x := range p {
		out[i] = 1<<30 + uint64(x)*64
	}
	return out
}

func TestPipeline(t *testing.T) {
	d, err := Load("desktop")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		code []Instr
		want float64
	}{
		{"dependent adds", instrs(16, func(int) Instr { return alu(1, 1) }), 16},
		{"independent adds", instrs(16, func(i int) Instr { return alu(uint8(i%8), NoReg) }), 4},
		{"two chains", instrs(16, func(i int) Instr { return alu(uint8(i%2), uint8(i%2)) }), 8},
		{"dependent multiplies", instrs(4, func(int) Instr { in := alu(1, 1); in.Class = ClassMul; return in }), 12},
		{"fence", append(instrs(4, func(i int) Instr { return alu(uint8(i), NoReg) }), newInstr(ClassSerial)), 32},
		{"loads in first level", instrs(8, func(i int) Instr { return load(uint8(i), 14) }), 2},
	} {
		m, err := New(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.name, measure(t, m, 0, kernel{block: Block{Addr: 0x1000, Instrs: c.code}}, 400), c.want)
	}
}

func TestLatencies(t *testing.T) {
	for _, preset := range Presets() {
		// Of small pages, some fall into the same sets by chance.
		d, err := Load(preset, "prefetch.streams=0", "dtlb.entries=0", "memory.nodes=1", "page_bytes=1073741824")
		if err != nil {
			t.Fatal(err)
		}
		bus := 0.0
		if d.Bus.Width > 0 {
			bus = float64(d.LineBytes / d.Bus.Width * d.Bus.Cycles)
		}
		last := d.lastLevel()
		type level struct {
			name  string
			lines int
			want  float64
		}
		levels := []level{
			{"first level", int(d.L1D.Size) / 128, float64(d.L1D.Latency)},
			{"last level", int(last.Size) / 128, float64(last.Latency) + bus},
			{"memory", int(last.Size) / 16, float64(last.Latency+d.Memory.Latency) + bus},
		}
		if !d.L2.Shared {
			levels = append(levels, level{"second level", int(d.L2.Size) / 128, float64(d.L2.Latency)})
		}
		for _, l := range levels {
			if l.lines > 1<<18 && !*long {
				continue
			}
			m, err := New(d, 1)
			if err != nil {
				t.Fatal(err)
			}
			order := cycle(l.lines, 3)
			chase := kernel{
				block: Block{Addr: 0x1000, Instrs: []Instr{load(1, 1)}, Accesses: []Access{{Size: 8, Read: true}}},
				addrs: func(n int) []uint64 { return order[n%len(order) : n%len(order)+1] },
			}
			near(t, preset+" chase in "+l.name, measure(t, m, 0, chase, max(1000, 4*l.lines)), l.want)
		}
	}
}

func TestBandwidth(t *testing.T) {
	d, err := Load("desktop", "dtlb.entries=0", "prefetch.streams=0", "memory.cycles_per_line=60", "memory.channels=2")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	stream := kernel{
		block: Block{Addr: 0x1000, Instrs: []Instr{load(1, 2), alu(2, 2)}, Accesses: []Access{{Size: 8, Read: true}}},
		addrs: func(n int) []uint64 { return []uint64{1<<32 + uint64(n)*64} },
	}
	near(t, "streaming, a line", measure(t, m, 0, stream, 40000), 60.0/2)
}

func TestPingPong(t *testing.T) {
	d, err := Load("desktop", "dtlb.entries=0")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(d, 2)
	if err != nil {
		t.Fatal(err)
	}
	inc := newInstr(ClassAtomic)
	inc.Load, inc.Store = true, true
	b := withPCs(Block{Addr: 0x1000, Instrs: []Instr{inc}, Accesses: []Access{{Size: 8, Read: true, Write: true, Lock: true}}})
	id, err := m.AddBlock(b)
	if err != nil {
		t.Fatal(err)
	}
	var acct Account
	const n = 1000
	for i := range n {
		core := i % 2
		m.SetClock(core, m.Clock(1-core))
		if err := run(m, core, []uint64{BlockWord(id), 1 << 30}, &acct); err != nil {
			t.Fatal(err)
		}
	}
	got := float64(max(m.Clock(0), m.Clock(1))) / n
	base := float64(latencies()[ClassAtomic]) + float64(d.L1D.Latency)
	near(t, "ping-pong", got, base+float64(d.L3.Latency-d.L1D.Latency+d.Coherence.Transfer))
}

func TestMispredict(t *testing.T) {
	d, err := Load("lime2011")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	br := newInstr(ClassBranch)
	a := withPCs(Block{Addr: 0x1000, Instrs: []Instr{br}, End: EndCond})
	b := withPCs(Block{Addr: 0x1004, Instrs: []Instr{alu(1, NoReg)}})
	c := withPCs(Block{Addr: 0x2000, Instrs: []Instr{alu(1, NoReg)}})
	for _, block := range []Block{a, b, c} {
		if _, err := m.AddBlock(block); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(9, 9))
	var acct Account
	for range 20000 {
		if err := run(m, 0, []uint64{BlockWord(0), BlockWord(BlockID(1 + rng.IntN(2)))}, &acct); err != nil {
			t.Fatal(err)
		}
	}
	var n, cost uint64
	acct.Drain(func(BlockID, uint64) {}, func(id int32, count, cycles uint64) {
		if m.Events()[id].Kind == BranchMiss {
			n, cost = count, cycles
		}
	})
	if n < 8000 || n > 12000 || cost != n*uint64(d.Core.Mispredict) {
		t.Errorf("%d mispredictions for %d cycles in 20000 random branches", n, cost)
	}
}

// Erasing a kind at an instruction takes its events and their cycles away, and only those.
func TestErase(t *testing.T) {
	run := func(erase bool) (clock uint64, kinds map[Kind]uint64) {
		d, err := Load("desktop", "prefetch.streams=0")
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		if erase {
			m.Erase(0x1000, KindSet(0).With(L1DMiss))
		}
		order := cycle(1<<15, 4)
		k := kernel{
			block: Block{Addr: 0x1000, Instrs: []Instr{load(1, 1)}, Accesses: []Access{{Size: 8, Read: true}}},
			addrs: func(n int) []uint64 { return order[n%len(order) : n%len(order)+1] },
		}
		id, err := m.AddBlock(withPCs(k.block))
		if err != nil {
			t.Fatal(err)
		}
		var acct Account
		for n := range 50000 {
			if err := run(m, 0, []uint64{BlockWord(id), k.addrs(n)[0]}, &acct); err != nil {
				t.Fatal(err)
			}
		}
		kinds = map[Kind]uint64{}
		acct.Drain(func(BlockID, uint64) {}, func(e int32, n, _ uint64) { kinds[m.Events()[e].Kind] += n })
		return m.Clock(0), kinds
	}
	slow, with := run(false)
	fast, without := run(true)
	if with[L1DMiss] == 0 || with[DTLBMiss] == 0 {
		t.Fatalf("events before: %v", with)
	}
	for _, k := range []Kind{L1DMiss, L2Miss, LLCMiss, MemoryWait} {
		if without[k] != 0 {
			t.Errorf("%d events of kind %d left", without[k], k)
		}
	}
	if without[DTLBMiss] != with[DTLBMiss] {
		t.Errorf("TLB misses changed: %d, %d", with[DTLBMiss], without[DTLBMiss])
	}
	if fast*2 > slow {
		t.Errorf("%d cycles without the misses, %d with", fast, slow)
	}
}

// A repeated access touches every line of its range once.
func TestRepeated(t *testing.T) {
	m := tiny(t, 1, true)
	b := Block{Addr: 0x1000, Instrs: []Instr{newInstr(ClassString)},
		Accesses: []Access{{Size: 8, Read: true, Rep: true}, {Size: 8, Write: true, Rep: true}}}
	if _, err := m.AddBlock(withPCs(b)); err != nil {
		t.Fatal(err)
	}
	var acct Account
	if err := run(m, 0, []uint64{BlockWord(0), 1 << 30, 80, 1<<31 + 32, 80, BlockWord(0), 1 << 30, 0, 0, 7}, &acct); err != nil {
		t.Fatal(err)
	}
	acct.Drain(func(BlockID, uint64) {}, func(e int32, n, _ uint64) {
		if m.Events()[e].Kind == L1DMiss && n != 21 {
			t.Errorf("%d misses, want 10 and 11", n)
		}
	})
	for line := range uint64(11) {
		if m.caches.dir.find(m.caches.frames.line(1<<31>>6+line)) < 0 {
			t.Errorf("line %d was not touched", line)
		}
	}
}

// Hostile traces get errors.
func TestBadTraces(t *testing.T) {
	m := tiny(t, 1, true)
	if _, err := m.AddBlock(Block{Instrs: make([]Instr, 1), PCs: []uint64{1}, Accesses: []Access{{Instr: 1}}}); err == nil {
		t.Error("access of an instruction that is not there: no error")
	}
	if _, err := m.AddBlock(withPCs(Block{Addr: 0x1000, Instrs: []Instr{load(1, 1)}, Accesses: []Access{{Size: 8, Read: true}}})); err != nil {
		t.Fatal(err)
	}
	for _, trace := range [][]uint64{{1}, {BlockWord(1)}, {BlockWord(0), 1}, {BlockWord(0), 1, 1, 1}, {BlockWord(0), 1 << indexShift, 1},
		{BlockWord(0), 60, 1}, {^uint64(0)}} {
		if err := m.Run(0, trace, &Account{}); err == nil {
			t.Errorf("%x: no error", trace)
		}
		m.Switch(0)
	}
}

func BenchmarkRun(b *testing.B) {
	d, err := Load("desktop")
	if err != nil {
		b.Fatal(err)
	}
	m, err := New(d, 8)
	if err != nil {
		b.Fatal(err)
	}
	id, err := m.AddBlock(withPCs(Block{
		Addr: 0x1000, Instrs: instrs(8, func(i int) Instr { return load(uint8(i), 15) }), End: EndCond,
		Accesses: []Access{{Size: 8, Read: true}, {Instr: 3, Size: 8, Write: true}},
	}))
	if err != nil {
		b.Fatal(err)
	}
	var trace []uint64
	for i := range 1000 {
		trace = append(trace, BlockWord(id), 1<<30+uint64(i)*8, 1<<31+uint64(i)*8)
	}
	trace = m.Recorder(0).Record(m, full(m, trace, true))
	var acct Account
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Run(0, trace, &acct); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds()/1e6, "Mblocks/s")
}

// Misses as a transposition makes them: every core reads its rows and writes columns, in turns.
func BenchmarkMisses(b *testing.B) {
	const cores, side = 8, 512
	d, err := Load("desktop")
	if err != nil {
		b.Fatal(err)
	}
	m, err := New(d, cores)
	if err != nil {
		b.Fatal(err)
	}
	id, err := m.AddBlock(withPCs(Block{
		Addr: 0x1000, Instrs: instrs(8, func(i int) Instr { return load(uint8(i), 15) }), End: EndCond,
		Accesses: []Access{{Size: 16, Read: true}, {Instr: 3, Size: 16, Write: true}},
	}))
	if err != nil {
		b.Fatal(err)
	}
	var accounts [cores]Account
	var trace []uint64
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		core, row := n%cores, uint64(n%side)
		trace = trace[:0]
		for column := range uint64(side) {
			trace = append(trace, BlockWord(id), 1<<30+(row*side+column)*16, 1<<31+(column*side+row)*16)
		}
		if err := m.Run(core, m.Recorder(core).Record(m, full(m, trace, true)), &accounts[core]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*side/b.Elapsed().Seconds()/1e6, "Maccesses/s")
}
