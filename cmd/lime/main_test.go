package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"lime/internal/testenv"
)

// built is lime as the Makefile links it, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lime-test-")
	if err != nil {
		return "", err
	}
	lime := filepath.Join(dir, "lime")
	cmd := exec.Command("go", "build", "-ldflags", "-T 0x70000000 -E main.entry", "-o", lime, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return lime, nil
})

// TestMain has the programs that tests start take the signals that who started the tests (nohup)
// may have had ignored: what is caught here is not ignored there.
func TestMain(m *testing.M) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	code := m.Run()
	if lime, err := built(); err == nil {
		os.RemoveAll(filepath.Dir(lime))
	}
	os.Exit(code)
}

// run runs lime in dir and returns its status, output and words.
func run(t *testing.T, dir, stdin string, args ...string) (int, string, string) {
	t.Helper()
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lime, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// marked returns the number of the line of a file that holds mark.
func marked(t *testing.T, file, mark string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, mark) && !strings.Contains(line, "marked") {
			return i + 1
		}
	}
	t.Fatalf("%s has no %s", file, mark)
	return 0
}

// The main job, end to end: the line that makes the threads of the blocked LU uneven.
func TestLUNamesTheOwnershipTest(t *testing.T) {
	testenv.Tool(t, "gcc")
	dir, src := t.TempDir(), "../../workloads/lu/main.c"
	if out, err := exec.Command("gcc", "-O2", "-g", "-pthread", "-o", filepath.Join(dir, "lu"), src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	for _, threads := range []int{8, 32} {
		n := strconv.Itoa(threads)
		if code, _, stderr := run(t, dir, "", "simulate", "--cores", n, "--", "./lu", n); code != 0 || stderr != "" {
			t.Fatalf("simulate: status %d, %s", code, stderr)
		}
		code, stdout, stderr := run(t, dir, "", "report", "--json")
		if code != 0 {
			t.Fatalf("report: status %d, %s", code, stderr)
		}
		checkLU(t, src, stdout)
	}
}

func checkLU(t *testing.T, src, text string) {
	t.Helper()
	var r struct {
		Sections []struct {
			EndsAt struct {
				File string
				Line int
			} `json:"ends_at"`
			Causes []struct {
				File, Family, Event string
				Line                int
				Share               float64
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Sections) == 0 || len(r.Sections[0].Causes) == 0 {
		t.Fatalf("no section, or no cause: %.2000s", text)
	}
	s := r.Sections[0]
	if want := marked(t, src, "/* END */"); s.EndsAt.Line != want {
		t.Errorf("the worst section ends at line %d, want %d", s.EndsAt.Line, want)
	}
	c, want := s.Causes[0], marked(t, src, "/* CAUSE */")
	if c.Line != want || filepath.Base(c.File) != "main.c" || c.Family != "control-flow" || c.Event != "branch" || c.Share < 0.95 {
		t.Errorf("first cause %+v, want the branch on line %d", c, want)
	}
}

// The program's own input, output and status pass through; lime's own trouble
// has other statuses.
func TestSimulatePassesTheProgramThrough(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "plain")
	if err := os.WriteFile(text, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		stdin  string
		args   []string
		code   int
		stdout string
		says   string
	}{
		{"", []string{"sh", "-c", "exit 7"}, 7, "", ""},
		{"hello\n", []string{"cat"}, 0, "hello\n", ""},
		{"", []string{"sh", "-c", "echo out; echo err >&2; exit 3"}, 3, "out\n", "err\n"},
		{"", []string{"sh", "-c", "kill -TERM $$"}, 128 + 15, "", "SIGTERM"},
		{"", []string{"no-such-program"}, 127, "", "no-such-program"},
		{"", []string{text}, 126, "", "plain"},
	} {
		args := append([]string{"simulate", "--cores", "4", "--"}, test.args...)
		code, stdout, stderr := run(t, dir, test.stdin, args...)
		if code != test.code || stdout != test.stdout || !strings.Contains(stderr, test.says) || test.says == "" && stderr != "" {
			t.Errorf("%v: status %d, stdout %q, stderr %q; want %d, %q, %q", test.args, code, stdout, stderr, test.code, test.stdout, test.says)
		}
	}
}

func TestSingleThreadedProgramsHaveNoAnswer(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := run(t, dir, "", "simulate", "--", "true"); code != 0 {
		t.Fatalf("status %d, %s", code, stderr)
	}
	code, stdout, _ := run(t, dir, "", "report")
	if code != 3 || !strings.Contains(stdout, "single thread") {
		t.Errorf("status %d\n%s", code, stdout)
	}
}
