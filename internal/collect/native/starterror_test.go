package native

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/profile"
)

// What cannot be started is named, with the reason and what to do.
func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	put("text", "hello\n", 0o755)
	put("data", "hello\n", 0o644)
	put("script", "#!/no/such/shell -e\n", 0o755)
	put("here", "#!/bin/sh\n", 0o755)
	for _, c := range []struct {
		command string
		pid     int
		status  int
		want    []string
	}{
		{command: "", status: 127, want: []string{"no program named"}},
		{command: "no-such-program", status: 127, want: []string{"no-such-program: command not found", "PATH"}},
		{command: "here", status: 127, want: []string{"write ./here"}},
		{command: "/no/such/program", status: 127, want: []string{"/no/such/program: no such file"}},
		{command: "./text/program", status: 127, want: []string{"no such file"}},
		{command: "./script", status: 127, want: []string{"./script: its interpreter is missing", `names "/no/such/shell"`}},
		{command: dir, status: 126, want: []string{dir, "a directory"}},
		{command: "./data", status: 126, want: []string{"not executable", "chmod +x ./data"}},
		{command: "./text", status: 126, want: []string{"neither a program", "sh ./text"}},
		{pid: math.MaxInt32, status: 127, want: []string{"process 2147483647: no such process"}},
	} {
		res, err := Run(context.Background(), Options{Command: []string{c.command}, PID: c.pid, Out: profile.New(profile.Meta{})})
		if err == nil || res.Status != c.status {
			t.Errorf("%q: status %d, %v; want %d and an error", c.command, res.Status, err, c.status)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %q does not hold %q", c.command, err, want)
			}
		}
	}
}
