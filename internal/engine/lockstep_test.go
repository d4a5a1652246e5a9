package engine

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"lime/internal/cpu"
	"lime/internal/testenv"
	"lime/internal/x86"
)

var lockSteps = flag.Int("steps", usually(25000, 500000), "instructions of each kernel to compare with a native process, one by one")

// tracee is a native process that is stepped with ptrace.
type tracee struct {
	cmd *exec.Cmd
	pid int
}

// startTracee starts the kernels' program and stops it at its entry. The caller has locked its
// thread.
func startTracee(t testing.TB, file string) *tracee {
	t.Helper()
	p := &tracee{cmd: exec.Command(file)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := p.cmd.Start(); err != nil {
		testenv.Skip(t, testenv.NoTracing, err)
	}
	p.pid = p.cmd.Process.Pid
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	p.wait(t)
	return p
}

func (p *tracee) wait(t testing.TB) {
	t.Helper()
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(p.pid, &ws, 0, nil); err != nil {
		t.Fatal(err)
	}
	if !ws.Stopped() || ws.StopSignal() != syscall.SIGTRAP {
		t.Fatalf("the native process: status %#x", ws)
	}
}

func (p *tracee) regs(t testing.TB) syscall.PtraceRegs {
	t.Helper()
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(p.pid, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// begin gives the process the registers with which ctx starts.
func (p *tracee) begin(t testing.TB, ctx *cpu.Context) {
	t.Helper()
	r := p.regs(t)
	for i, reg := range gprsOf(&r) {
		*reg = ctx.GPR[i]
	}
	r.Rip, r.Eflags = ctx.RIP, ctx.RFLAGS
	if err := syscall.PtraceSetRegs(p.pid, &r); err != nil {
		t.Fatal(err)
	}
}

// gprsOf lists the registers in encoding order.
func gprsOf(r *syscall.PtraceRegs) [16]*uint64 {
	return [16]*uint64{&r.Rax, &r.Rcx, &r.Rdx, &r.Rbx, &r.Rsp, &r.Rbp, &r.Rsi, &r.Rdi,
		&r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15}
}

// step executes one instruction; a repeated string instruction is one.
func (p *tracee) step(t *testing.T) uint64 {
	t.Helper()
	before := p.regs(t).Rip
	for {
		if err := syscall.PtraceSingleStep(p.pid); err != nil {
			t.Fatal(err)
		}
		p.wait(t)
		if now := p.regs(t).Rip; now != before {
			return now
		}
	}
}

// vector reads the XSAVE state.
func (p *tracee) vector(t testing.TB) []byte {
	t.Helper()
	const ptraceGetRegSet = 0x4204
	return p.regSet(t, ptraceGetRegSet, make([]byte, 64<<10)) // all: with AMX it is 11 KB, and no less may be set
}

// regSet reads or writes the XSAVE state, and returns as much as there is of it.
func (p *tracee) regSet(t testing.TB, request uintptr, state []byte) []byte {
	t.Helper()
	const ntX86XState = 0x202
	iov := syscall.Iovec{Base: &state[0], Len: uint64(len(state))}
	_, _, e := syscall.Syscall6(syscall.SYS_PTRACE, request, uintptr(p.pid), ntX86XState, uintptr(unsafe.Pointer(&iov)), 0, 0)
	if e != 0 {
		t.Fatalf("vector state of the native process: %v", e)
	}
	return state[:iov.Len]
}

// lockstep runs a kernel in the engine and natively, side by side.
type lockstep struct {
	e     *Engine
	ctx   *cpu.Context
	p     *tracee
	pairs map[[2]uint64]uint64 // (pc, next pc): how often
	pc    uint64
}

// TestLockstep compares every block of the kernels with a native process that is single-stepped:
// registers and flags, now and then vector state, in the end memory and the exact edge counts.
func TestLockstep(t *testing.T) {
	k := loadKernel(t)
	for i, row := range kernels {
		t.Run(row.name, func(t *testing.T) {
			runtime.LockOSThread() // ptrace answers the thread that started the process
			defer runtime.UnlockOSThread()
			e, ctx := newEngine(t, Config{Mode: Count})
			defer e.Close()
			l := &lockstep{e: e, ctx: ctx, p: startTracee(t, k.file), pairs: map[[2]uint64]uint64{}}
			k.start(ctx, i, 1<<20)
			ctx.GPR[x86.RSP] = k.stack
			l.p.begin(t, ctx)
			l.pc = ctx.RIP
			l.run(t, *lockSteps)
			l.edges(t)
			l.memory(t, k)
		})
	}
}

func (l *lockstep) run(t *testing.T, steps int) {
	for n, blocks := 0, 0; n < steps; blocks++ {
		before := l.e.Retired(l.ctx)
		if x := l.e.Run(l.ctx, 1); x.Reason != cpu.ExitBudget {
			t.Fatalf("exit %+v at %#x", x, l.ctx.RIP)
		}
		for range l.e.Retired(l.ctx) - before {
			next := l.p.step(t)
			l.pairs[[2]uint64{l.pc, next}]++
			l.pc = next
			n++
		}
		l.compare(t)
		if blocks%64 == 0 {
			l.compareVector(t)
		}
	}
}

func (l *lockstep) compare(t *testing.T) {
	t.Helper()
	r := l.p.regs(t)
	if r.Rip != l.ctx.RIP {
		t.Fatalf("at %#x, native at %#x", l.ctx.RIP, r.Rip)
	}
	for i, reg := range gprsOf(&r) {
		if *reg != l.ctx.GPR[i] {
			t.Fatalf("before %#x: register %d is %#x, native %#x", r.Rip, i, l.ctx.GPR[i], *reg)
		}
	}
	live := l.e.blocks[r.Rip]
	const status = 0x8d5
	if live != nil && live.live == x86.StatusFlags && (r.Eflags^l.ctx.RFLAGS)&status != 0 {
		t.Fatalf("before %#x: flags %#x, native %#x", r.Rip, l.ctx.RFLAGS, r.Eflags)
	}
}

func (l *lockstep) compareVector(t *testing.T) {
	t.Helper()
	native := l.p.vector(t)
	if native[512]&2 == 0 {
		clear(native[160:416])
	}
	if !bytes.Equal(native[160:416], l.ctx.XSave[160:416]) {
		t.Fatalf("before %#x: SSE registers\n% x, native\n% x", l.ctx.RIP, l.ctx.XSave[160:416], native[160:416])
	}
}

// edges compares the engine's counts with those of the steps.
func (l *lockstep) edges(t *testing.T) {
	t.Helper()
	counts := map[EdgeID]uint64{}
	l.e.Drain(l.ctx, func(id EdgeID, n uint64) { counts[id] += n })
	edgesAsStepped(t, l.e, counts, l.pairs)
}

// edgesAsStepped holds the counts of edges to steps, from which instruction to which: what a call's
// block counts as its return, or nobody's, are the returns to where it leads.
func edgesAsStepped(t *testing.T, e *Engine, counts map[EdgeID]uint64, pairs map[[2]uint64]uint64) {
	t.Helper()
	blocks := e.Blocks()
	gone, left, returned := map[[2]uint64]uint64{}, map[uint64]uint64{}, map[uint64]uint64{}
	for id, n := range counts {
		switch d := e.Edges()[id]; d.Kind {
		case EdgeEnd:
			left[blocks[d.From].LastPC] += n
		case EdgeReturn, EdgeOdd:
			returned[d.Target] += n
		default:
			gone[[2]uint64{blocks[d.From].LastPC, d.Target}] += n
		}
	}
	stepped, ended, came := map[[2]uint64]uint64{}, map[uint64]uint64{}, map[uint64]uint64{}
	for pair, n := range pairs {
		switch branch := branchAt(pair[0]); {
		case branch == x86.BranchRet:
			ended[pair[0]] += n
			came[pair[1]] += n
		case branch != x86.BranchNone || gone[pair] > 0:
			stepped[pair] = n
		}
	}
	if !maps.Equal(gone, stepped) {
		t.Errorf("from and to: counted, stepped\n%s", unlike(gone, stepped))
	}
	if !maps.Equal(left, ended) {
		t.Errorf("returns from: counted, stepped\n%s", unlike(left, ended))
	}
	if !maps.Equal(returned, came) {
		t.Errorf("returns to: counted, stepped\n%s", unlike(returned, came))
	}
}

// unlike lists what two counts differ in.
func unlike[K uint64 | [2]uint64](got, want map[K]uint64) string {
	var w strings.Builder
	for k, n := range got {
		if want[k] != n {
			fmt.Fprintf(&w, "%#x: %d, %d\n", k, n, want[k])
		}
	}
	for k, n := range want {
		if _, ok := got[k]; !ok {
			fmt.Fprintf(&w, "%#x: none, %d\n", k, n)
		}
	}
	return w.String()
}

func branchAt(pc uint64) x86.Branch {
	var in x86.Inst
	if x86.Decode(bytesAt(pc, 15), &in) != nil {
		return x86.BranchNone
	}
	return in.Branch
}

// memory compares the program's memory.
func (l *lockstep) memory(t *testing.T, k *kernel) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", l.p.pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, mem := range k.used {
		native := make([]byte, len(mem))
		base := addrOf(mem)
		if _, err := f.ReadAt(native, int64(base)); err != nil {
			t.Fatalf("memory at %#x: %v", base, err)
		}
		if j := firstDifference(mem, native); j >= 0 {
			t.Errorf("memory at %#x (segment %d): %#x, native %#x", base+uint64(j), i, mem[j], native[j])
		}
	}
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
