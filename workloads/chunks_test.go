package workloads

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// TestTooFewChunks runs loops whose iterations go out in chunks to whoever comes first. Where their
// number does not divide by that of the threads, it is the cause, at a line of the loop, and the first
// sentence says how many there are for how many threads; where it does, or there are very many of
// them, nothing is.
func TestTooFewChunks(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin := lime(t)
	for _, compiler := range []string{"gcc", "clang"} {
		w := &workload{name: "chunks_" + compiler, dir: "testdata/chunks"}
		w.Build = compiler + " -O2 -g -fopenmp -o OUT chunks.c"
		prog := w.build(t, t.TempDir())
		w.chunks(t, bin, prog, "loop", 5, 200, 1)
		w.chunks(t, bin, prog, "apart", 12, 200, 3)
		w.chunks(t, bin, prog, "loop", 801, 10, 1)
	}
}

// chunks holds the first sentence to what the program does on eight cores.
func (w *workload) chunks(t *testing.T, bin, prog, way string, chunks, size, rounds int) {
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
	want := fmt.Sprintf("The first cause: %d chunks for %d threads at chunks.c:", chunks, threads)
	if few := chunks < 100; strings.Contains(a.Loss.Headline, want) != few || !few && strings.Contains(a.Loss.Headline, "chunks for") {
		t.Errorf("%s: %s", name, a.Loss.Headline)
	}
}
