package workloads

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/BurntSushi/toml"

	"lime/internal/testenv"
)

// workload is one program and its expected answer.
type workload struct {
	name, dir, source string
	About, Build      string
	Args              []string
	Family, Event     string
	Machine           string
	Set               []string // changes of the machine
	Wrong             string   // an event on a line with a mark, "l1d-miss@MARK", that is not the cause
	Sharing, Data     string   // what the first cause must say of the data
	Also              []string
	With              []string
	Slack             int
	Balanced          bool
	Large             []string // "old => new": replacements in the source for native runs, which need more work to do
	text              string
	marks             map[string][]int // lines by mark
}

func load(t *testing.T) []*workload {
	t.Helper()
	files, err := filepath.Glob("*/expect.toml")
	if err != nil || len(files) == 0 {
		t.Fatal("no workloads", err)
	}
	var all []*workload
	for _, f := range files {
		w := &workload{name: filepath.Dir(f), dir: filepath.Dir(f)}
		if _, err := toml.DecodeFile(f, w); err != nil {
			t.Fatal(err)
		}
		w.readMarks(t)
		all = append(all, w)
	}
	return all
}

func (w *workload) readMarks(t *testing.T) {
	t.Helper()
	sources, _ := filepath.Glob(filepath.Join(w.dir, "main.*"))
	if len(sources) != 1 {
		t.Fatalf("%s: want one main file, found %v", w.name, sources)
	}
	w.source = filepath.Base(sources[0])
	text, err := os.ReadFile(sources[0])
	if err != nil {
		t.Fatal(err)
	}
	w.marks, w.text = map[string][]int{}, string(text)
	w.mark(slices.Concat([]string{"CAUSE", "END", "WRONG"}, w.Also, w.With)...)
	if !w.Balanced && len(w.marks["CAUSE"]) == 0 {
		t.Fatalf("%s: no line is marked CAUSE", w.name)
	}
}

// mark finds the lines with some marks.
func (w *workload) mark(marks ...string) {
	for i, line := range strings.Split(w.text, "\n") {
		for _, m := range marks {
			if strings.Contains(line, m) {
				w.marks[m] = append(w.marks[m], i+1)
			}
		}
	}
}

// tools are what builds the program, as rows of scripts/tools.
func (w *workload) tools() (tools []string) {
	words := strings.Fields(w.Build)
	if words[0] != "go" {
		tools = append(tools, words[0])
	}
	if words[0] == "clang" && slices.Contains(words, "-fopenmp") {
		tools = append(tools, "libomp")
	}
	if slices.Contains(words, "-ltbb") {
		tools = append(tools, "libtbb")
	}
	return tools
}

// build compiles the program; without its compiler the test skips.
func (w *workload) build(t *testing.T, to string) string {
	t.Helper()
	testenv.Tool(t, w.tools()...)
	out := filepath.Join(to, w.name)
	words := strings.Fields(w.Build)
	for i := range words {
		if words[i] == "OUT" {
			words[i] = out
		}
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = w.dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", w.Build, err, text)
	}
	return out
}

// answer is what the report says, as far as the test reads it.
type answer struct {
	Sections     []section
	Serial       []stretch
	Costs        []cause
	Loss         loss               `json:"loss_account"`
	Shares       map[string]float64 `json:"loss"`
	Instructions *struct {
		Executed uint64
		Went     []struct {
			What         string
			Instructions uint64
		}
	}
}

// stretch is what one thread does alone.
type stretch struct {
	ID        int
	EndsAt    place   `json:"ends_at"`
	TimeShare float64 `json:"time_share"`
	Loading   float64
}

// addsUp holds what became of the instructions to what the threads executed.
func (a *answer) addsUp() error {
	x := a.Instructions
	if x == nil {
		return errors.New("it is not told what became of the instructions")
	}
	rest := x.Executed
	for _, w := range x.Went {
		if rest -= w.Instructions; w.What == "unaccounted" {
			return fmt.Errorf("%d instructions are unaccounted for", w.Instructions)
		}
	}
	if rest != 0 {
		return fmt.Errorf("what became of the instructions differs by %d from what was executed", int64(rest))
	}
	return a.costsAtMostAll()
}

// costsAtMostAll holds what causes cost the threads to the time that they have: nothing costs more
// than all of it.
func (a *answer) costsAtMostAll() error {
	const all = 1 + 1e-9
	for _, s := range a.Sections {
		if s.Contended > all {
			return fmt.Errorf("%s:%d: the threads keep one another waiting for %.3f of their time", s.EndsAt.File, s.EndsAt.Line, s.Contended)
		}
		for _, c := range slices.Concat(s.Causes, s.Candidates) {
			if c.CostShare > all {
				return fmt.Errorf("%s:%d: %s at %s:%d costs %.3f of the threads' time", s.EndsAt.File, s.EndsAt.Line,
					c.Event, c.File, c.Line, c.CostShare)
			}
		}
	}
	return nil
}

type section struct {
	ID         int
	Kind       string
	EndsAt     place `json:"ends_at"`
	Imbalance  float64
	LostShare  float64 `json:"lost_share"`
	Contended  float64 `json:"contended_share"`
	Causes     []cause
	Candidates []cause
	Ledger     *account
}

type place struct {
	File string
	Line int
}

type cause struct {
	place
	Family, Event string
	Score, Share  float64
	Sharing, Data string
	ShareKind     string  `json:"share_kind"`
	CostShare     float64 `json:"cost_share"`
	Sentence      string
	Luck          bool // of where pages lie, as the report says: not the program's
}

