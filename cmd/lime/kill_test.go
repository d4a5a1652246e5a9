package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lime/internal/testenv"
)

// victim is a way to run a program that does not end while it is killed.
type victim struct {
	name    string
	args    []string
	moments int           // how often it is killed,
	step    time.Duration // each time so much later
}

// victims: lu runs for minutes, and writes to its profile meanwhile; cat runs until its input ends.
func victims() []victim {
	return []victim{
		{"simulate", []string{"simulate", "--cores", "8", "--", "./lu", "8", "200"}, 4, 90 * time.Millisecond},
		{"simulate, replaced", []string{"simulate", "--cores", "8", "--", "sh", "-c", "exec ./lu 8 200"}, 7, 23 * time.Millisecond},
		{"count", []string{"count", "--", "./lu", "8", "200"}, 4, 90 * time.Millisecond},
		{"record", []string{"record", "--", "cat"}, 8, 7 * time.Millisecond},
		{"record, replaced", []string{"record", "--", "sh", "-c", "exec cat"}, 4, 31 * time.Millisecond},
	}
}

// Killed at any moment, lime leaves a file that opens and says that the run was cut off, or none,
// and no process behind.
func TestKilledAtAnyMoment(t *testing.T) {
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	if out, err := exec.Command("gcc", "-O2", "-g", "-pthread", "-o", filepath.Join(dir, "lu"),
		"../../bench/lu.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	for _, v := range victims() {
		t.Run(v.name, func(t *testing.T) {
			if os.Getenv("LIME_LONG") != "" {
				v.moments, v.step = 300, time.Millisecond
			}
			for i := range v.moments {
				v.kill(t, dir, time.Duration(i)*v.step)
			}
		})
	}
}

// kill starts lime, kills it without a warning, waits until everybody is gone, and looks at what is
// left.
func (v *victim) kill(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	file := filepath.Join(dir, fmt.Sprintf("killed%d", after))
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lime, append([]string{v.args[0], "-o", file}, v.args[1:]...)...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	feed, err1 := cmd.StdinPipe()
	read, write, err2 := os.Pipe()
	cmd.Stdout = write
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	write.Close()
	time.Sleep(after)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status says that it was killed
	feed.Close()
	awaitAll(t, read, cmd.Process.Pid, after)
	if _, err := os.Stat(file); err != nil {
		return // killed before it began
	}
	code, stdout, stderr := run(t, dir, "", "report", "--json", file)
	cutOff := strings.Contains(stdout, `"end_state": "running"`) && strings.Contains(stdout, `"complete": false`)
	if code != 0 && code != 3 || !cutOff {
		t.Errorf("killed after %v: report ends with %d: %s%.2000s", after, code, stderr, stdout)
	}
}

// awaitAll waits until nobody has the other end of a pipe any more, to which all processes of a
// group held on.
func awaitAll(t *testing.T, pipe *os.File, group int, after time.Duration) {
	t.Helper()
	defer pipe.Close()
	if err := pipe.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, pipe); err == nil {
		return
	}
	left := members(group)
	_ = syscall.Kill(-group, syscall.SIGKILL)
	t.Fatalf("lime, killed after %v, leaves processes behind: %s", after, left)
}

// members describes the processes of a group, by /proc/PID/stat.
func members(group int) (out []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		text, _ := os.ReadFile(f)
		words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(words) > 2 && words[2] == fmt.Sprint(group) {
			out = append(out, string(text))
		}
	}
	return out
}
