package engine

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"lime/internal/cpu"
	"lime/internal/testenv"
	"lime/internal/x86"
)

// kernel is the program of testdata/kernels.c, mapped.
type kernel struct {
	file  string
	entry uint64
	done  uint64   // address of its only system call
	stack uint64   // top of the program's own stack
	image [][]byte // the segments, whole pages
	used  [][]byte // the segments without what else is on their pages
	fresh [][]byte // their contents at the start
}

// kernelStack is where the program's stack ends.
const kernelStack = guestData + dataSize - 64

func loadKernel(t testing.TB) *kernel {
	t.Helper()
	testenv.Tool(t, "gcc")
	k := &kernel{file: filepath.Join(t.TempDir(), "kernels")}
	tool(t, "gcc", "-O2", "-nostdlib", "-static", "-fno-stack-protector", "-fno-builtin",
		"-fno-tree-loop-distribute-patterns", "-Wl,-Ttext-segment=0x10000000", "-o", k.file, "testdata/kernels.c")
	f, err := elf.Open(k.file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	k.entry = f.Entry
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		switch s.Name {
		case "done":
			k.done = s.Value
		case "stack":
			k.stack = s.Value + s.Size - 64
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			k.load(t, p)
		}
	}
	mapGuest(t, guestData, dataSize, nil)
	return k
}

func (k *kernel) load(t testing.TB, p *elf.Prog) {
	lo := p.Vaddr &^ (pageSize - 1)
	hi := (p.Vaddr + p.Memsz + pageSize - 1) &^ (pageSize - 1)
	mem := mapGuest(t, lo, int(hi-lo), nil)
	if _, err := p.ReadAt(mem[p.Vaddr-lo:][:p.Filesz], 0); err != nil {
		t.Fatal(err)
	}
	k.image = append(k.image, mem)
	k.used = append(k.used, mem[p.Vaddr-lo:][:p.Memsz])
	k.fresh = append(k.fresh, append([]byte(nil), mem...))
}

// start puts memory and ctx into the state in which the program starts.
func (k *kernel) start(ctx *cpu.Context, which, size int) {
	for i := range k.image {
		copy(k.image[i], k.fresh[i])
	}
	ctx.GPR = [16]uint64{}
	ctx.RIP, ctx.RFLAGS = k.entry, 0x202
	ctx.GPR[x86.RSP], ctx.GPR[x86.RDI], ctx.GPR[x86.RSI] = kernelStack, uint64(which), uint64(size)
	ctx.ResetVector()
}

// native runs the program itself and returns RAX.
func (k *kernel) native(ctx *cpu.Context, which, size int) uint64 {
	k.start(ctx, which, size)
	at := k.done &^ (pageSize - 1)
	for _, mem := range k.image {
		if base := addrOf(mem); base <= at && at < base+uint64(len(mem)) {
			j := binary.LittleEndian.AppendUint32([]byte{0x65, 0xff, 0x24, 0x25}, cpu.Slot(cpu.SlotExit))
			copy(mem[k.done-base:], j)
		}
	}
	cpu.Enter(ctx, uintptr(k.entry))
	return ctx.GPR[x86.RAX]
}

var kernels = []struct {
	name string
	size int
}{{"lu", 8}, {"radix", 10}, {"fft", 60}, {"calls", 400000}}

