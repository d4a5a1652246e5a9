package engine

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"lime/internal/cpu"
	"lime/internal/testenv"
	"lime/internal/x86"
)

// Random programs of functions, run natively and by the engine: registers, flags, vector state,
// memory, faults; and, held to native single-steps, how many instructions were executed and how
// often control went where.

// host is a native process with the places of random programs in it, stepped and at full speed.
type host struct {
	*tracee
	mem   *os.File
	known map[string]bool // encodings tried: whether the processor takes them
}

// hostSource has sections where the programs' code, data, control and stack belong.
const hostSource = `.globl _start
.section .prog,"ax"
_start: nop
.fill 0x10000 - 1
.section .data0,"aw"
.fill 0x4000
.section .data1,"aw"
.fill 0x1000
.section .data2,"aw"
.fill 0x4000
`

const (
	stackSize   = 0x4000
	controlSize = pageSize
)

func startHost(t testing.TB) *host {
	t.Helper()
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "host.s"), filepath.Join(dir, "host")
	if err := os.WriteFile(src, []byte(hostSource), 0o600); err != nil {
		t.Fatal(err)
	}
	tool(t, "gcc", "-nostdlib", "-static", "-Wl,--build-id=none", fmt.Sprintf("-Wl,--section-start=.prog=%#x", seqCode),
		fmt.Sprintf("-Wl,--section-start=.data0=%#x", seqData), fmt.Sprintf("-Wl,--section-start=.data1=%#x", progControl),
		fmt.Sprintf("-Wl,--section-start=.data2=%#x", progStack), "-o", bin, src)
	h := &host{tracee: startTracee(t, bin), known: map[string]bool{}}
	var err error
	if h.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", h.pid), os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.mem.Close() })
	return h
}

