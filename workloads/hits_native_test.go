package workloads

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// enlarged copies the program to a folder of its own, with more work to do: a native run of a few milliseconds has no samples.
func (w *workload) enlarged(t *testing.T, to string) *workload {
	t.Helper()
	text := w.text
	for _, rule := range w.Large {
		from, by, ok := strings.Cut(rule, " => ")
		if !ok || !strings.Contains(text, from) {
			t.Fatalf("%s: nothing to replace by the rule %q", w.name, rule)
		}
		text = strings.ReplaceAll(text, from, by)
	}
	big := *w
	big.dir = filepath.Join(to, w.name+".src")
	if err := os.Mkdir(big.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(big.dir, w.source), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return &big
}

// recorded runs a program natively, unless that profile is there, and returns the report.
func (w *workload) recorded(bin, prog, data string, threads int) (a answer, err error) {
	if _, err := os.Stat(data); err == nil {
		return a, readAnswer(bin, data, &a)
	}
	args := append([]string{"record", "-o", data, "--", prog, fmt.Sprint(threads)}, w.Args...)
	if msg, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
		return a, fmt.Errorf("record: %w\n%s", err, msg)
	}
	return a, readAnswer(bin, data, &a)
}

func readAnswer(bin, data string, a *answer) error {
	text, err := exec.Command(bin, "report", "--json", data).Output()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return json.Unmarshal(text, a)
}

// TestNativeHitRate records the workloads natively, with eight threads and inputs that take about a second of CPU time, and
// prints how often the planted cause is named first. Each is run LIME_RUNS times (once); LIME_KEEP is a folder in which the profiles stay: those that are
// there already are reported on anew.
func TestNativeHitRate(t *testing.T) {
	testenv.SkipUnlessLong(t)
	const threads = 8
	runs, _ := strconv.Atoi(cmp.Or(os.Getenv("LIME_RUNS"), "1"))
	bin, dir := lime(t), cmp.Or(os.Getenv("LIME_KEEP"), t.TempDir())
	var n tally
	for _, w := range load(t) {
		if len(w.Large) == 0 {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			w := w.enlarged(t, t.TempDir())
			prog := w.build(t, dir)
			for run := range runs {
				a, err := w.recorded(bin, prog, filepath.Join(dir, fmt.Sprintf("%s.%d.lime", w.name, run)), threads)
				if err != nil {
					t.Fatal(err)
				}
				rank, remarks := w.verdict(a)
				t.Logf("%-18s rank %d %s", w.name, rank, strings.Join(remarks, "; "))
				n.add(w, rank)
			}
		})
	}
	t.Log(&n)
	if n.three*100 < n.all*leastNative {
		t.Errorf("want at least %d %% among the first three", leastNative)
	}
}

// leastNative is the share of planted causes, in percent, that must be among the first three of native runs.
const leastNative = 80
