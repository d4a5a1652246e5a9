package sim_test

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lime/internal/profile"
)

// counting makes the command that runs a program with its threads in parallel. If the program ends
// by itself, the profile's parts must be as long as what is told of them.
func counting(t *testing.T, flags []string, args ...string) (cmd *exec.Cmd, path string) {
	t.Helper()
	cmd, path = countingSignals(t, flags, args...)
	t.Cleanup(func() { asLongAsTold(t, path) })
	return cmd, path
}

// countingSignals is the same for a program whose threads wait for signals: what their handlers do
// then is in the idle time.
func countingSignals(t *testing.T, flags []string, args ...string) (cmd *exec.Cmd, path string) {
	t.Helper()
	bin, err := lime()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "lime.data")
	cmd = exec.Command(bin, append(append([]string{"count", "-o", path}, flags...), append([]string{"--"}, args...)...)...)
	return cmd, path
}

// TestCountEnds ends programs whose threads run in parallel in all ways: the status is the
// program's, the profile says how it ended, and every part that had been finished is there.
func TestCountEnds(t *testing.T) {
	prog := compile(t, "beside.c", "gcc -O1 -g -pthread -o OUT SRC")
	for _, c := range []struct {
		name   string
		args   []string
		flags  []string
		status int
		state  string
		says   string
		least  int // parts at the barrier
	}{
		{"well", []string{"well", "4"}, nil, 0, "exited", "", 40},
		{"many threads", []string{"well", "300"}, nil, 0, "exited", "", 3000},
		{"in a thread", []string{"exit", "4"}, nil, 7, "exited", "", 20},
		{"abort", []string{"abort", "4"}, nil, 134, "signalled", "SIGABRT", 20},
		{"fault", []string{"fault", "4"}, nil, 139, "signalled", "address 0x8", 20},
		{"deadlock", []string{"stuck", "4"}, nil, 125, "deadlock", "pthread_barrier_wait", 0},
		{"replaced", []string{"replace", "4"}, nil, 5, "exited", "", 0},
		{"well, before the time is over", []string{"well", "4"}, []string{"--for", "1h"}, 0, "exited", "", 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd, path := counting(t, c.flags, append([]string{prog}, c.args...)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err := cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.status {
				t.Errorf("status %d, want %d: %s", got, c.status, &stderr)
			}
			if !strings.Contains(stderr.String(), c.says) {
				t.Errorf("said %q, want %q", &stderr, c.says)
			}
			state, parts := barrierParts(t, path)
			if state != c.state {
				t.Errorf("the profile says %q, want %q", state, c.state)
			}
			if parts < c.least {
				t.Errorf("%d parts at the barrier, want %d", parts, c.least)
			}
		})
	}
}

// barrierParts opens a profile, which must be valid, and counts the parts that ended at barriers.
func barrierParts(t *testing.T, path string) (state string, parts int) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := profile.Validate(p); err != nil {
		t.Error(err)
	}
	for id, s := range p.Tables().Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Kind == profile.SectionBarrier {
				parts += len(in.Parts)
			}
		}
	}
	return p.Meta().EndState, parts
}

// TestCountInterrupted sends signals to lime while the program runs: a profile is there each time.
func TestCountInterrupted(t *testing.T) {
	prog := compile(t, "beside.c", "gcc -O1 -g -pthread -o OUT SRC")
	for _, c := range []struct {
		sig   syscall.Signal
		state string
	}{
		{syscall.SIGINT, "interrupted"}, {syscall.SIGTERM, "interrupted"}, {syscall.SIGKILL, "running"},
	} {
		t.Run(c.sig.String(), func(t *testing.T) {
			t.Parallel()
			cmd, path := counting(t, nil, prog, "well", "4", "100000000")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
				t.Fatal(line, err)
			}
			to := cmd.Process.Pid
			if c.sig == syscall.SIGINT { // as a terminal does
				to = -to
			}
			if err := syscall.Kill(to, c.sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if state, _ := barrierParts(t, path); state != c.state {
				t.Errorf("the profile says %q, want %q", state, c.state)
			}
		})
	}
}

// TestCountRests has threads in all kinds of waits that the host or the clock ends, with signals in
// between: each ends, and none too early.
func TestCountRests(t *testing.T) {
	prog := compile(t, "rest.c", "gcc -O1 -g -pthread -o OUT SRC")
	for _, threads := range []string{"1", "8", "100"} {
		t.Run(threads, func(t *testing.T) {
			t.Parallel()
			cmd, path := countingSignals(t, nil, prog, threads, "40")
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "round\n" {
				t.Errorf("%v: %s", err, out)
			}
			if state, _ := barrierParts(t, path); state != "exited" {
				t.Errorf("the profile says %q", state)
			}
		})
	}
}

// TestCountKilled kills lime at moments from its start on: no process of its is left, and what
// there is of a profile opens.
func TestCountKilled(t *testing.T) {
	kills := 8
	if os.Getenv("LIME_LONG") != "" {
		kills = 200
	}
	if n, err := strconv.Atoi(os.Getenv("LIME_RUNS")); err == nil && n >= 8 {
		kills = n
	}
	prog := compile(t, "beside.c", "gcc -O1 -g -pthread -o OUT SRC")
	for n := range kills {
		cmd, path := counting(t, nil, prog, "well", "8", "100000000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		group := cmd.Process.Pid
		time.Sleep(time.Duration(n*n) * 5 * time.Millisecond / time.Duration(kills/8))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for range 1000 { // the kernel ends the child when it comes to it
			if syscall.Kill(-group, 0) == syscall.ESRCH {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := syscall.Kill(-group, 0); err != syscall.ESRCH {
			t.Fatalf("kill %d: the program runs on: %v", n, err)
		}
		if _, err := os.Stat(path); err == nil {
			if state, _ := barrierParts(t, path); state != "running" {
				t.Errorf("kill %d: the profile says %q", n, state)
			}
		}
	}
}
