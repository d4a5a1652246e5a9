package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lime/internal/testenv"
)

// verb is one that makes the file out of what it reads, the same each time.
type verb struct {
	name string
	args []string
	old  string // the file that out is a copy of before every second run; "": it makes none
}

func killable() []verb {
	return []verb{
		{"import", []string{"import", "callgrind", "in.thread2", "in.thread3", "-o", "out"}, "in.txt"},
		{"merge", []string{"merge", "ranks", "-o", "out"}, "in.txt"},
		{"export csv", []string{"export", "--csv", "in.txt", "-o", "out"}, "old"},
		{"export pprof", []string{"export", "--pprof", "in.txt", "-o", "out"}, "old"},
		{"report html", []string{"report", "--html", "in.txt", "-o", "out"}, "old"},
		{"report of ranks", []string{"report", "ranks", "-o", "out"}, "old"},
		{"diff", []string{"diff", "in.txt", "in.data", "-o", "out"}, "old"},
		{"whatif", []string{"whatif", "--yes", "--even", "lu.c:67", "in.sim", "-o", "out"}, "old"},
		{"scale", []string{"scale", "--cores", "1,2", "-o", "out", "--", "./lu", "4", "6"}, "old"},
		{"resolve", []string{"resolve", "in.data", "-o", "out"}, "in.txt"},
		{"resolve in place", []string{"resolve", "in.data"}, ""},
		{"view", []string{"view", "--no-browser", "in.data"}, ""},
	}
}

// leftover reports whether a file is one that killed runs may leave beside their output: of a fixed
// name, so that they do not add up.
func leftover(name string) bool {
	rest, ok := strings.CutPrefix(name, "out")
	if !ok {
		rest, ok = strings.CutPrefix(name, "in.data")
	}
	rest = strings.TrimPrefix(rest, ".tmp")
	return ok && slices.Contains([]string{"", "-wal", "-shm", "-journal", ".tmp", ".tmp-wal", ".tmp-shm", ".tmp-journal", ".lime.tmp"}, rest)
}

// endings are what a verb may be ended by from outside.
var endings = [...]syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGKILL, syscall.SIGTERM}

// Killed at any moment, a verb leaves its output as it was or whole, what it reads as it was, and no
// process. What else it leaves is gone after the next run.
func TestVerbsKilled(t *testing.T) {
	kills := 6
	if os.Getenv("LIME_LONG") != "" {
		kills = 1000
	}
	testenv.Tool(t, "gcc")
	mustBuilt(t) // by Go's own cache
	for _, v := range killable() {
		t.Run(v.name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			dir := inputs(t)
			took := v.whole(t, dir)
			want := contents(t, dir)
			for i := range kills {
				before := v.before(t, dir, i%2 == 0)
				how, after := endings[rand.IntN(len(endings))], time.Duration(rand.Int64N(int64(took)))
				v.killed(t, dir, how, after)
				checkLeft(t, dir, want, before, fmt.Sprintf("%v after %v", how, after))
			}
			v.whole(t, dir)
			if got := contents(t, dir); !maps.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("the next run leaves %v", slices.Sorted(maps.Keys(got)))
			}
			if left := contents(t, temp); v.name != "view" && len(left) > 0 {
				t.Errorf("the next run leaves %v in $TMPDIR", slices.Sorted(maps.Keys(left)))
			}
		})
	}
}

