package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

// refused runs a shell's command, in which LIME is lime, and checks that lime says what is the
// matter and ends with a status.
func refused(t *testing.T, attr *syscall.SysProcAttr, script string, status int, words string) {
	t.Helper()
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.SysProcAttr = t.TempDir(), attr
	cmd.Env = append(os.Environ(), "LIME="+lime)
	if attr != nil && attr.Credential != nil {
		for _, dir := range []string{filepath.Dir(lime), cmd.Dir} {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	if attr != nil && errors.Is(err, syscall.EINVAL) {
		testenv.Skip(t, testenv.InChroot, err)
	}
	if errors.Is(err, syscall.EPERM) {
		testenv.Skip(t, testenv.NoMount, err)
	}
	got := stderr.String()
	if cmd.ProcessState.ExitCode() != status || !strings.Contains(got, words) || strings.Count(got, "\n") != 1 {
		t.Errorf("%s: status %v, %s; want %d, %q on one line", script, cmd.ProcessState, got, status, words)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "lime.data")); err == nil {
		t.Errorf("%s: an empty profile is left", script)
	}
}

// A limit on the address space is named, at once.
func TestAddressSpaceIsTooSmall(t *testing.T) {
	for _, kilobytes := range []int{100_000, 700_000, 1_500_000} {
		refused(t, nil, fmt.Sprintf(`ulimit -v %d && exec $LIME record -- true`, kilobytes), 125, "ulimit -v")
	}
}

// Without /proc nothing can be recorded.
func TestWithoutProc(t *testing.T) {
	for _, what := range []string{"-- true", "-p 1"} {
		refused(t, &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS},
			`mount -t tmpfs none /proc && exec $LIME record `+what, 125, "/proc: not mounted")
	}
}

// Where there is no directory, the profile needs a place, and nothing else does.
func TestWithoutDirectory(t *testing.T) {
	refused(t, nil, `mkdir gone && cd gone && rmdir ../gone && exec $LIME record -- true`, 125, "-o")
	dir := t.TempDir()
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `mkdir gone && cd gone && rmdir ../gone && exec "$0" record -o "$1" -- false`,
		lime, filepath.Join(dir, "file"))
	cmd.Dir = dir
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 || len(out) > 0 {
		t.Errorf("with a place for the profile: %v, %s", cmd.ProcessState, out)
	}
}

// A process that is no program, or not the whole of one, is refused at once.
func TestProcessThatCannotBeRecorded(t *testing.T) {
	t.Run("kernel", func(t *testing.T) {
		if link, err := os.Readlink("/proc/2/exe"); err == nil {
			testenv.Skip(t, testenv.NoKernelThreads, link)
		}
		if b, err := os.ReadFile("/proc/2/cmdline"); err != nil || len(b) > 0 {
			testenv.Skip(t, testenv.NoKernelThreads)
		}
		refused(t, nil, `exec $LIME record -p 2`, 125, "a thread of the kernel's")
	})
	t.Run("ended", func(t *testing.T) {
		cmd := exec.Command("true")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		refused(t, nil, fmt.Sprintf(`exec $LIME record -p %d`, cmd.Process.Pid), 125, "it has ended")
		_ = cmd.Wait()
		refused(t, nil, fmt.Sprintf(`exec $LIME record -p %d`, cmd.Process.Pid), 127, "no such process")
	})
	t.Run("thread", func(t *testing.T) {
		tid, done := make(chan int), make(chan bool)
		go func() {
			runtime.LockOSThread()
			tid <- unix.Gettid()
			<-done
		}()
		go func() { // one of the two is not the first thread
			runtime.LockOSThread()
			tid <- unix.Gettid()
			<-done
		}()
		one, other := <-tid, <-tid
		refused(t, nil, fmt.Sprintf(`exec $LIME record -p %d`, max(one, other)), 125, fmt.Sprintf("a thread of process %d", os.Getpid()))
		close(done)
	})
}

// A program with rights of its own is refused for those who would take them away by tracing it, and
// recorded by those who do not.
func TestRightsOfTheProgram(t *testing.T) {
	if os.Geteuid() != 0 {
		testenv.Skip(t, testenv.NotRoot)
	}
	path := program(t, `#include <unistd.h>
int main(void) { return geteuid() == 1 ? 7 : 8; }`)
	if err := errors.Join(os.Chown(path, 1, 1), os.Chmod(path, 0o755|os.ModeSetuid),
		os.Chmod(filepath.Dir(path), 0o755), os.Chmod(filepath.Dir(filepath.Dir(path)), 0o755)); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := run(t, t.TempDir(), "", "record", "--", path); code != 7 {
		t.Errorf("by root: status %d, %s; want 7", code, stderr)
	}
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	refused(t, nobody, `exec $LIME record -- `+path, 126, "set-user-ID")
	owner := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1, Gid: 1}}
	allowed := exec.Command("sh", "-c", `"$0" record -- "$1"`, mustBuilt(t), path)
	allowed.SysProcAttr, allowed.Dir = owner, t.TempDir()
	if err := os.Chmod(allowed.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, _ := allowed.CombinedOutput(); allowed.ProcessState.ExitCode() != 7 {
		t.Errorf("by its owner: %v, %s; want status 7", allowed.ProcessState, out)
	}
}

func mustBuilt(t *testing.T) string {
	t.Helper()
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return lime
}
