package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lime/internal/testenv"
)

// trouble builds testdata/trouble.c in a new directory.
func trouble(t *testing.T) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	if out, err := exec.Command("gcc", "-O1", "-g", "-pthread", "-o", filepath.Join(dir, "trouble"),
		"testdata/trouble.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	return dir
}

// A program that ends badly has its own status, and what it finished is kept.
func TestProgramsInTrouble(t *testing.T) {
	dir := trouble(t)
	for _, test := range []struct {
		way, state string
		code       int
		says       string
	}{
		{"fine", "exited", 0, ""},
		{"exit", "exited", 42, ""},
		{"crash", "signalled", 128 + 11, "got SIGSEGV, address 0x"},
		{"abort", "signalled", 128 + 6, "SIGABRT"},
		{"kill", "signalled", 128 + 9, "SIGKILL"},
		{"deadlock", "deadlock", 125, "pthread_mutex_lock"},
	} {
		code, _, stderr := run(t, dir, "", "simulate", "--cores", "4", "--", "./trouble", test.way)
		if code != test.code || !strings.Contains(stderr, test.says) {
			t.Errorf("%s: status %d, want %d; stderr %q, want %q", test.way, code, test.code, stderr, test.says)
		}
		checkKept(t, dir, test.way, test.state)
	}
}

// checkKept asks the report how the run ended, and for the section that was finished.
func checkKept(t *testing.T, dir, way, state string) {
	t.Helper()
	code, stdout, stderr := run(t, dir, "", "report", "--json")
	var r struct {
		Program struct {
			EndState string `json:"end_state"`
		}
		Sections []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%s: report: status %d, %s, %v", way, code, stderr, err)
	}
	if r.Program.EndState != state || len(r.Sections) == 0 {
		t.Errorf("%s: end state %q, want %q; %d sections", way, r.Program.EndState, state, len(r.Sections))
	}
}

// Interrupted, a program that never ends leaves what it finished.
func TestInterruptedRunsAreKept(t *testing.T) {
	dir := trouble(t)
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lime, "simulate", "--cores", "4", "--", "./trouble", "forever")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var words bytes.Buffer
	cmd.Stderr = &words
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for tries := 0; ; tries++ { // until there is something to keep
		if code, _, stderr := run(t, dir, "", "report"); code == 0 {
			break
		} else if tries > 2000 {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			t.Fatalf("nothing is in the profile: %s; lime says %s", stderr, &words)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil { // as the terminal does
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+2 {
		t.Errorf("status %d, want 130: %s", code, &words)
	}
	code, stdout, stderr := run(t, dir, "", "report")
	if code != 0 || !strings.Contains(stdout, "trouble.c") {
		t.Errorf("report: status %d, %s\n%s", code, stderr, stdout)
	}
}

// What cannot be run is named, with what to do.
func TestWhatCannotBeRun(t *testing.T) {
	dir := trouble(t)
	whole, err := os.ReadFile(filepath.Join(dir, "trouble"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(at int, b byte) []byte {
		out := append([]byte(nil), whole...)
		out[at] = b
		return out
	}
	for _, test := range []struct {
		name string
		text []byte
		mode os.FileMode
		code int
	}{
		{"empty", nil, 0o755, 126},
		{"head", whole[:20], 0o755, 126},
		{"half", whole[:len(whole)/3], 0o755, 126},
		{"locked", whole, 0o644, 126},
		{"bits32", with(4, 1), 0o755, 126},
		{"arm", with(18, 183), 0o755, 126},
		{"bigendian", with(5, 2), 0o755, 126},
		{"object", with(16, 1), 0o755, 126},
	} {
		file := filepath.Join(dir, test.name)
		if err := os.WriteFile(file, test.text, test.mode); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := run(t, dir, "", "simulate", "--", file)
		if code != test.code || !strings.HasPrefix(stderr, "lime: ") || !strings.Contains(stderr, test.name) {
			t.Errorf("%s: status %d, want %d; %s", test.name, code, test.code, stderr)
		}
		if strings.Contains(stderr, "goroutine") || strings.Count(stderr, "\n") > 2 {
			t.Errorf("%s: %s", test.name, stderr)
		}
	}
	if code, _, stderr := run(t, dir, "", "simulate", "-o", dir, "--", "./trouble", "fine"); code != 125 || strings.Count(stderr, "\n") != 1 {
		t.Errorf("a directory to write to: status %d, %s", code, stderr)
	}
	if code, _, stderr := run(t, dir, "", "simulate", "--", dir); code != 126 || !strings.Contains(stderr, dir) {
		t.Errorf("a directory: status %d, %s", code, stderr)
	}
}
