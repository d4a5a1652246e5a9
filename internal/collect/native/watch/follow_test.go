package watch

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
	"lime/internal/x86"
)

// followed is a program whose way is known step by step: the processor's.
type followed struct {
	memory
	regs unix.PtraceRegs
}

// stepped starts a program under ptrace; the caller's goroutine must stay on its thread.
func stepped(t *testing.T, args ...string) *followed {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		testenv.Skip(t, testenv.NoTracing)
	}
	_ = cmd.Wait() // it stands at its first instruction
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return &followed{memory: memory{pid: cmd.Process.Pid}}
}

// next executes one instruction, with all its repetitions; it is false at the end.
func (f *followed) next() bool {
	in, _ := f.instruction(f.regs.Rip)
	for at := f.regs.Rip; ; {
		if !f.step() {
			return false
		}
		if in.Rep == 0 || f.regs.Rip != at {
			return true
		}
	}
}

func (f *followed) step() bool {
	var ws unix.WaitStatus
	if unix.PtraceSingleStep(f.pid) != nil {
		return false
	}
	if _, err := unix.Wait4(f.pid, &ws, unix.WALL, nil); err != nil || !ws.Stopped() {
		return false
	}
	f.code.n = 0
	return unix.PtraceGetRegs(f.pid, &f.regs) == nil
}

// TestFollow: what a thread is thought to do is what the processor does: as long as it is known, the
// way is the same, and so is every register that is known. The programs are compiled with and
// without optimisation.
func TestFollow(t *testing.T) {
	testenv.Tool(t, "gcc")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, option := range []string{"-O0", "-O1", "-O2", "-O3"} {
		program := filepath.Join(t.TempDir(), "program")
		if out, err := exec.Command("gcc", option, "-static", "-o", program, "testdata/ways.c").CombinedOutput(); err != nil {
			t.Fatalf("gcc: %s", out)
		}
		f := stepped(t, program)
		var x *way
		steps, told, branches, open := 0, 0, 0, 0
		for most := 60000; steps < most && f.next(); steps++ {
			if x != nil && x.pc != f.regs.Rip {
				t.Fatalf("%s, step %d: thought to be at %#x, is at %#x", option, steps, x.pc, f.regs.Rip)
			}
			if x == nil || steps%mostLooked == 0 {
				x = newWay(&f.memory, &f.regs)
			}
			for r := range x86.Reg(16) {
				if v := x.reg[r]; v.ok && v.v != general(&f.regs, r) {
					t.Fatalf("%s, step %d, at %#x: register %d is thought to be %#x, is %#x", option, steps, x.pc, r, v.v, general(&f.regs, r))
				} else if v.ok {
					told++
				}
			}
			in, ok := f.instruction(x.pc)
			if in.EndsBlock() {
				branches++
			}
			if !ok || !x.step(&in, false) {
				open, x = open+1, nil
			}
			if in.Special == x86.SpecialCPUID { // there are hypervisors that run it, and the step ends behind the next one
				x = nil
			}
		}
		t.Logf("%s: %d steps, %.1f registers of 16 known, %d of %d branches open", option, steps, float64(told)/float64(steps), open, branches)
		if steps < 20000 || told < 14*steps || open*5 > branches {
			t.Errorf("%s: the test looked at too little", option)
		}
	}
}

// TestFollowLost: what cannot be read is not known, and no way leads there.
func TestFollowLost(t *testing.T) {
	m := memory{pid: os.Getpid()}
	regs := unix.PtraceRegs{Rsp: 8}
	x := newWay(&m, &regs)
	in := x86.Inst{Len: 1, Branch: x86.BranchRet, Opcode: 0xc3}
	if x.step(&in, true) {
		t.Error("a return by a stack that is not there leads somewhere")
	}
}