// buildDir is where the program under test is built.
var buildDir = sync.OnceValue(func() string {
	dir, _ := os.MkdirTemp("", "lime-workloads-")
	return dir
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir := buildDir(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// built is the program under test as the Makefile links it, built once.
var built = sync.OnceValues(func() (string, error) {
	out := filepath.Join(buildDir(), "lime")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-T 0x70000000", "-o", out, "lime/cmd/lime")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return out, nil
})

// lime is the program under test.
func lime(t *testing.T) string {
	t.Helper()
	if b := os.Getenv("LIME_BIN"); b != "" {
		abs, err := filepath.Abs(b) // programs run in directories of their own
		if err != nil {
			t.Fatal(err)
		}
		return abs
	}
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// simulate runs the program and returns the report, after checking that its
// output is the native one.
func (w *workload) simulate(t *testing.T, bin, prog string, cores int) (answer, error) {
	t.Helper()
	data, have := w.profile(t, cores)
	if have {
		return w.report(bin, data)
	}
	args := append([]string{fmt.Sprint(cores)}, w.Args...)
	native, err := exec.Command(prog, args...).Output()
	if err != nil {
		return answer{}, fmt.Errorf("native: %w", err)
	}
	var stdout, stderr bytes.Buffer
	options := []string{"simulate", "--cores", fmt.Sprint(cores), "-o", data}
	options = append(options, w.machine()...)
	cmd := exec.Command(bin, append(append(options, "--", "./"+filepath.Base(prog)), args...)...)
	cmd.Dir, cmd.Env = filepath.Dir(prog), sameEnvironment
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return answer{}, fmt.Errorf("simulate: %w\n%s", err, &stderr)
	}
	if w.Repeatable() && !bytes.Equal(native, stdout.Bytes()) {
		return answer{}, fmt.Errorf("output %q, native %q", &stdout, native)
	}
	return w.report(bin, data)
}

// profile is the file for the profile of a run, and whether it is there already: LIME_PROFILES
// names a directory in which profiles are kept, and from which they are reported on again, so that
// what reports say can be tried without simulating again.
func (w *workload) profile(t *testing.T, cores int) (file string, have bool) {
	t.Helper()
	dir := os.Getenv("LIME_PROFILES")
	if dir == "" {
		return filepath.Join(t.TempDir(), "lime.data"), false
	}
	if !filepath.IsAbs(dir) {
		t.Fatalf("LIME_PROFILES=%s: want an absolute directory", dir)
	}
	file = filepath.Join(dir, strings.Join([]string{w.name, fmt.Sprint(cores), cmp.Or(w.Machine, "count")}, "."))
	_, err := os.Stat(file)
	return file, err == nil
}

// report is what lime says about a profile.
func (w *workload) report(bin, data string) (answer, error) {
	text, err := exec.Command(bin, "report", "--json", data).Output()
	if err != nil {
		return answer{}, fmt.Errorf("report: %w", err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return answer{}, err
	}
	return a, cmp.Or(a.Loss.check(), addUp(a.Shares), a.addsUp(), w.accountsAgree(&a))
}

// machine is what simulates the program on its machine.
func (w *workload) machine() (options []string) {
	if w.Machine != "" {
		options = append(options, "--machine", w.Machine)
	}
	for _, s := range w.Set {
		options = append(options, "--set", s)
	}
	return options
}

// Repeatable tells programs whose output does not depend on the order of their threads.
func (w *workload) Repeatable() bool { return w.Event != "lock-wait" }

// important is the score above which a report shows a cause first.
const important = 0.1

// rank is the place (from 1) of the first cause at one of the lines, 0 if there is none.
func (w *workload) rank(causes []cause, mark string) int {
	for i, c := range causes {
		if filepath.Base(c.File) != w.source || w.Event != "" && c.Event != w.Event || w.Family != "" && c.Family != w.Family {
			continue
		}
		if slices.ContainsFunc(w.marks[mark], func(l int) bool { return c.Line >= l-w.Slack && c.Line <= l+w.Slack }) {
			return i + 1
		}
	}
	return 0
}

// worth is the share of the run below which a section's loss is nothing to report.
const worth = 0.01

// verdict judges a report: the rank of the cause, and what else is wrong with it.
func (w *workload) verdict(a answer) (rank int, remarks []string) {
	if len(a.Sections) == 0 {
		return 0, []string{"no sections"}
	}
	s := a.Sections[0]
	if w.Balanced {
		for _, s := range a.Sections {
			if s.LostShare > worth && len(s.Causes) > 0 && s.Causes[0].Score > important && !s.Causes[0].Luck {
				return 0, []string{fmt.Sprintf("false alarm: %s:%d (lost %.3f)", s.Causes[0].File, s.Causes[0].Line, s.LostShare)}
			}
		}
		return 1, nil
	}
	if ends := w.marks["END"]; len(ends) > 0 && !slices.Contains(ends, s.EndsAt.Line) {
		remarks = append(remarks, fmt.Sprintf("ends at %s:%d, want %v", filepath.Base(s.EndsAt.File), s.EndsAt.Line, ends))
	}
	rank = w.rank(s.Causes, "CAUSE")
	for _, mark := range w.Also {
		if r := w.rank(s.Causes, mark); r == 0 || r > 3 {
			remarks = append(remarks, fmt.Sprintf("%s has rank %d", mark, r))
		}
	}
	if rank != 1 {
		for i, c := range s.Causes[:min(3, len(s.Causes))] {
			remarks = append(remarks, fmt.Sprintf("%d: %s:%d %s %.2f", i+1, filepath.Base(c.File), c.Line, c.Event, c.Score))
		}
	}
	return rank, remarks
}
