package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lime runs a command line and returns its status and output.
func lime(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
		getenv: func(string) string { return "" }}
	code := a.run(args)
	return code, stdout.String(), stderr.String()
}

func TestWrongCommandLines(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"nonsense"}, ExitUsage, `no verb "nonsense"`},
		{[]string{"versio"}, ExitUsage, "did you mean version?"},
		{[]string{"version", "extra"}, ExitUsage, "extra"},
		{[]string{"--nope"}, ExitUsage, "--nope"},
		{[]string{"man", "nope"}, ExitUsage, "nope"},
		{[]string{"simulate", "--cores", "1.5", "--", "true"}, ExitFailed, "lime: --cores 1.5: not a whole number\n"},
		{[]string{"simulate", "--cores", "99999999999999999999", "--", "true"}, ExitFailed, "--cores 99999999999999999999: out of range"},
		{[]string{"report", "--alpha", "x"}, ExitUsage, "--alpha x: not a number"},
	} {
		code, stdout, stderr := lime(t, test.args...)
		if code != test.code || !strings.Contains(stderr, test.says) {
			t.Errorf("lime %v: status %d, stderr %q; want %d and %q", test.args, code, stderr, test.code, test.says)
		}
		if stdout != "" || !strings.HasPrefix(stderr, "lime: ") {
			t.Errorf("lime %v: stdout %q, stderr %q", test.args, stdout, stderr)
		}
	}
}

func TestHelpNamesEveryVerbAndExitStatus(t *testing.T) {
	code, stdout, _ := lime(t)
	if code != ExitOK {
		t.Fatalf("status %d", code)
	}
	for _, c := range exitCodes() {
		if !strings.Contains(stdout, c.Meaning) {
			t.Errorf("help lacks %q", c.Meaning)
		}
	}
	a := &app{}
	for _, cmd := range a.root().Commands() {
		if !cmd.Hidden && !strings.Contains(stdout, cmd.Short) {
			t.Errorf("help lacks verb %s", cmd.Name())
		}
	}
}

func TestHelpFits80Columns(t *testing.T) {
	a := &app{}
	for _, cmd := range append(a.root().Commands(), a.importCallgrindCommand()) {
		words := strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "lime"))
		if !cmd.HasParent() {
			words = []string{"import", cmd.Name()}
		}
		_, stdout, _ := lime(t, append(words, "--help")...)
		if cmd.Name() == "completion" || cmd.Name() == "help" {
			continue // cobra's own words
		}
		for _, line := range strings.Split(stdout, "\n") {
			if len(line) > 80 {
				t.Errorf("%s: %d columns: %s", cmd.Name(), len(line), line)
			}
		}
	}
}

