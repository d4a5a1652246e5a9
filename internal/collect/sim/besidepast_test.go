package sim_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCountGoesOn counts a program for a while: then the profile is there, whole, and the program
// goes on to its own end, with threads that begin later; the status is its own.
func TestCountGoesOn(t *testing.T) {
	prog := compile(t, "until.c", "gcc -O1 -g -pthread -o OUT SRC")
	file := filepath.Join(t.TempDir(), "there")
	cmd, path := counting(t, []string{"--for", "300ms"}, prog, file)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(said).ReadString('\n')
	if !strings.Contains(line, "the program goes on") {
		t.Errorf("said %q", line)
	}
	state, parts := barrierParts(t, path) // how many there are by then is the host's affair
	if t.Logf("%d parts", parts); state != "interrupted" {
		t.Errorf("while it goes on, the profile says %q", state)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 3 || stdout.String() != "ended\n" {
		t.Errorf("status %d, want 3; printed %q", got, &stdout)
	}
	if state, _ := barrierParts(t, path); state != "interrupted" {
		t.Errorf("in the end the profile says %q", state)
	}
}
