package main

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// verb is one that makes the file out of what it reads, the same each time; without a name for it,
// it only reads.
type verb struct {
	name, output string
	args         []string
}

func killable() []verb {
	return []verb{
		{"import", "-o", []string{"import", "callgrind", "in.thread2", "in.thread3"}},
		{"export csv", "-o", []string{"export", "--csv", "in.txt"}},
		{"export pprof", "-o", []string{"export", "--pprof", "in.txt"}},
		{"report html", "-o", []string{"report", "--html", "in.txt"}},
		{"resolve", "-o", []string{"resolve", "in.data"}},
		{"resolve in place", "", []string{"resolve", "in.data"}},
		{"view", "", []string{"view", "--no-browser", "in.data"}},
	}
}

// leftover reports whether a file is one that killed runs may leave beside their output: of a fixed
// name, so that they do not add up.
func leftover(name string) bool {
	rest, ok := strings.CutPrefix(name, "out")
	if !ok {
		rest, ok = strings.CutPrefix(name, "in.data")
	}
	return ok && slices.Contains([]string{"-wal", "-shm", "-journal", ".tmp", ".tmp-wal", ".tmp-shm", ".tmp-journal", ".lime.tmp"}, rest)
}

// Killed at any moment, a verb leaves its output whole, as it was, or as a profile that says that it
// is not complete; and what it reads as it was. What it leaves beside them does not add up.
func TestVerbsKilled(t *testing.T) {
	kills := 4
	if os.Getenv("LIME_LONG") != "" {
		kills = 1000
	}
	for _, v := range killable() {
		t.Run(v.name, func(t *testing.T) {
			dir := inputs(t)
			if v.output != "" {
				v.args = append(v.args, v.output, "out")
			}
			took := v.whole(t, dir)
			want := contents(t, dir)
			_, all, _ := run(t, dir, "", "report", "--json", "out")
			for i := range kills {
				if i%2 == 0 {
					os.Remove(filepath.Join(dir, "out"))
				}
				after := time.Duration(rand.Int64N(int64(took)))
				v.killed(t, dir, after)
				checkLeft(t, dir, want, all, after)
			}
			v.whole(t, dir)
			if got := contents(t, dir); !maps.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("the next run leaves %v", slices.Sorted(maps.Keys(got)))
			}
		})
	}
}

// checkLeft holds the files of a directory to what a whole run leaves, and says of its output.
func checkLeft(t *testing.T, dir string, want map[string][]byte, all string, after time.Duration) {
	t.Helper()
	got := contents(t, dir)
	for name := range got {
		if _, ok := want[name]; !ok && !leftover(name) {
			t.Fatalf("killed after %v: it leaves %s", after, name)
		}
	}
	for name, is := range want {
		if b, ok := got[name]; bytes.Equal(b, is) || name == "out" && !ok {
			continue
		}
		code, stdout, _ := run(t, dir, "", "report", "--json", name)
		cutOff := strings.Contains(stdout, `"complete": false`)
		if name != "out" || code != 0 && code != 3 || !cutOff && stdout != all {
			t.Fatalf("killed after %v: %s is another one", after, name)
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

// killed starts the verb and kills it without a warning.
func (v *verb) killed(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lime, v.args...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()
}

// contents are the files of a directory.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		if out[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// inputs makes a directory with a profile in text, one as a file, and a run of callgrind's.
func inputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{
		"../../internal/cli/testdata/uneven32.txt":                "in.txt",
		"../../internal/collect/callgrind/testdata/small.thread2": "in.thread2",
		"../../internal/collect/callgrind/testdata/small.thread3": "in.thread3",
	} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, words := run(t, dir, "", "import", "callgrind", "in.thread2", "in.thread3", "-o", "in.data"); code != 0 {
		t.Fatal(words)
	}
	if code, _, words := run(t, dir, "", "resolve", "in.data"); code != 0 {
		t.Fatal(words)
	}
	return dir
}
