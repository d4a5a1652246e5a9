package workloads

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// TestCountHitRate counts every workload in parallel, with eight threads whatever the cores, and prints how often the planted cause is named first.
// Each is run LIME_RUNS times (once); LIME_KEEP is a folder in which the profiles stay.
func TestCountHitRate(t *testing.T) {
	testenv.SkipUnlessLong(t)
	runs, _ := strconv.Atoi(cmp.Or(os.Getenv("LIME_RUNS"), "1"))
	bin, dir := lime(t), cmp.Or(os.Getenv("LIME_KEEP"), t.TempDir())
	var n tally
	for _, w := range load(t) {
		if w.Machine != "" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			prog := w.build(t, dir)
			for run := range runs {
				a, err := w.inParallel(bin, prog, filepath.Join(dir, fmt.Sprintf("%s.%d.lime", w.name, run)))
				if err != nil {
					t.Fatal(err)
				}
				rank, remarks := w.verdict(a)
				if rank != 1 || len(remarks) > 0 {
					t.Errorf("rank %d %s", rank, strings.Join(remarks, "; "))
				}
				n.add(w, rank)
			}
		})
	}
	t.Log(&n)
}

// inParallel counts a program, whose output must be the native one, and returns the report.
func (w *workload) inParallel(bin, prog, data string) (a answer, err error) {
	args := append([]string{fmt.Sprint(countedThreads)}, w.Args...)
	native, err := exec.Command(prog, args...).Output()
	if err != nil {
		return a, fmt.Errorf("native: %w", err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(bin, slices.Concat([]string{"count", "--force", "-o", data, "--", prog}, args)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return a, fmt.Errorf("count: %w\n%s", err, &stderr)
	}
	if w.Repeatable() && !bytes.Equal(native, stdout.Bytes()) {
		return a, fmt.Errorf("output %q, native %q", &stdout, native)
	}
	return w.report(bin, data)
}
