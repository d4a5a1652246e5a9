package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stranger writes a profile whose command is a program in dir that leaves a mark when it runs.
func stranger(t *testing.T, dir string) (path, mark string) {
	t.Helper()
	program, mark := filepath.Join(dir, "app"), filepath.Join(dir, "mark")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n: > "+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/uneven8.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "command=") })
	if i < 0 {
		t.Fatal("testdata/uneven8.txt names no command")
	}
	words := strings.Fields(lines[i])
	for k, w := range words {
		if strings.HasPrefix(w, "command=") {
			words[k] = `command=` + program + ``
		}
	}
	lines[i] = strings.Join(words, " ")
	path = filepath.Join(dir, "p.txt")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, mark
}

// TestStrangersCommandIsNotRun: no verb runs what a profile names without --yes or a person's word.
func TestStrangersCommandIsNotRun(t *testing.T) {
	path, mark := stranger(t, t.TempDir())
	for _, args := range [][]string{
		{"whatif", "--cores", "2", path}, {"whatif", "--even", "blocks.c:21", path}, {"whatif", "--erase", "all", path},
		{"report", "--verify", path}, {"report", "--verify", "--json", path},
	} {
		_, stdout, stderr := lime(t, args...)
		said := strings.Join(strings.Fields(stdout+stderr), " ")
		if args[1] != "--erase" && !strings.Contains(said, "say --yes") {
			t.Errorf("%v: says %q", args, said)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("%v ran the profile's command", args)
		}
	}
}

// TestAsk: only a clear yes runs a command, and it is shown as it would run, with nothing that
// steers the terminal.
func TestAsk(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "": false, "yessir\n": false} {
		var stderr bytes.Buffer
		a := &app{stdin: strings.NewReader(answer), stderr: &stderr}
		if err := a.ask(quoted([]string{"sh", "-c", "rm \x1b[8m it's"})); (err == nil) != want {
			t.Errorf("answer %q: %v", answer, err)
		}
		if said := stderr.String(); !strings.Contains(said, `sh -c 'rm \u001b[8m it'\''s'`) || strings.Contains(said, "\x1b") {
			t.Errorf("shown: %q", said)
		}
	}
}

// TestRan: a command is known if its program's bytes, its arguments and its directory are those
// that were simulated.
func TestRan(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	a := &app{getenv: func(k string) string { return map[string]string{"HOME": home}[k] }}
	program := filepath.Join(dir, "app")
	write := func(text string) {
		if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	command := []string{program, "-n", "5"}
	a.remember(command)
	a.remember(command)
	if !a.ran(command) || a.ran([]string{program, "-n", "6"}) || a.ran([]string{program, "-n 5"}) ||
		a.ran([]string{filepath.Join(dir, "no")}) || a.ran(nil) {
		t.Error("not told apart by its words")
	}
	if text, err := os.ReadFile(a.runsList()); err != nil || len(text) != digestLine {
		t.Errorf("the list has %d bytes: %v", len(text), err)
	}
	write("two")
	if a.ran(command) {
		t.Error("not told apart by its program")
	}
	write("one")
	t.Chdir(dir)
	if a.ran(command) {
		t.Error("not told apart by its directory")
	}
	a.remember(command)
	if !a.ran(command) {
		t.Error("not remembered in the second directory")
	}
	if err := os.Chmod(a.runsList(), 0o666); err != nil {
		t.Fatal(err)
	}
	if a.ran(command) {
		t.Error("a list that others can write to is believed")
	}
}

// TestRunsListIsBounded: a full list loses its older half and keeps what is new.
func TestRunsListIsBounded(t *testing.T) {
	state := t.TempDir()
	a := &app{getenv: func(k string) string { return map[string]string{"XDG_STATE_HOME": state}[k] }}
	if err := os.MkdirAll(filepath.Dir(a.runsList()), 0o700); err != nil {
		t.Fatal(err)
	}
	old := strings.Repeat(strings.Repeat("0", digestLine-1)+"\n", listedRuns)
	if err := os.WriteFile(a.runsList(), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	a.remember([]string{"sh", "-c", "true"})
	st, err := os.Stat(a.runsList())
	if err != nil || st.Size() != listedBytes/2+digestLine || !a.ran([]string{"sh", "-c", "true"}) {
		t.Errorf("%v, %v", st, err)
	}
}

// TestForce: only --force writes a profile over a file of another kind, and it does.
func TestForce(t *testing.T) {
	dir := t.TempDir()
	in, out := "../collect/callgrind/testdata/small.thread", filepath.Join(dir, "notes")
	if err := os.WriteFile(out, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := lime(t, "import", "callgrind", "-o", out, in+"2", in+"3"); code == ExitOK || !strings.Contains(stderr, "--force") {
		t.Errorf("without --force: status %d, %q", code, stderr)
	}
	if text, _ := os.ReadFile(out); string(text) != "mine" {
		t.Error("a file of another kind was destroyed")
	}
	if code, _, stderr := lime(t, "import", "callgrind", "--force", "-o", out, in+"2", in+"3"); code != ExitOK {
		t.Errorf("with --force: status %d, %q", code, stderr)
	}
	if text, _ := os.ReadFile(out); !strings.HasPrefix(string(text), "SQLite") {
		t.Error("no profile was written")
	}
}
