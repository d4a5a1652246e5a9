package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// What plain `go build` leaves, with a C library in it and without, simulates position-independent
// programs as the lime that the Makefile links does, to the last address, and says what to do for
// others.
func TestPlainlyBuilt(t *testing.T) {
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	for name, flags := range map[string]string{"lu": "-pie", "fixed": "-no-pie"} {
		if out, err := exec.Command("gcc", "-O2", "-g", "-pthread", "-fPIE", flags, "-o", filepath.Join(dir, name),
			"../../workloads/lu/main.c").CombinedOutput(); err != nil {
			t.Fatalf("gcc: %s", out)
		}
	}
	if code, _, stderr := run(t, dir, "", "simulate", "--cores", "8", "--", "./lu", "8"); code != 0 {
		t.Fatalf("status %d: %s", code, stderr)
	}
	want := textOf(t, dir)
	for _, cgo := range []string{"0", "1"} {
		plain := filepath.Join(dir, "plain"+cgo)
		build := exec.Command("go", "build", "-o", plain, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build: %s", out)
		}
		for _, program := range []string{"./lu", "./fixed"} {
			cmd := exec.Command(plain, "simulate", "--cores", "8", "--", program, "8")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			switch {
			case program == "./fixed":
				if cmd.ProcessState.ExitCode() != 126 || !strings.Contains(string(out), "lime was built without its Makefile") {
					t.Errorf("cgo %s: %v: %s", cgo, err, out)
				}
			case err != nil:
				t.Errorf("cgo %s: %v: %s", cgo, err, out)
			case textOf(t, dir) != want:
				t.Errorf("cgo %s: the profile differs", cgo)
			}
		}
	}
}

// textOf is what a profile says of the program, without what it says of lime.
func textOf(t *testing.T, dir string) string {
	t.Helper()
	code, text, stderr := run(t, dir, "", "export", "--text")
	if code != 0 {
		t.Fatalf("export: status %d, %s", code, stderr)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "meta ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
