package sim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/profile"
)

const dealtAlike = `#include <omp.h>
#include <stdio.h>
int main(void) {
	volatile long sum = 0;
	omp_set_num_threads(8);
	for (int k = 0; k < 4; k++) {
		#pragma omp parallel
		{
			long r = 0;
			#pragma omp for schedule(SCHEDULE) nowait
			for (int i = 0; i < 400; i++)
				for (int j = 0; j < 2000; j++) { r += j ^ i; __asm__ volatile("" : "+r"(r)); }
			if (r == 1) sum++;
		}
	}
	puts("done");
}
`

// TestDealingIsChance has threads in parallel take pieces of a loop, all alike, as the host lets
// them: of what the last one is later than the mean, all but a piece is told to be chance, and each
// part has its times on the host.
func TestDealingIsChance(t *testing.T) {
	const piece = 2000 * 10 // instructions, at most
	for _, cc := range []string{"gcc", "clang"} {
		for _, schedule := range []string{"dynamic", "monotonic:dynamic,2"} {
			t.Run(cc+"/"+schedule, func(t *testing.T) {
				dir := t.TempDir()
				src, bin := filepath.Join(dir, "dealt.c"), filepath.Join(dir, "dealt")
				if err := os.WriteFile(src, []byte(strings.ReplaceAll(dealtAlike, "SCHEDULE", schedule)), 0o600); err != nil {
					t.Fatal(err)
				}
				if text, err := exec.Command(cc, "-O1", "-g", "-w", "-fopenmp", "-o", bin, src).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				cmd, path := counting(t, nil, bin)
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
					t.Fatalf("%v: %s", err, out)
				}
				if n := evenButForChance(t, path, 2*piece); n != 4 {
					t.Errorf("%d passages of the region, want 4", n)
				}
			})
		}
	}
}

// evenButForChance counts the passages of regions, in each of which the last thread is to be less
// than a limit later than the mean, but for chance.
func evenButForChance(t *testing.T, path string, limit uint64) (n int) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for id, s := range p.Tables().Sections {
		if s.Kind != profile.SectionRegion {
			continue
		}
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			var sum, most uint64
			for i := range in.Parts {
				x := &in.Parts[i]
				sum, most = sum+x.Time(), max(most, x.Time())
				if x.Host.CPU == 0 || x.Host.Wall == 0 {
					t.Errorf("passage %d, thread %d took %+v on the host", in.Seq, x.Thread, x.Host)
				}
			}
			if lead := most - sum/uint64(len(in.Parts)); lead > in.Chance+limit {
				t.Errorf("passage %d: the last thread is %d later than the mean, by chance %d", in.Seq, lead, in.Chance)
			}
		}
	}
	return n
}
