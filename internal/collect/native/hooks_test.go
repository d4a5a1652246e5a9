package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lime/internal/profile"
)

// buildWith compiles a C program with some compiler, or skips the test.
func buildWith(t *testing.T, compiler, source string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("%s is not installed", compiler)
	}
	dir := t.TempDir()
	src, out := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O2", "-g", "-pthread", "-o", out, src}, flags...)
	if msg, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Skipf("%s %v: %v\n%s", compiler, flags, err, msg)
	}
	return out
}

// reduced ends a region with a barrier, which the compiler may reach by a jump, and has another one with a reduction.
const reduced = `
#include <omp.h>
#include <stdio.h>
int main(void) {
	long sum = 0;
	for (int r = 0; r < 5; r++) {
		#pragma omp parallel num_threads(4)
		{
			for (long i = 0; i < 100000; i++) __asm__ volatile("");
			#pragma omp barrier
		}
	}
	#pragma omp parallel num_threads(3) reduction(task, +:sum)
	sum += omp_get_thread_num() + 1;
	return sum == 6 ? 0 : 1;
}
`

// The regions of both runtimes are seen, and their barriers have a place.
func TestRuntimes(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) {
			p, res := record(t, Options{Command: []string{buildWith(t, compiler, reduced, "-fopenmp")}})
			found := sections(p)
			if res.Status != 0 || found[profile.SectionRegion] != [2]int{6, 4} || found[profile.SectionBarrier][1] != 4 {
				t.Errorf("status %d, sections by kind %v; want 6 region ends and barriers, of 4 threads", res.Status, found)
			}
			for id, s := range p.Tables().Sections {
				if s.Kind == profile.SectionBarrier && s.EndAddr == 0 {
					t.Errorf("section %d, a barrier, has no place", id)
				}
			}
		})
	}
}