func TestManPages(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := lime(t, "man", "--dir", dir); code != ExitOK {
		t.Fatal(stderr)
	}
	for _, page := range []string{"lime.1", "lime-version.1"} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil || !bytes.HasPrefix(text, []byte(".nh\n.TH")) {
			t.Errorf("%s: %v %.20q", page, err, text)
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, stdout, stderr := lime(t, "completion", shell)
		if code != ExitOK || !strings.Contains(stdout, "lime") {
			t.Errorf("%s: status %d %s", shell, code, stderr)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file of testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// Every report of a text profile, as the user sees it.
func TestGoldens(t *testing.T) {
	for _, test := range []struct {
		name string
		code int
		args []string
	}{
		{"annotate.golden", ExitOK, []string{"annotate", "--events", "blocks.c", "testdata/uneven8.txt"}},
		{"annotate-function.golden", ExitOK, []string{"annotate", "worker", "testdata/uneven32.txt"}},
		{"export-csv.golden", ExitOK, []string{"export", "--csv", "testdata/uneven8.txt"}},
		{"export-text.golden", ExitOK, []string{"export", "--text", "testdata/even8.txt"}},
		{"report-uneven8.golden", ExitOK, []string{"report", "testdata/uneven8.txt"}},
		{"report-uneven32.golden", ExitOK, []string{"report", "--all", "testdata/uneven32.txt"}},
		{"report-even8.golden", ExitOK, []string{"report", "testdata/even8.txt"}},
		{"report-uneven8.json.golden", ExitOK, []string{"report", "--json", "testdata/uneven8.txt"}},
		{"diff.golden", ExitOK, []string{"diff", "testdata/even8.txt", "testdata/uneven8.txt"}},
	} {
		code, stdout, stderr := lime(t, test.args...)
		if code != test.code || stderr != "" {
			t.Errorf("lime %v: status %d, %s", test.args, code, stderr)
		}
		golden(t, test.name, rounded(stdout))
	}
}

// rounded prints long numbers with six digits: the last ones may differ from
// one version of a library to the next.
func rounded(text string) string {
	return regexp.MustCompile(`[0-9]+\.[0-9]{6,}(e[-+]?[0-9]+)?`).ReplaceAllStringFunc(text, func(s string) string {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		return strconv.FormatFloat(x, 'g', 6, 64)
	})
}

// What programs rely on: the first cause of an uneven profile, and none of an even one.
func TestReportJSON(t *testing.T) {
	type answer struct {
		Sections []struct {
			Imbalance float64
			Causes    []struct {
				File, Family, Event string
				Line                int
				Share               float64
			}
		}
	}
	read := func(file string) (out answer) {
		code, stdout, stderr := lime(t, "report", "--json", file)
		if code != ExitOK {
			t.Fatalf("status %d: %s", code, stderr)
		}
		if err := json.Unmarshal([]byte(stdout), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, file := range []string{"testdata/uneven8.txt", "testdata/uneven32.txt"} {
		got := read(file)
		if len(got.Sections) != 1 || len(got.Sections[0].Causes) != 1 {
			t.Fatalf("%s: %+v", file, got)
		}
		c := got.Sections[0].Causes[0]
		if c.File != "blocks.c" || c.Line != 21 || c.Family != "control-flow" || c.Event != "branch" || c.Share < 0.99 || c.Share > 1.01 {
			t.Errorf("%s: %+v", file, c)
		}
	}
	if got := read("testdata/even8.txt"); len(got.Sections) != 1 || got.Sections[0].Causes == nil || len(got.Sections[0].Causes) != 0 {
		t.Errorf("even: %+v", got)
	}
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	even := "testdata/even8.txt"
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"report", filepath.Join(dir, "none")}, ExitFailed, "no profile"},
		{[]string{"report", dir}, ExitFailed, "a directory without profiles of ranks"},
		{[]string{"report", "/dev/null"}, ExitFailed, "not a regular file"},
		{[]string{"report", fifo}, ExitFailed, "not a regular file"},
		{[]string{"resolve", fifo}, ExitFailed, "not a regular file"},
		{[]string{"diff", fifo, even}, ExitFailed, "not a regular file"},
		{[]string{"import", "callgrind", fifo}, ExitFailed, "not a regular file"},
		{[]string{"annotate", "/proc/kmsg", "/proc/kmsg"}, ExitFailed, "not a regular file"},
		{[]string{"annotate", "/proc/kmsg", write("kmsg", "lime-profile 1\nfile 0 path=/proc/kmsg\nnode 0 kind=jump at=0:1\n")}, ExitOK, ""},
		{[]string{"report", write("pipes",
			"lime-profile 1\nimage 0 path="+fifo+" lo=1 hi=9\nfile 0 path="+fifo+"\nnode 0 image=0 addr=2 kind=jump\n")}, ExitWeak, ""},
		{[]string{"report", write("empty", "")}, ExitFailed, "empty"},
		{[]string{"report", write("foreign", "\x7fELF and so on, at some length, to look like a file")}, ExitFailed, "foreign"},
		{[]string{"report", write("text", "lime-profile 1\nnode nonsense\n")}, ExitFailed, "line 2"},
		{[]string{"report", write("newer", "lime-profile 99\n")}, ExitFailed, "newer"},
		{[]string{"report", write("nothing", "lime-profile 1\n")}, ExitWeak, ""},
		{[]string{"report", "--json", "--html", even}, ExitUsage, "json"},
		{[]string{"report", "--sections", "-1", even}, ExitUsage, "--sections -1"},
		{[]string{"report", "--alpha", "7", even}, ExitUsage, "--alpha 7"},
		{[]string{"report", "--alpha", "NaN", even}, ExitUsage, "--alpha NaN"},
		{[]string{"report", "--color", "sometimes", even}, ExitUsage, "--color sometimes"},
		{[]string{"report", "a", "b"}, ExitUsage, "2"},
		{[]string{"report", "-o", filepath.Join(dir, "no", "such", "place"), even}, ExitFailed, "no such file"},
		{[]string{"annotate", "nope.c", even}, ExitFailed, `no function "nope.c"`},
		{[]string{"annotate"}, ExitUsage, "arg"},
		{[]string{"simulate"}, ExitFailed, "no program to run"},
		{[]string{"simulate", "--cores", "0", "--", "true"}, ExitFailed, "--cores 0"},
		{[]string{"simulate", "--cores", "1025", "--", "true"}, ExitFailed, "--cores 1025"},
		{[]string{"simulate", "--cores", "x", "--", "true"}, ExitFailed, "x"},
		{[]string{"simulate", "--cpu", "pentium", "--", "true"}, ExitFailed, "--cpu pentium"},
		{[]string{"simulate", "--nope", "--", "true"}, ExitFailed, "--nope"},
		{[]string{"simulate", "--set", "l2.size=8MB", "--", "true"}, ExitFailed, "--set l2.size=8MB"},
		{[]string{"import", "gprof"}, ExitUsage, "gprof"},
		{[]string{"import", "callgrind"}, ExitUsage, "arg"},
		{[]string{"import", "callgrind", "--threads", "x", even}, ExitUsage, "x"},
		{[]string{"import", "callgrind", filepath.Join(dir, "none")}, ExitFailed, "none"},
		{[]string{"import", "callgrind", dir}, ExitFailed, "directory"},
		{[]string{"import", "callgrind", even}, ExitFailed, "not the output of callgrind"},
		{[]string{"import", "callgrind", write("nothing-in-it", "")}, ExitFailed, "empty"},
		{[]string{"export", even}, ExitUsage, "--csv"},
		{[]string{"diff", even}, ExitUsage, "2 arg"},
		{[]string{"diff", "--fail-on", "imbalance", even, even}, ExitUsage, "imbalance"},
		{[]string{"diff", even, write("half", `{"schema":`)}, ExitFailed, "half"},
		{[]string{"diff", even, write("other", `{"schema":"x"}`)}, ExitFailed, "schema"},
		{[]string{"diff", "--fail-on", "imbalance>+5%", even, "testdata/uneven8.txt"}, ExitGate, "imbalance>+5%"},
		{[]string{"diff", "--fail-on", "imbalance>+5%", even, even}, ExitOK, ""},
	} {
		code, _, stderr := lime(t, test.args...)
		if code != test.code || !strings.Contains(stderr, test.says) {
			t.Errorf("lime %v: status %d, stderr %q; want %d and %q", test.args, code, stderr, test.code, test.says)
		}
		if strings.Count(stderr, "lime: ") > 1 || strings.Contains(stderr, "goroutine") {
			t.Errorf("lime %v: %s", test.args, stderr)
		}
	}
}

func TestDiffReadsReportsInJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "before.json")
	if code, _, stderr := lime(t, "report", "--json", "-o", file, "testdata/even8.txt"); code != ExitOK {
		t.Fatal(stderr)
	}
	_, want, _ := lime(t, "diff", "testdata/even8.txt", "testdata/uneven8.txt")
	_, got, stderr := lime(t, "diff", file, "testdata/uneven8.txt")
	if diff := cmp.Diff(want, got); diff != "" || stderr != "" {
		t.Errorf("%s %s", stderr, diff)
	}
}

func TestColour(t *testing.T) {
	for _, test := range []struct {
		args    []string
		colours bool
	}{
		{[]string{"report", "testdata/uneven8.txt"}, false}, // not a terminal
		{[]string{"report", "--color", "always", "testdata/uneven8.txt"}, true},
		{[]string{"report", "--color=never", "testdata/uneven8.txt"}, false},
	} {
		_, stdout, _ := lime(t, test.args...)
		if got := strings.Contains(stdout, "\x1b["); got != test.colours {
			t.Errorf("lime %v: colours %v", test.args, got)
		}
	}
}

func TestImportThenReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "imported.data")
	from := "../collect/callgrind/testdata/small.thread"
	if code, _, stderr := lime(t, "import", "callgrind", "-o", file, from+"2", from+"3"); code != ExitOK {
		t.Fatal(stderr)
	}
	code, stdout, stderr := lime(t, "report", file)
	if code != ExitOK || !strings.Contains(stdout, "app.c:11") {
		t.Errorf("status %d, %s\n%s", code, stderr, stdout)
	}
}
