package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// natively runs a command without lime; its status and output.
func natively(t *testing.T, dir string, command ...string) (int, string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout = dir, &out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// collector is a verb that follows children.
type collector []string

// underEach runs a test under each of them.
func underEach(t *testing.T, test func(*testing.T, collector)) {
	for _, c := range []collector{{"simulate", "--cores", "2"}, {"count"}} {
		t.Run(c[0], func(t *testing.T) { test(t, c) })
	}
}

// family runs a command with --children, and holds what it says to a native run. It answers the
// profiles by the names of their programs.
func (c collector) family(t *testing.T, dir string, command ...string) map[string][]string {
	t.Helper()
	status, want := natively(t, dir, command...)
	profiles := filepath.Join(t.TempDir(), "profiles")
	code, got, stderr := run(t, dir, "", slices.Concat(c, []string{"--children", "-o", profiles, "--"}, command)...)
	if code != status || got != want {
		t.Errorf("%v: status %d, natively %d; it said\n%s\nand natively\n%s\n%s", command, code, status, got, want, stderr)
	}
	files, err := filepath.Glob(filepath.Join(profiles, "*.lime"))
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]string{}
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), ".")
		by[name] = append(by[name], f)
	}
	return by
}

func TestChildren(t *testing.T) { underEach(t, testChildren) }

func testChildren(t *testing.T, c collector) {
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	exe := filepath.Join(dir, "family")
	if out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-o", exe, "testdata/family.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	got := c.family(t, dir, exe)
	for name, least := range map[string]int{"family": 3, "sh": 3, "cat": 1} {
		if len(got[name]) < least {
			t.Errorf("%d profiles of %s, want %d at least; there are %v", len(got[name]), name, least, got)
		}
	}
	most := 0
	for _, f := range got["family"] {
		code, text, stderr := run(t, dir, "", "report", "--json", f)
		var r struct{ Program struct{ Threads int } }
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatalf("report %s: status %d, %s: %v", f, code, stderr, err)
		}
		most = max(most, r.Program.Threads)
	}
	if most != 4 {
		t.Errorf("the program of 4 threads that a child starts has %d in its profile", most)
	}
	profiles := filepath.Dir(got["family"][0])
	if code, _, stderr := run(t, dir, "", "report", profiles); code != ExitFailed || !strings.Contains(stderr, got["family"][0]) {
		t.Errorf("report of the directory: status %d, %s", code, stderr)
	}
	if code, _, stderr := run(t, dir, "", c[0], "--children", "-o", profiles, "--", "true"); code != ExitFailed ||
		!strings.Contains(stderr, "another run") {
		t.Errorf("a second run into the directory: status %d, %s", code, stderr)
	}
}

const ExitFailed = 125

// Shells: scripts with and without an interpreter named, subshells, pipes, statuses, signals.
func TestChildrenOfShells(t *testing.T) { underEach(t, testChildrenOfShells) }

func testChildrenOfShells(t *testing.T, c collector) {
	dir := t.TempDir()
	script := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script("bare", "echo bare $0 $1\n")
	script("sum", "#!/bin/sh\nexpr $1 + $2\n")
	script("all", `#!/bin/sh
./bare x
(cd /; /bin/echo in a subshell)
x=$(./sum 3 4); echo $x
seq 100 | sort -n | tail -1
no-such-program 2>/dev/null; echo $?
sh -c 'kill -SEGV $$' 2>/dev/null; echo $?
sh -c 'exit 7'; echo $?
sh -c 'exec ./sum 5 6'
`)
	got := c.family(t, dir, "./all")
	if len(got["sum"]) != 2 || len(got["bare"]) != 1 || len(got["expr"]) != 2 {
		t.Errorf("profiles: %v", got)
	}
}

// make starts several compilers at a time, and these start others.
func TestChildrenOfMake(t *testing.T) { underEach(t, testChildrenOfMake) }

func testChildrenOfMake(t *testing.T, c collector) {
	testenv.Tool(t, "gcc")
	testenv.Tool(t, "make")
	dir := t.TempDir()
	var objects []string
	for i := range 4 {
		name := fmt.Sprintf("f%d", i)
		if err := os.WriteFile(filepath.Join(dir, name+".c"), []byte(fmt.Sprintf("int %s(void) { return %d; }\n", name, i)), 0o644); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, name+".o")
	}
	text := "lib.a: " + strings.Join(objects, " ") + "\n\t@rm -f $@; ar rcD $@ $^; cksum $@; rm -f $^ $@\n%.o: %.c\n\t@gcc -c $<\n"
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got := c.family(t, dir, "make", "-j3")
	if len(got["cc1"]) != 4 || len(got["ar"]) != 1 || len(got["make"]) != 1 {
		t.Errorf("profiles: %v", got)
	}
}