// set writes memory of the process.
func (h *host) set(t testing.TB, at int64, b []byte) {
	t.Helper()
	if _, err := h.mem.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

// put gives the process the registers of a context, vectors included.
func (h *host) put(t testing.TB, ctx *cpu.Context) {
	t.Helper()
	h.begin(t, ctx)
	state := h.vector(t)
	copy(state[:416], ctx.XSave[:416])
	copy(state[512:520], ctx.XSave[512:520])
	copy(state[576:], ctx.XSave[576:])
	const ptraceSetRegSet = 0x4205
	h.regSet(t, ptraceSetRegSet, state)
}

// takes tells whether the processor knows an instruction.
func (h *host) takes(t testing.TB, code []byte) bool {
	var in x86.Inst
	if x86.Decode(code, &in) != nil {
		return false
	}
	key := fmt.Sprint(in.Enc, in.Map, in.Opcode, code[:in.OpcodeOff], in.ModRM&0x38, in.HasMem)
	ok, known := h.known[key]
	if !known {
		h.set(t, seqCode, code)
		r := h.regs(t)
		r.Rip = seqCode
		if err := syscall.PtraceSetRegs(h.pid, &r); err != nil {
			t.Fatal(err)
		}
		ok = h.move(t, syscall.PTRACE_SINGLESTEP) != syscall.SIGILL
		h.known[key] = ok
	}
	return ok
}

// move steps the process or lets it run, and returns what it stopped for.
func (h *host) move(t testing.TB, how uintptr) syscall.Signal {
	t.Helper()
	if _, _, e := syscall.Syscall6(syscall.SYS_PTRACE, how, uintptr(h.pid), 0, 0, 0, 0); e != 0 {
		t.Fatal(e)
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(h.pid, &ws, 0, nil); err != nil || !ws.Stopped() {
		t.Fatalf("the native process: status %#x, %v", ws, err)
	}
	return ws.StopSignal()
}

// walked is what a program did natively, instruction by instruction.
type walked struct {
	pairs  map[[2]uint64]uint64 // from which instruction to which
	insts  uint64
	signal syscall.Signal
	regs   syscall.PtraceRegs
	mem    []byte
}

// walk steps a program to its end, or to its fault.
func (h *host) walk(t testing.TB, p *program, d *differ) *walked {
	t.Helper()
	h.set(t, seqCode, append(bytes.Clone(p.code), 0xcc))
	h.set(t, seqData, d.init)
	for _, a := range d.also {
		h.set(t, int64(addrOf(a.mem)), a.init)
	}
	h.put(t, &d.start)
	w := &walked{pairs: map[[2]uint64]uint64{}, mem: make([]byte, seqMem)}
	for pc := uint64(seqCode); pc != uint64(p.here()); {
		sig := h.move(t, syscall.PTRACE_SINGLESTEP)
		now := h.regs(t).Rip
		if sig != syscall.SIGTRAP {
			w.signal = sig
			break
		}
		if now == pc && repeats(pc) {
			continue
		}
		w.pairs[[2]uint64{pc, now}]++
		if w.insts++; w.insts > 20*longest {
			t.Fatalf("%d instructions: the program does not end\n% x", w.insts, p.code)
		}
		pc = now
	}
	if w.signal == 0 { // the system call that ends it for the engine
		w.insts++
		w.pairs[[2]uint64{uint64(p.here()), uint64(p.here()) + 2}]++
	}
	w.regs = h.regs(t)
	if _, err := h.mem.ReadAt(w.mem, seqData); err != nil {
		t.Fatal(err)
	}
	return w
}

// repeats tells whether an instruction of a program is a repeated string instruction.
func repeats(pc uint64) bool {
	var in x86.Inst
	return x86.Decode(bytesAt(pc, 15), &in) == nil && in.Rep != 0
}

// ended holds what was stepped to what the program left behind when it ran at full speed.
func (w *walked) ended(t testing.TB, want *state) {
	t.Helper()
	for i, r := range gprsOf(&w.regs) {
		if *r != want.gpr[i] {
			t.Errorf("register %d stepped %#x, run %#x", i, *r, want.gpr[i])
		}
	}
	if w.regs.Rip != want.rip || uint64(w.signal) != want.signal || w.regs.Eflags&0xcd5 != want.flags {
		t.Errorf("stepped to %#x, flags %#x, signal %d; run to %#x, flags %#x, signal %d",
			w.regs.Rip, w.regs.Eflags&0xcd5, w.signal, want.rip, want.flags, want.signal)
	}
	if i := firstDifference(w.mem, want.mem); i >= 0 {
		t.Errorf("memory at %#x stepped %#x, run %#x", i, w.mem[i], want.mem[i])
	}
}

// functionTest runs programs.
type functionTest struct {
	*differ
	host *host
	cfg  Config
}

func newFunctionTest(t testing.TB) *functionTest {
	f := &functionTest{differ: &differ{init: make([]byte, seqMem)}, host: startHost(t)}
	f.code = mapGuest(t, seqCode, seqSize, nil)
	f.mem = mapGuest(t, seqData, seqMem, nil)
	f.also = []stretch{
		{mapGuest(t, progControl, controlSize, nil), make([]byte, controlSize)},
		{mapGuest(t, progStack, stackSize, nil), make([]byte, stackSize)},
	}
	return f
}

// check makes a program of r and runs it.
func (f *functionTest) check(t *testing.T, i int, r *rand.Rand) (w *walked) {
	p := randomProgram(r, f.cfg.AllHostFeatures, func(code []byte) bool { return f.host.takes(t, code) })
	f.randomState(r)
	f.start.GPR[x86.RSP] = progStack + stackSize
	copy(f.differ.code, p.code)
	for k, v := range p.control {
		binary.LittleEndian.PutUint64(f.also[0].init[8*k:], v)
	}
	want := f.native(len(p.code))
	w = f.host.walk(t, p, f.differ)
	w.ended(t, &want)
	for _, slice := range []int64{1 << 30, 1, 13, 1 << 30} { // hot code is in regions in the end
		f.differ.check(t, i, p.code, &want, slice)
		if f.insts != w.insts {
			t.Errorf("slices of %d: %d instructions, %d natively", slice, f.insts, w.insts)
		}
	}
	if f.cfg.Mode == Count {
		edgesAsStepped(t, f.e, f.edges, w.pairs)
	}
	if t.Failed() {
		t.Logf("% x", p.code)
	}
	f.e.Invalidate(seqCode, seqCode+seqSize)
	return w
}

var randomPrograms = flag.Int("programs", usually(200, 20000),
	"random programs of functions to run natively, stepped and translated")

// TestRandomFunctions runs random programs in all modes.
func TestRandomFunctions(t *testing.T) {
	runtime.LockOSThread() // ptrace answers the thread that started the process
	defer runtime.UnlockOSThread()
	f := newFunctionTest(t)
	for _, f.cfg = range []Config{
		{Mode: Plain}, {Mode: Count}, {Mode: Count, AllHostFeatures: true}, {Mode: Trace}, {Mode: Log},
	} {
		done := f.open(t, f.cfg)
		f.e.sawX87() // before the native run needs it
		r := rand.New(rand.NewPCG(*randomSeed, 7))
		insts, faults := uint64(0), 0
		for i := range *randomPrograms / 5 {
			w := f.check(t, i, r)
			if insts += w.insts; w.signal != 0 {
				faults++
			}
			if t.Failed() {
				t.Fatalf("program %d, %+v", i, f.cfg)
			}
		}
		done()
		t.Logf("mode %d: %d programs, %d instructions, %d faults; %d encodings tried",
			f.cfg.Mode, *randomPrograms/5, insts, faults, len(f.host.known))
	}
}

// choices are the random numbers of a fuzzer's input: two bytes each, then those of a generator.
type choices struct {
	data []byte
	then *rand.PCG
}

// Uint64 implements rand.Source. Choices among few look at the upper bits.
func (c *choices) Uint64() uint64 {
	v := c.then.Uint64()
	if len(c.data) >= 2 {
		v = v>>16 | uint64(c.data[0])<<56 | uint64(c.data[1])<<48
		c.data = c.data[2:]
	}
	return v
}

// FuzzRandomFunctions takes its input for the choices that make a program. (What a program covers
// differs from run to run; -fuzzminimizetime 1x keeps the fuzzer from spending its time on that.)
func FuzzRandomFunctions(f *testing.F) {
	for seed := range uint64(4) {
		r, data := rand.New(rand.NewPCG(seed, 8)), make([]byte, 400)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		test := newFunctionTest(t)
		test.cfg = Config{Mode: Count}
		defer test.open(t, test.cfg)()
		test.e.sawX87()
		test.check(t, 0, rand.New(&choices{data, rand.NewPCG(1, 2)}))
	})
}
