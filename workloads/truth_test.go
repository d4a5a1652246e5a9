package workloads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// account is the ledger of a report, as far as the test reads it.
type account struct {
	Total float64
	Exact bool
	Rows  []struct {
		place
		Kind, Event string
		Share       float64
	}
	RestPositive float64 `json:"rest_positive"`
	RestNegative float64 `json:"rest_negative"`
}

// share is what the account charges to the lines of some marks.
func (a *account) share(w *workload, marks ...string) float64 {
	sum := 0.0
	for _, r := range a.Rows {
		at := func(l int) bool {
			return filepath.Base(r.File) == w.source && r.Line >= l-w.Slack && r.Line <= l+w.Slack
		}
		if slices.ContainsFunc(marks, func(m string) bool { return slices.ContainsFunc(w.marks[m], at) }) {
			sum += r.Share
		}
	}
	return sum
}

// truth reads the shares from what the program says that its threads spend: by mark, the part of the last thread's time
// beyond the mean.
func truth(t *testing.T, output []byte) map[string]float64 {
	t.Helper()
	beyond := map[string]float64{}
	plans := map[string][]float64{}
	var sums []float64
	for _, line := range strings.Split(string(output), "\n") {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "plan" {
			continue
		}
		for i, word := range words[2:] {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil {
				t.Fatal(err)
			}
			plans[words[1]] = append(plans[words[1]], x)
			if i == len(sums) {
				sums = append(sums, 0)
			}
			sums[i] += x
		}
	}
	last := slices.Index(sums, slices.Max(sums))
	total := sums[last] - mean(sums)
	for mark, xs := range plans {
		beyond[mark] = (xs[last] - mean(xs)) / total
	}
	return beyond
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// accounts simulates a program and returns its output and the ledger of the section that lost most.
func accounts(t *testing.T, bin, prog string, cores int, args ...string) ([]byte, *account) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "lime.data")
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(bin, append([]string{"simulate", "--cores", fmt.Sprint(cores), "-o", data, "--", prog, fmt.Sprint(cores)}, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("simulate: %v\n%s", err, &stderr)
	}
	text, err := exec.Command(bin, "report", "--json", data).Output()
	if err != nil {
		t.Fatal("report:", err)
	}
	var r struct{ Sections []struct{ Ledger *account } }
	if err := json.Unmarshal(text, &r); err != nil || len(r.Sections) == 0 || r.Sections[0].Ledger == nil {
		t.Fatalf("no account: %v\n%s", err, text)
	}
	return stdout.Bytes(), r.Sections[0].Ledger
}

// decoyMark stands at lines that must not be charged.
const decoyMark = "DECOY"

// TestShares holds the account against programs whose shares are known: every share right within one percentage
// point, nothing on the decoys, and all of it adding up.
func TestShares(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	all := load(t)
	w := all[slices.IndexFunc(all, func(w *workload) bool { return w.name == "shares" })]
	prog := w.build(t, t.TempDir())
	w.mark("DEPTH", decoyMark)
	bin := lime(t)
	for _, cores := range []int{8, 32} {
		for _, mode := range []string{"0", "1"} {
			t.Run(fmt.Sprintf("%d cores, mode %s", cores, mode), func(t *testing.T) {
				out, a := accounts(t, bin, prog, cores, mode)
				for mark, want := range truth(t, out) {
					got := a.share(w, mark)
					t.Logf("%-8s planted %7.2f %%, charged %7.2f %%", mark, 100*want, 100*got)
					if math.Abs(got-want) > 0.01 {
						t.Errorf("%s: charged %.4f, planted %.4f", mark, got, want)
					}
				}
				if got := a.share(w, decoyMark); math.Abs(got) > 0.001 {
					t.Errorf("decoys are charged %.4f", got)
				}
				a.addsUp(t)
			})
		}
	}
}

func (a *account) addsUp(t *testing.T) {
	t.Helper()
	sum := (a.RestPositive + a.RestNegative) / a.Total
	for _, r := range a.Rows {
		sum += r.Share
	}
	if !a.Exact || math.Abs(sum-1) > 1e-9 {
		t.Errorf("exact: %v, the shares sum to %v", a.Exact, sum)
	}
}
