package watch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/perf"
	"lime/internal/testenv"
	"lime/internal/waste"
)

// A signal for which a thread stands when the tracer lets go of it comes to the program all the same,
// but for the one that wakes the tracer.
func TestStopLosesNoSignal(t *testing.T) {
	testenv.Tool(t, "gcc")
	program := filepath.Join(t.TempDir(), "counts")
	if out, err := exec.Command("gcc", "-static", "-o", program, "testdata/counts.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	for _, c := range []struct {
		sends unix.Signal
		want  string
	}{{0, "0 0 0"}, {unix.SIGUSR1, "0 1 0"}, {unix.SIGUSR2, "0 0 1"}} {
		if got := stoppedAt(t, program, c.sends); got != c.want {
			t.Errorf("of %v the program got %s, not %s", c.sends, got, c.want)
		}
	}
}

// stoppedAt stops a tracer when a program of one thread stands for a signal, for the tracer's own if it
// is none, and returns which signals came to the program.
func stoppedAt(t *testing.T, program string, sends unix.Signal) string {
	cmd := exec.Command(program)
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pid, out := cmd.Process.Pid, bufio.NewReader(pipe)
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	_, _ = out.ReadString('\n')
	tr, over := New(pid, &silent{}, Options{Kinds: waste.Of(waste.DeadStore), Period: time.Hour, Budget: 0.01}), make(chan error, 1)
	go func() {
		_, err := tr.Run()
		over <- err
	}()
	for !traced(pid) {
		select {
		case <-over:
			testenv.Skip(t, testenv.NoTracing)
		case <-time.After(time.Millisecond):
		}
	}
	if sends == 0 {
		tr.Stop()
	} else { // nothing else stops the program
		close(tr.stop)
		_ = unix.Kill(pid, sends)
	}
	<-over // where the clock cannot be had, it says so
	_ = unix.Kill(pid, unix.SIGTERM)
	text, _ := out.ReadString('\n')
	return strings.TrimSpace(text)
}

// traced reports whether a process is traced by now.
func traced(pid int) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "\nTracerPid:\t")
	return rest != "" && !strings.HasPrefix(rest, "0\n")
}

// silent is a host that is told of waste and asks nobody.
type silent struct {
	Host
	tids []int
}

func (s *silent) Wasted(tid int, _ waste.Kind, _ Place, _ uint64) { s.tids = append(s.tids, tid) }

// Threads that have one id after another are told apart, and to the host by that id.
func TestIDsAreUsedAgain(t *testing.T) {
	const tid = 1 << 30 // no thread's
	host := &silent{}
	tr := New(os.Getpid(), host, Options{Kinds: waste.Of(waste.DeadStore), Period: time.Hour, Budget: 0.01})
	for n := range 3 {
		tr.add(tid)
		for range n + 1 {
			tr.conclude(&point{owner: tid, access: access{bytes: 8}, ticks: 1}, []verdict{{waste.DeadStore, 1}}, func() Place { return 1 })
		}
		tr.gone(tid)
	}
	got := tr.sums.result(waste.Of(waste.DeadStore))
	if len(got.Pairs) != 3 || len(got.Threads) != 3 || len(tr.lives) != 3 || len(host.tids) != 6 || host.tids[5] != tid {
		t.Errorf("%d pairs, %d threads, %d lives; the host has heard of %v", len(got.Pairs), len(got.Threads), len(tr.lives), host.tids)
	}
	for life, thread := range got.Threads {
		if thread[waste.DeadStore].Decisions != int(life)+1 {
			t.Errorf("life %d: %+v", life, thread[waste.DeadStore])
		}
	}
}

// Where it is said that memory can be watched, a thread stops where a debug register says. A virtual
// machine may hand out registers that lead to nothing.
func TestSupportedTraps(t *testing.T) {
	if err := Supported(); err != nil {
		if !strings.Contains(err.Error(), "watch") && !strings.Contains(err.Error(), "clock") {
			t.Errorf("nobody can tell what is missing: %v", err)
		}
		testenv.Skip(t, testenv.NoWatching, err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := stepped(t, "/bin/true")
	var ws unix.WaitStatus
	err := unix.PtraceGetRegs(f.pid, &f.regs)
	if err == nil {
		_, err = perf.OpenBreak(f.pid, f.regs.Rip, breakData)
	}
	if err == nil {
		err = unix.PtraceCont(f.pid, 0)
	}
	if err == nil {
		_, err = unix.Wait4(f.pid, &ws, 0, nil)
	}
	if err != nil || !ws.Stopped() || ws.StopSignal() != unix.SIGTRAP {
		t.Errorf("the program did not stop at the first of its instructions: %v, status %#x", err, ws)
	}
}
