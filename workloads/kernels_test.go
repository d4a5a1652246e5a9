// Kernels: programs in the style of published benchmarks' hot sections, with a serial loading phase before them. What
// the reports must say was written down before, from counts that are not lime's. What is still wrong is on a list.
package workloads

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"lime/internal/testenv"
)

// expectation is a kernel's expect.json.
type expectation struct {
	Build    string
	Threads  []int
	Balanced bool
	Section  []string // lines of the call that ends the losing section
	Cause    struct {
		Lines []string // of one decision
		Why   string
	}
	Waits struct {
		Locks        []string // where threads really wait for a lock
		BuiltBarrier []string `json:"built_barrier"` // and within a barrier that the program built
	}
	Determinate bool
}

// marks are the lines that the expectation names, by the mark that the source has there.
func (e *expectation) marks() map[string][]string {
	return map[string][]string{"CAUSE": e.Cause.Lines, "END": e.Section, "LOCK": e.Waits.Locks, "BARRIER": e.Waits.BuiltBarrier}
}

// markComment is the comment that holds the marks of a line.
var markComment = regexp.MustCompile(`(?:/\*|//|!) ((?:CAUSE|END|LOCK|BARRIER| )+)`)

// sameEnvironment is what all programs are simulated with: the environment lies on the stack, and moves what lies below.
var sameEnvironment = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}

// at is a command where a program is, in that environment.
func at(prog, bin string, args ...string) *exec.Cmd {
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Env = filepath.Dir(prog), sameEnvironment
	return cmd
}

// loadKernel reads a kernel and holds the lines that its expectation names against the marks in its source.
func loadKernel(t *testing.T, file string) (*workload, expectation) {
	t.Helper()
	var e expectation
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		t.Fatal(file, err)
	}
	dir := filepath.Dir(file)
	w := &workload{name: filepath.Base(dir), dir: dir, Build: e.Build, Balanced: e.Balanced}
	sources, _ := filepath.Glob(filepath.Join(dir, w.name+".*"))
	if len(sources) != 1 {
		t.Fatalf("%s: want one source, found %v", w.name, sources)
	}
	w.source = filepath.Base(sources[0])
	if text, err = os.ReadFile(sources[0]); err != nil {
		t.Fatal(err)
	}
	w.text, w.marks = string(text), map[string][]int{}
	for i, line := range strings.Split(w.text, "\n") {
		if m := markComment.FindStringSubmatch(line); m != nil {
			for _, mark := range strings.Fields(m[1]) {
				w.marks[mark] = append(w.marks[mark], i+1)
			}
		}
	}
	for mark, want := range e.marks() {
		got := []string{}
		for _, l := range w.marks[mark] {
			got = append(got, fmt.Sprintf("%s:%d", w.source, l))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %s at %v, expected at %v", w.name, mark, got, want)
		}
	}
	return w, e
}

// fault is one thing that a report gets wrong: a line of the list without its remark.
type fault struct {
	kernel, threads, model, kind string
}

func (f fault) String() string {
	return strings.Join([]string{f.kernel, f.threads, f.model, f.kind}, " ")
}

// The kinds of fault.
const (
	failed   = "failed"   // no report, or the program did not end as natively
	silent   = "silent"   // no cause in the section that loses most
	misnamed = "misnamed" // another cause comes first
	paid     = "paid"     // what all threads pay for together comes before the cause
	alarm    = "alarm"    // a cause where there is none
	waits    = "waits"    // threads wait where they do not
)

// waitingEvent is what reports and their accounts call waiting for a lock.
const waitingEvent = "lock-wait"

// diagnose is what is wrong with a report: kinds of fault, and what lime said.
func diagnose(w *workload, a answer) map[string]string {
	// The report puts what threads pay together into the order, too; here it goes by what is lost.
	slices.SortStableFunc(a.Sections, func(x, y section) int { return -cmp.Compare(x.LostShare, y.LostShare) })
	wrong := map[string]string{}
	rank, remarks := w.verdict(a)
	if rank == 1 && !w.Balanced && a.Sections[0].Causes[0].Event == waitingEvent {
		rank, remarks = 0, append(remarks, "a wait at the line of the cause")
	}
	if rank != 1 {
		kind := misnamed
		switch {
		case w.Balanced:
			kind = alarm
		case len(a.Sections) == 0 || len(a.Sections[0].Causes) == 0:
			kind = silent
		case w.rank(uneven(a.Sections[0].Causes), "CAUSE") == 1:
			kind = paid
		}
		wrong[kind] = strings.Join(remarks, "; ")
	}
	if places := falseWaits(w, a); len(places) > 0 {
		wrong[waits] = strings.Join(places, "; ")
	}
	return wrong
}

// uneven are the causes that say why the threads differ, without what all of them pay for.
func uneven(causes []cause) []cause {
	return slices.DeleteFunc(slices.Clone(causes), func(c cause) bool { return c.ShareKind == "time" })
}

