package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

// buildVictim compiles one of the programs.
func buildVictim(t *testing.T, i int) string {
	t.Helper()
	v := victims[i]
	if v.build[0] != "go" {
		testenv.Tool(t, v.build[0])
	}
	if slices.Contains(v.build, "-static") {
		testenv.Tool(t, "gcc-static")
	}
	out := filepath.Join(t.TempDir(), "v")
	cmd := exec.Command(v.build[0], append(v.build[1:], "-o", out, filepath.Join("testdata/victims", v.file))...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", v.name, err, msg)
	}
	return out
}

// victim is a program that runs.
type victim struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout io.Reader
	stderr bytes.Buffer
}

// startVictim starts a program; a young one is stopped at its first instruction, as a shell stops
// it, and has not said anything.
func startVictim(t *testing.T, path string, young bool) *victim {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	v := &victim{cmd: exec.Command(path)}
	v.cmd.Stderr, v.cmd.SysProcAttr = &v.stderr, &syscall.SysProcAttr{Ptrace: young}
	stdin, err1 := v.cmd.StdinPipe()
	stdout, err2 := v.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, v.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	v.stdin, v.stdout = stdin, stdout
	if young {
		var ws unix.WaitStatus
		_, err1 := unix.Wait4(v.cmd.Process.Pid, &ws, 0, nil)
		_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(v.cmd.Process.Pid), 0, uintptr(unix.SIGSTOP), 0, 0)
		_, err2 := unix.Wait4(v.cmd.Process.Pid, &ws, unix.WUNTRACED, nil)
		if err1 != nil || err2 != nil || e != 0 || !ws.Stopped() {
			t.Fatalf("stop the program: %v, %v, %v, %v", err1, e, err2, ws)
		}
	} else if err := v.begun(); err != nil {
		t.Fatal(err)
	}
	return v
}

// begun waits for the program to say that it has begun.
func (v *victim) begun() error {
	if _, err := io.ReadFull(v.stdout, make([]byte, 1)); err != nil {
		return fmt.Errorf("the program does not begin: %w", err)
	}
	return nil
}

// end lets the program end, and says what is wrong with how it did.
func (v *victim) end() error {
	v.stdin.Close()
	said, err := io.ReadAll(v.stdout)
	_ = v.cmd.Wait() // the status says it all
	if string(said) != "done" || v.cmd.ProcessState.ExitCode() != 7 || v.stderr.Len() > 0 {
		return fmt.Errorf("it said %q, and ended with %v, want status 7\n%s", said, v.cmd.ProcessState, v.stderr.Bytes())
	}
	return err
}

const dieEnv = "LIME_TEST_DIE"

// Whenever lime is killed while it puts hooks into a process that runs, or takes them out again,
// that process goes on and ends as it does alone.
func TestKilledWhileAttaching(t *testing.T) {
	if at := os.Getenv(dieEnv); at != "" {
		var pid, step int
		if _, err := fmt.Sscanf(at, "%d %d", &pid, &step); err != nil {
			t.Fatal(err)
		}
		dieWhileAttaching(t, pid, step)
		return
	}
	for i, v := range victims {
		if v.build[0] != "gcc" && os.Getenv("LIME_LONG") == "" {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			path := buildVictim(t, i)
			for _, young := range []bool{false, true} {
				step := 1
				for !killedAt(t, path, step, young) && !t.Failed() {
					step++
				}
				t.Logf("young %t: killed before each of %d operations", young, step-1)
			}
			killedAgain(t, path)
		})
	}
}

// killedAt attaches to a new process of the program and is killed before an operation. It reports
// whether it did all of them.
func killedAt(t *testing.T, path string, step int, young bool) (over bool) {
	t.Helper()
	v := startVictim(t, path, young)
	over = attachAndDie(t, v, step)
	var err error
	if young {
		err = errors.Join(v.cmd.Process.Signal(syscall.SIGCONT), v.begun())
	}
	if err := errors.Join(err, v.end()); err != nil {
		t.Errorf("killed before operation %d: %v", step, err)
	}
	return over
}

// killedAgain attaches to one process again and again, and is killed each time, before another
// operation. What it was killed in stays there, so that there may be no room left for a further
// attempt, which then leaves the process alone.
func killedAgain(t *testing.T, path string) {
	t.Helper()
	v := startVictim(t, path, false)
	step := 1
	for !attachAndDie(t, v, step) && !t.Failed() {
		step++
	}
	if err := v.end(); err != nil {
		t.Errorf("killed again and again, %d times: %v", step-1, err)
	}
	t.Logf("killed %d times in one process", step-1)
}

// attachAndDie has another process attach to a program and be killed before an operation. It
// reports whether that did all of them.
func attachAndDie(t *testing.T, v *victim, step int) (over bool) {
	t.Helper()
	tracer := exec.Command(os.Args[0], "-test.run=^TestKilledWhileAttaching$")
	tracer.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", dieEnv, v.cmd.Process.Pid, step))
	said, err := tracer.CombinedOutput()
	ws, _ := tracer.ProcessState.Sys().(syscall.WaitStatus)
	if err != nil && ws.Signal() != syscall.SIGKILL && !strings.Contains(string(said), errNoRoom.Error()) &&
		!strings.Contains(string(said), "no room for the hooks") {
		t.Errorf("operation %d: %v\n%s", step, err, said)
	}
	if strings.Contains(string(said), "--- SKIP") {
		testenv.Skip(t, testenv.NoTracing, string(said))
	}
	return ws.Exited()
}

// dieWhileAttaching puts hooks into a process and takes them out again, and kills itself before one
// of the operations.
func dieWhileAttaching(t *testing.T, pid, step int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	die := func() {
		if step--; step == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	ring, err := NewRing()
	if err != nil {
		t.Fatal(err)
	}
	var in *Installed
	for _, do := range []func(*Tracee) error{
		func(tr *Tracee) error {
			started, err := tr.Started(victimFuncs)
			if err == nil && !started {
				err = tr.RunToEntry()
			}
			if err == nil {
				in, err = Install(tr, ring, victimFuncs)
			}
			return err
		},
		func(tr *Tracee) error { return in.Remove(tr) },
	} {
		tr, err := seizeBy(pid, die)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(do(tr), tr.Detach()); err != nil {
			t.Fatal(err)
		}
	}
	if len(in.Hooked) == 0 {
		t.Error("nothing was hooked")
	}
}

// victimFuncs are functions of every kind.
var victimFuncs = []Func{
	{Name: "pthread_barrier_wait", Return: true},
	{Name: "pthread_create", Return: true, Fetch: true},
	{Name: "pthread_join", Return: true, StackArgs: 64},
	{Name: "pthread_mutex_lock", Slow: 3000, Inner: true},
	{Name: "pthread_mutex_unlock", Contended: true, Inner: true},
	{Name: "pthread_cond_wait", Slow: 3000},
	{Name: "syscall", Only: 202, Return: true},
	{Name: "runtime.execute", Go: &GoCall{}},
	{Name: "runtime.schedule", Go: &GoCall{}},
	{Name: "runtime.gopark", Go: &GoCall{Frames: true}},
	{Name: "runtime.ready", Go: &GoCall{}},
	{Name: "runtime.goexit1", Go: &GoCall{}},
	{Name: "sync.(*WaitGroup).Wait", Go: &GoCall{Frames: true}},
}