// before leaves an older output, or none, and returns what it holds.
func (v *verb) before(t *testing.T, dir string, none bool) []byte {
	t.Helper()
	out := filepath.Join(dir, "out")
	if none || v.old == "" {
		_ = os.Remove(out) // it may not be there
		return nil
	}
	old, err := os.ReadFile(filepath.Join(dir, v.old))
	if err == nil {
		err = os.WriteFile(out, old, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return old
}

// checkLeft holds the files of a directory to what a whole run leaves, and its output to what it was
// before as well.
func checkLeft(t *testing.T, dir string, want map[string][]byte, before []byte, what string) {
	t.Helper()
	got := contents(t, dir)
	for name := range got {
		if _, ok := want[name]; !ok && !leftover(name) {
			t.Fatalf("%s: it leaves %s", what, name)
		}
	}
	for name, is := range want {
		b, ok := got[name]
		same := ok && bytes.Equal(b, is)
		if name == "out" {
			same = same || ok == (before != nil) && bytes.Equal(b, before)
		}
		if !same {
			t.Fatalf("%s: %s is another one (%d bytes, before %d, whole %d)", what, name, len(b), len(before), len(is))
		}
	}
}

// whole runs the verb to its end, and tells how long that takes; one that does not end is killed
// within a second.
func (v *verb) whole(t *testing.T, dir string) time.Duration {
	t.Helper()
	if v.name == "view" {
		return time.Second
	}
	start := time.Now()
	if code, _, words := run(t, dir, "", v.args...); code != 0 && code != 3 {
		t.Fatalf("%v ends with %d: %s", v.args, code, words)
	}
	return time.Since(start)
}

// killed starts the verb, ends it by a signal, and waits until nobody that it started is left.
func (v *verb) killed(t *testing.T, dir string, how os.Signal, after time.Duration) {
	t.Helper()
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lime, v.args...)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	time.Sleep(after)
	_ = cmd.Process.Signal(how) // it may have ended
	awaitAll(t, read, cmd.Process.Pid, after)
	_ = cmd.Wait()
}

// contents are the files of a directory; those in directories below are one.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		out[name] = nil
		if d.Type().IsRegular() {
			out[name], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inputs makes a directory with a profile in text, some as files, a run of callgrind's, and a program.
func inputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{
		"../../internal/cli/testdata/uneven32.txt":                "in.txt",
		"../../internal/collect/callgrind/testdata/small.thread2": "in.thread2",
		"../../internal/collect/callgrind/testdata/small.thread3": "in.thread3",
		"../../bench/lu.c": "lu.c",
	} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gcc := exec.Command("gcc", "-O2", "-g", "-pthread", "-o", "lu", "lu.c")
	gcc.Dir = dir
	out, err := gcc.CombinedOutput()
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "old"), []byte("an older answer\n"), 0o644)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, args := range [][]string{
		{"import", "callgrind", "in.thread2", "in.thread3", "-o", "in.data"},
		{"resolve", "in.data"},
		{"simulate", "--cores", "4", "-o", "in.sim", "--", "./lu", "4", "6"},
	} {
		if code, _, words := run(t, dir, "", args...); code != 0 {
			t.Fatal(words)
		}
	}
	for _, rank := range []string{"0", "1"} {
		t.Setenv("LIME_TEST_RANK", rank)
		if code, _, words := run(t, dir, "", "simulate", "--rank-var", "LIME_TEST_RANK", "--cores", "4", "-o", "ranks", "--", "./lu", "4", "6"); code != 0 {
			t.Fatal(words)
		}
	}
	return dir
}

// whatif makes some of its runs to have something to hold others to. If one of those is interrupted,
// so is the verb: what it would say then is not what was asked.
func TestWhatIfInterrupted(t *testing.T) {
	testenv.Tool(t, "gcc")
	mustBuilt(t)
	dir := inputs(t)
	text, err := os.ReadFile(filepath.Join(dir, "lu.c"))
	if err != nil {
		t.Fatal(err)
	}
	const stops = `#include <unistd.h>
__attribute__((constructor)) static void stop(void) {
	if (access("stop", F_OK) == 0 && rename("stop", "stopped") == 0) pause();
}
`
	if err := os.WriteFile(filepath.Join(dir, "stops.c"), append([]byte(stops), text...), 0o644); err != nil {
		t.Fatal(err)
	}
	gcc := exec.Command("gcc", "-O2", "-g", "-pthread", "-o", "stops", "stops.c")
	gcc.Dir = dir
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if code, _, words := run(t, dir, "", "simulate", "--cores", "4", "-o", "stops.sim", "--", "./stops", "4", "6"); code != 0 {
		t.Fatal(words)
	}
	line := fmt.Sprintf("stops.c:%d", 67+strings.Count(stops, "\n"))
	for _, args := range [][]string{{"--even", line}, {"--cores", "2"}} {
		code, words := interrupted(t, dir, append(append([]string{"whatif", "--yes"}, args...), "stops.sim", "-o", "out")...)
		if code == 0 || !strings.Contains(words, "interrupted") {
			t.Errorf("whatif %v ends with %d: %s", args, code, words)
		}
		if os.Remove(filepath.Join(dir, "out")) == nil {
			t.Errorf("whatif %v: an interrupted run has written its answer", args)
		}
	}
}

// interrupted runs lime, and interrupts it when the program has come so far that it renames a file.
func interrupted(t *testing.T, dir string, args ...string) (code int, words string) {
	t.Helper()
	lime, err := built()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "stop"), nil, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, lime, args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil {
		if os.Remove(filepath.Join(dir, "stopped")) == nil {
			_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = cmd.Wait()
	if ctx.Err() != nil {
		t.Fatalf("lime %v does not end: %s", args, &stderr)
	}
	return cmd.ProcessState.ExitCode(), stderr.String()
}
