package workloads

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// TestTooFewChunks runs loops whose iterations go out in chunks to whoever comes first. Where their
// number does not divide by that of the threads, it is the first cause, at the loop's directive or where its
// body begins, which says how many there are for how many threads; where it does, nothing is.
func TestTooFewChunks(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin := lime(t)
	for compiler, source := range map[string]string{"gcc": "chunks.c", "clang": "chunks.c", "gfortran": "chunks.f90"} {
		w := &workload{name: "chunks_" + compiler, dir: "testdata/chunks"}
		w.Build = compiler + " -O2 -g -fopenmp -o OUT " + source
		prog := w.build(t, t.TempDir())
		w.chunks(t, bin, prog, source, "loop", 5, 200, 1)
		w.chunks(t, bin, prog, source, "apart", 12, 200, 3)
		w.chunks(t, bin, prog, source, "loop", 800, 10, 1)
	}
}

// chunks holds the first causes to what the program does on eight cores.
func (w *workload) chunks(t *testing.T, bin, prog, source, way string, chunks, size, rounds int) {
	t.Helper()
	const threads = 8
	data := filepath.Join(t.TempDir(), "x.lime")
	cmd := exec.Command(bin, "simulate", "--cores", fmt.Sprint(threads), "-o", data, "--", prog, way, fmt.Sprint(chunks),
		fmt.Sprint(size), fmt.Sprint(rounds))
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", threads))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var a answer
	if err := readAnswer(bin, data, &a); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("%s, %s, %d chunks in each of %d rounds", w.name, way, chunks, rounds)
	want, told := fmt.Sprintf("dealt out in %d chunks to %d threads", chunks, threads), 0
	for i := range a.Sections {
		for k, x := range a.Sections[i].Causes {
			if strings.Contains(x.Sentence, " chunks to ") {
				told++
				marked := filepath.Base(x.File) == source && strings.Contains(w.line(t, source, x.Line), strings.ToUpper(way))
				if k > 0 || x.Event != "chunk" || !marked || !strings.Contains(x.Sentence, want) {
					t.Errorf("%s: cause %d at line %d: %s", name, k+1, x.Line, x.Sentence)
				}
			}
		}
	}
	if uneven := chunks%threads > 0; uneven && told != 1 || !uneven && told > 0 {
		t.Errorf("%s: told %d times; %s", name, told, a.Loss.Headline)
	}
}

// line is the text of a line of a workload's source.
func (w *workload) line(t *testing.T, file string, n int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, file))
	if lines := strings.Split(string(text), "\n"); err == nil && n > 0 && n <= len(lines) {
		return lines[n-1]
	}
	return ""
}