// TestKernels compares the kernels' results, native and translated, in every mode and at several
// slices.
func TestKernels(t *testing.T) {
	k := loadKernel(t)
	for _, mode := range []Mode{Plain, Count, Trace, Log} {
		e, ctx := newEngine(t, Config{Mode: mode})
		for i, row := range kernels {
			size := row.size/10 + 1
			want := k.native(ctx, i, size)
			for _, slice := range []int64{5000, 1 << 40} {
				k.start(ctx, i, size)
				x := runOut(e, ctx, slice)
				if got := ctx.GPR[x86.RAX]; x.Reason != cpu.ExitSyscall || got != want {
					t.Errorf("%s, mode %d: exit %+v at %#x, result %d, want %d", row.name, mode, x, ctx.RIP, got, want)
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func newEngine(t testing.TB, cfg Config) (*Engine, *cpu.Context) {
	t.Helper()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := e.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	return e, ctx
}

// runOut runs ctx in slices until something else than the budget ends one.
func runOut(e *Engine, ctx *cpu.Context, slice int64) cpu.Exit {
	for {
		if x := e.Run(ctx, slice); x.Reason != cpu.ExitBudget && x.Reason != cpu.ExitRepeat {
			return x
		}
	}
}

// BenchmarkKernels measures guest MIPS natively and in the modes.
func BenchmarkKernels(b *testing.B) {
	k := loadKernel(b)
	for i, row := range kernels {
		for _, how := range []string{"native", "plain", "count", "count-5000"} {
			b.Run(row.name+"/"+how, func(b *testing.B) { k.bench(b, i, row.size, how) })
		}
	}
}

func (k *kernel) bench(b *testing.B, which, size int, how string) {
	cfg := Config{Mode: Count}
	if how == "plain" {
		cfg.Mode = Plain
	}
	slice := int64(1 << 40)
	if how == "count-5000" {
		slice = 5000
	}
	e, ctx := newEngine(b, cfg)
	defer e.Close()
	k.start(ctx, which, size)
	runOut(e, ctx, 1<<40)
	insts := e.Retired(ctx)
	b.ResetTimer()
	defer reportMIPS(b, insts*uint64(b.N))()
	for range b.N {
		if how == "native" {
			k.native(ctx, which, size)
			continue
		}
		k.start(ctx, which, size)
		runOut(e, ctx, slice)
	}
}

// reportMIPS starts to measure the thread's processor time, which does not depend on what
// else runs on the host; the function it returns reports.
func reportMIPS(b *testing.B, insts uint64) func() {
	runtime.LockOSThread()
	start := threadTime()
	return func() {
		b.ReportMetric(float64(insts)/(threadTime()-start)/1e6, "MIPS")
		runtime.UnlockOSThread()
	}
}

// threadTime returns the seconds of processor time that the thread has used.
func threadTime() float64 {
	const rusageThread = 1
	var ru syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &ru); err != nil {
		panic(err)
	}
	return float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e9
}

// BenchmarkSwitch measures leaving generated code and coming back.
func BenchmarkSwitch(b *testing.B) {
	m := newMachine(b, Config{Mode: Count}, "1: inc eax; inc ebx; jmp 1b")
	defer reportMIPS(b, uint64(b.N)*3)()
	for range b.N {
		m.Run(m.ctx, 1)
	}
}

// TestEdgeCounts compares edge counts of kernels that ran block by block with those of
// runs through regions, in several slices. They must be equal, and consistent.
func TestEdgeCounts(t *testing.T) {
	k := loadKernel(t)
	e, ctx := newEngine(t, Config{Mode: Count})
	defer e.Close()
	for i, row := range kernels {
		size := row.size/100 + 1
		k.edges(e, ctx, i, row.size, 5000) // until all blocks are split as they must, and hot ones hot
		want := k.edges(e, ctx, i, size, 1)
		for _, slice := range []int64{1 << 40, 77, 5000} {
			got := k.edges(e, ctx, i, size, slice)
			compareEdges(t, fmt.Sprintf("%s in slices of %d", row.name, slice), e, got, want)
		}
		checkVisits(t, e, want)
	}
	if len(e.regions.all) == 0 {
		t.Error("no regions were built")
	}
}

// edges runs a kernel and returns its edge counts.
func (k *kernel) edges(e *Engine, ctx *cpu.Context, which, size int, slice int64) map[EdgeID]uint64 {
	k.start(ctx, which, size)
	runOut(e, ctx, slice)
	got := map[EdgeID]uint64{}
	e.Drain(ctx, func(id EdgeID, n uint64) { got[id] = n })
	return got
}

func compareEdges(t *testing.T, what string, e *Engine, got, want map[EdgeID]uint64) {
	t.Helper()
	for id, n := range want {
		if got[id] != n {
			t.Errorf("%s: edge %d %+v (%+v): %d, want %d", what, id, e.Edges()[id], e.Blocks()[max(0, e.Edges()[id].From)], got[id], n)
		}
	}
	for id, n := range got {
		if _, ok := want[id]; !ok {
			t.Errorf("%s: edge %d %+v: %d, want none", what, id, e.Edges()[id], n)
		}
	}
}

// checkVisits checks that every block but the first is entered as often as it is left.
func checkVisits(t *testing.T, e *Engine, counts map[EdgeID]uint64) {
	t.Helper()
	in, out := map[BlockID]uint64{}, map[BlockID]uint64{}
	for id, n := range counts {
		ed := e.Edges()[id]
		in[ed.To] += n
		if ed.Kind != EdgeReturn {
			out[ed.From] += n
		}
	}
	first := 0
	for b, n := range out {
		if in[b] != n {
			first++
		}
	}
	if first > 1 {
		t.Errorf("%d blocks are not left as often as they are entered", first)
	}
}

// TestRepeatable runs the kernels in two engines: the same blocks, edges and counts in the same
// order.
func TestRepeatable(t *testing.T) {
	k := loadKernel(t)
	type result struct {
		blocks []Block
		edges  []Edge
		counts []uint64
		insts  uint64
	}
	run := func() (r result) {
		e, ctx := newEngine(t, Config{Mode: Count})
		defer e.Close()
		for i, row := range kernels {
			k.start(ctx, i, row.size/50+1)
			runOut(e, ctx, 777)
			e.Drain(ctx, func(id EdgeID, n uint64) { r.counts = append(r.counts, uint64(id), n) })
		}
		r.blocks, r.edges, r.insts = slices.Clone(e.Blocks()), slices.Clone(e.Edges()), e.Retired(ctx)
		return r
	}
	a, b := run(), run()
	if !slices.Equal(a.blocks, b.blocks) || !slices.Equal(a.edges, b.edges) || !slices.Equal(a.counts, b.counts) || a.insts != b.insts {
		t.Errorf("two runs differ: %d and %d instructions, %d and %d edges", a.insts, b.insts, len(a.edges), len(b.edges))
	}
}
