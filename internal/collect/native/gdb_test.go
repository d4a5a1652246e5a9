package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
	"lime/internal/unwind"
)

// gdbPrograms run for long, as their distributions or compilers make them.
var gdbPrograms = []struct {
	name    string
	command []string
}{
	{"xz", []string{"xz", "-T2", "-6", "-c", "/dev/zero"}},
	{"pigz", []string{"sh", "-c", "exec pigz -c -p 2 < /dev/urandom > /dev/null"}},
	{"sqlite3", []string{"sqlite3", ":memory:",
		"with recursive n(i) as (select 1 union all select i+1 from n) select count(*), max(hex(i*7919)) from n;"}},
	{"python3", []string{"/usr/bin/python3", "-c",
		"import json\nwhile 1: sorted(json.loads(json.dumps([{'a': i % 97} for i in range(5000)])), key=lambda x: x['a'])"}},
}

// At the same stop lime's unwinder and gdb see the same return addresses, in every thread.
func TestStacksAgreeWithGDB(t *testing.T) {
	testenv.SkipUnlessLong(t)
	testenv.Tool(t, "gdb")
	const stops = 5
	for _, p := range gdbPrograms {
		t.Run(p.name, func(t *testing.T) {
			testenv.Tool(t, p.name)
			cmd := exec.Command(p.command[0], p.command[1:]...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			same, all := 0, 0
			for range stops {
				time.Sleep(60 * time.Millisecond) // any moment will do
				s, n := compareStop(t, cmd.Process.Pid)
				same, all = same+s, all+n
			}
			if all < stops || float64(same) < 0.99*float64(all) {
				t.Errorf("%d of %d stacks agree with gdb's", same, all)
			}
			t.Logf("%d of %d stacks agree with gdb's", same, all)
		})
	}
}

// compareStop stops the process, unwinds all threads, and asks gdb for the same.
func compareStop(t *testing.T, pid int) (same, all int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(pid, unix.SIGCONT) //nolint:errcheck // it is killed next
	waitStopped(t, pid)
	m := newImages(pid)
	defer m.close()
	if err := m.load(); err != nil {
		t.Fatal(err)
	}
	walker := unwind.New(m.unwindImage)
	ours := map[int][]uint64{}
	for _, tid := range threadsOf(pid) {
		regs, err := stoppedRegs(tid)
		if err != nil {
			t.Fatal(err)
		}
		mem := func(addr uint64) (uint64, bool) {
			var b [8]byte
			if peek(pid, addr, b[:]) != 8 {
				return 0, false
			}
			return nativeWord(b), true
		}
		_, _ = walker.Walk(regs, mem, func(pc, _ uint64) bool {
			ours[tid] = append(ours[tid], pc)
			return len(ours[tid]) < deepest
		})
	}
	for tid, theirs := range gdbStacks(t, pid) {
		all++
		if agree(ours[tid], theirs) {
			same++
		} else {
			t.Logf("thread %d:\nlime %x\ngdb  %x", tid, ours[tid], theirs)
		}
	}
	return same, all
}

// agree: gdb ends at main or where it likes; lime goes on to the outermost frame.
func agree(ours, theirs []uint64) bool {
	if len(theirs) == 0 || len(ours) < len(theirs) {
		return false
	}
	for i := range theirs {
		if ours[i] != theirs[i] {
			return false
		}
	}
	return true
}

func nativeWord(b [8]byte) (v uint64) {
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

func waitStopped(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		stopped := true
		for _, tid := range threadsOf(pid) {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, tid))
			stopped = stopped && err == nil && strings.Contains(string(b), ") T ")
		}
		if stopped {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the process does not stop")
}

// stoppedRegs reads a stopped thread's registers through ptrace, and lets go of it again.
func stoppedRegs(tid int) (regs unwind.Regs, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const seize, interrupt = 0x4206, 0x4207 // PTRACE_SEIZE, PTRACE_INTERRUPT
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, seize, uintptr(tid), 0, 0, 0, 0); e != 0 {
		return regs, fmt.Errorf("ptrace thread %d: %w", tid, e)
	}
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, interrupt, uintptr(tid), 0, 0, 0, 0); e != 0 {
		return regs, fmt.Errorf("interrupt thread %d: %w", tid, e)
	}
	if _, err := unix.Wait4(tid, nil, unix.WALL, nil); err != nil {
		return regs, err
	}
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return regs, err
	}
	gpr := [16]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
	return unwind.FromMachine(&gpr, r.Rip), unix.PtraceDetach(tid)
}

// gdbScript prints each thread's PCs, innermost first; frames that gdb makes up (of inlined calls
// and of tail calls) are left out.
const gdbScript = `
import gdb
gdb.execute("set backtrace past-main on")
for t in gdb.selected_inferior().threads():
    t.switch()
    f, pcs = gdb.newest_frame(), []
    while f is not None:
        if f.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            pcs.append("%x" % f.pc())
        f = f.older()
    print("STACK", t.ptid[1] or t.ptid[0], *pcs)
`

// gdbStacks are the threads' PCs as gdb sees them.
func gdbStacks(t *testing.T, pid int) map[int][]uint64 {
	t.Helper()
	script := filepath.Join(t.TempDir(), "stacks.py")
	if err := os.WriteFile(script, []byte(gdbScript), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", strconv.Itoa(pid),
		"-x", script).CombinedOutput()
	stacks := map[int][]uint64{}
	for _, line := range strings.Split(string(out), "\n") {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "STACK" {
			continue
		}
		tid, _ := strconv.Atoi(words[1])
		for _, w := range words[2:] {
			pc, _ := strconv.ParseUint(w, 16, 64)
			stacks[tid] = append(stacks[tid], pc)
		}
	}
	if len(stacks) == 0 {
		t.Fatalf("gdb cannot tell (%v):\n%s", err, out)
	}
	return stacks
}
