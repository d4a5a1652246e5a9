package workloads

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"lime/internal/testenv"
)

// TestCallgrind analyses what valgrind's callgrind counted in two of the workloads: data of a collector that is not ours.
func TestCallgrind(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	testenv.Tool(t, "valgrind")
	all, bin := load(t), lime(t)
	for _, name := range []string{"decoy", "lists", "databranch", "funcptr", "two"} {
		t.Run(name, func(t *testing.T) {
			w := all[slices.IndexFunc(all, func(w *workload) bool { return w.name == name })]
			prog := w.build(t, t.TempDir())
			a := w.callgrind(t, bin, prog)
			if len(a.Sections) == 0 {
				t.Fatal("no sections")
			}
			if rank := w.rank(a.Sections[0].Causes, "CAUSE"); rank != 1 {
				t.Errorf("the planted cause has rank %d: %+v", rank, a.Sections[0].Causes)
			}
		})
	}
}

// callgrind counts a program, and returns the report of the counts.
func (w *workload) callgrind(t *testing.T, bin, prog string) (a answer) {
	t.Helper()
	dir := t.TempDir()
	out, data := filepath.Join(dir, "cg.out"), filepath.Join(dir, "lime.data")
	args := append([]string{"--tool=callgrind", "--separate-threads=yes", "--dump-instr=yes", "--collect-jumps=yes",
		"--callgrind-out-file=" + out, prog, "8"}, w.Args...)
	cmd := exec.Command("valgrind", args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("valgrind: %v\n%s", err, text)
	}
	files, _ := filepath.Glob(out + "-*")
	if text, err := exec.Command(bin, append([]string{"import", "callgrind", "-o", data}, files...)...).CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, text)
	}
	text, err := exec.Command(bin, "report", "--json", data).Output()
	if err != nil {
		t.Fatal("report:", err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a
}