// falseWaits are the places at which the report sees threads wait for a lock, or build a barrier, where none does.
func falseWaits(w *workload, a answer) (places []string) {
	found := func(what string, p place, share float64) {
		real := append(slices.Clone(w.marks["LOCK"]), w.marks["BARRIER"]...)
		if filepath.Base(p.File) != w.source || !slices.Contains(real, p.Line) {
			places = append(places, fmt.Sprintf("%s at %s:%d (%.1f %%)", what, filepath.Base(p.File), p.Line, 100*share))
		}
	}
	for _, s := range a.Sections {
		if s.Kind == "built-barrier" {
			found(s.Kind, s.EndsAt, s.LostShare)
		}
		for _, c := range s.Causes {
			if c.Event == waitingEvent {
				found("cause", c.place, c.Share)
			}
		}
		if s.Ledger == nil {
			continue
		}
		for _, r := range s.Ledger.Rows {
			if r.Kind == waitingEvent {
				found("row", r.place, r.Share)
			}
		}
	}
	for _, c := range a.Costs {
		if c.Event == waitingEvent {
			found("cost", c.place, c.Share)
		}
	}
	return places
}

// score counts runs by how the first look at their reports went.
type score struct{ right, answered, falseWaits, all int }

func (s *score) add(wrong map[string]string) {
	s.all++
	if len(wrong) == 0 || len(wrong) == 1 && wrong[waits] != "" {
		s.right++
	}
	if wrong[failed] == "" && wrong[silent] == "" {
		s.answered++
	}
	if wrong[waits] != "" {
		s.falseWaits++
	}
}

// results are the faults that were found, and the scores by threads and model.
type results struct {
	sync.Mutex
	faults map[fault]string
	ran    map[fault]bool // of no kind
	scores map[string]*score
}

func (r *results) add(f fault, wrong map[string]string) {
	r.Lock()
	defer r.Unlock()
	r.ran[f] = true
	of := f.threads + " threads, " + f.model
	if r.scores[of] == nil {
		r.scores[of] = &score{}
	}
	r.scores[of].add(wrong)
	for kind, said := range wrong {
		f.kind = kind
		r.faults[f] = said
	}
}

const knownFaults = "testdata/kernels-known.txt"

// known reads the list of faults: kernel, threads, model, kind, and what lime said.
func known(t *testing.T) map[fault]bool {
	t.Helper()
	text, err := os.ReadFile(knownFaults)
	if err != nil {
		t.Fatal(err)
	}
	list := map[fault]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(words) < 4 {
			t.Fatalf("%s:%d: want kernel, threads, model and kind", knownFaults, i+1)
		}
		list[fault{words[0], words[1], words[2], words[3]}] = true
	}
	return list
}

// sample is what an ordinary run of the tests looks at.
var sample = []string{"barnes", "radix", "volrend", "kmeans", "rangescan", "skiplist", "swaptions", "wordcount"}

// TestKernels simulates the kernels and holds the first look at their reports against what was expected, and what is
// wrong against the list: it fails for a fault that is not there, and for one that is there and no more.
// LIME_LONG=1 takes all kernels, both models and all numbers of threads.
func TestKernels(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	long := os.Getenv("LIME_LONG") != ""
	files, err := filepath.Glob("kernels/*/expect.json")
	if err != nil || len(files) < 40 {
		t.Fatal("kernels are missing", err)
	}
	bin, dir, list := lime(t), t.TempDir(), known(t)
	r := &results{faults: map[fault]string{}, ran: map[fault]bool{}, scores: map[string]*score{}}
	t.Run("programs", func(t *testing.T) { // ends when all programs have
		for _, file := range files {
			w, e := loadKernel(t, file)
			models := []string{"count", "lime2011"}
			if !long {
				if !slices.Contains(sample, w.name) {
					continue
				}
				models, e.Threads = models[:1], e.Threads[:1]
			}
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				runKernel(t, bin, dir, w, e, models, r)
			})
		}
	})
	r.compare(t, list)
}

// runKernel builds a kernel, and adds what its reports are worth.
func runKernel(t *testing.T, bin, dir string, w *workload, e expectation, models []string, r *results) {
	prog := w.build(t, dir)
	for _, threads := range e.Threads {
		for _, model := range models {
			w.Machine = model
			wrong := map[string]string{}
			if a, err := w.simulate(t, bin, prog, threads); err != nil {
				wrong[failed] = strings.Join(strings.Fields(err.Error()), " ")
			} else {
				wrong = diagnose(w, a)
			}
			r.add(fault{kernel: w.name, threads: fmt.Sprint(threads), model: model}, wrong)
		}
	}
}

// compare holds the faults against the list, both ways, and prints the scores.
func (r *results) compare(t *testing.T, list map[fault]bool) {
	t.Helper()
	for _, of := range slices.Sorted(maps.Keys(r.scores)) {
		s := r.scores[of]
		t.Logf("%s: right %d of %d, answered %d of %d, false waits %d of %d", of, s.right, s.all, s.answered, s.all, s.falseWaits, s.all)
	}
	for _, f := range slices.SortedFunc(maps.Keys(r.faults), func(a, b fault) int { return strings.Compare(a.String(), b.String()) }) {
		if list[f] {
			t.Logf("known: %v: %s", f, r.faults[f])
		} else {
			t.Errorf("%v: %s", f, r.faults[f])
		}
	}
	for f := range list {
		_, wrong := r.faults[f]
		if ran := r.ran[fault{kernel: f.kernel, threads: f.threads, model: f.model}]; ran && !wrong {
			t.Errorf("%v: is right now: take it off %s", f, knownFaults)
		}
	}
}
