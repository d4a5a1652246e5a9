package sim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
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
				cmd, path := counting(t, []string{unnamed}, bin)
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
	eachRegion(t, path, func(_ *profile.Reader, in *profile.Instance) {
		n++
		var sum, most uint64
		for i := range in.Parts {
			x := &in.Parts[i]
			sum, most = sum+x.Time(), max(most, x.Time())
			if x.Time() > 0 && (x.Host.CPU == 0 || x.Host.Wall == 0) {
				t.Errorf("passage %d, thread %d took %+v on the host", in.Seq, x.Thread, x.Host)
			}
		}
		if lead := most - sum/uint64(len(in.Parts)); lead > in.Chance+limit {
			t.Errorf("passage %d: the last thread is %d later than the mean, by chance %d", in.Seq, lead, in.Chance)
		}
	})
	return n
}

// pieceWork is a piece of work of 2000 rounds of a loop.
const pieceWork = `#include <stdio.h>
static volatile long sum;
__attribute__((noinline)) static void piece(int i) {
	long r = 0;
	for (int j = 0; j < 2000; j++) { r += j ^ i; __asm__ volatile("" : "+r"(r)); }
	if (r == 1) sum = r;
}
`

const pieceTasks = pieceWork + `int main(void) {
	for (int k = 0; k < 4; k++) {
		#pragma omp parallel num_threads(8)
		#pragma omp single nowait
		FORM
	}
	return puts("done") < 0;
}
`

const pieceTasksOfTBB = pieceWork + `#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
int main() {
	tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 8);
	tbb::task_arena arena(8);
	for (int k = 0; k < 4; k++)
		arena.execute([] {
			tbb::parallel_for(tbb::blocked_range<int>(0, 200, 1), [](const tbb::blocked_range<int> &b) {
				for (int i = b.begin(); i < b.end(); i++) piece(i);
			}, tbb::simple_partitioner());
		});
	return puts("done") < 0;
}
`

// TestWhoDoesWhichTaskIsChance is TestDealingIsChance with tasks: those of OpenMP that one thread makes,
// one by one, in a loop, or in groups for which it waits, and those of TBB, which make each other.
func TestWhoDoesWhichTaskIsChance(t *testing.T) {
	const piece = 2000 * 10
	forms := map[string]string{
		"tasks":    "for (int i = 0; i < 200; i++) {\n_Pragma(\"omp task firstprivate(i)\")\npiece(i); }",
		"taskloop": "_Pragma(\"omp taskloop grainsize(1)\")\nfor (int i = 0; i < 200; i++) piece(i);",
		"groups": "for (int g = 0; g < 2; g++) { for (int i = 0; i < 100; i++) {\n_Pragma(\"omp task firstprivate(i)\")\npiece(i); }\n" +
			"_Pragma(\"omp taskwait\") }",
	}
	type program struct{ file, text, words string }
	programs := map[string]program{"TBB": {"a.cpp", pieceTasksOfTBB, "g++ -O1 -g -w -o OUT SRC -ltbb"}}
	for name, form := range forms {
		for _, cc := range []string{"gcc", "clang"} {
			programs[name+", "+cc] = program{"a.c", strings.ReplaceAll(pieceTasks, "FORM", form), cc + " -O1 -g -w -fopenmp -o OUT SRC"}
		}
	}
	for name, c := range programs {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			src, bin := filepath.Join(dir, c.file), filepath.Join(dir, "pieces")
			if err := os.WriteFile(src, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			words := strings.Fields(strings.NewReplacer("OUT", bin, "SRC", src).Replace(c.words))
			testenv.Tool(t, words[0])
			if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			cmd, path := counting(t, []string{unnamed}, bin)
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
				t.Fatalf("%v: %s", err, out)
			}
			if n := evenButForChance(t, path, 4*piece); n != 4 {
				t.Errorf("%d passages of the region, want 4", n)
			}
		})
	}
}
