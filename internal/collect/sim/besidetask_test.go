package sim_test

import (
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// What the programs of TestTasksTakeTime have in common.
const taskWork = `#include <stdio.h>
static double out[64];
__attribute__((noinline)) static double work(int k, long n) {
	double x = k;
	for (long i = 0; i < n; i++) x = x * 0.999 + i;
	return x;
}
`

const tasksAtBarriers = taskWork + `int main(void) {
	#pragma omp parallel num_threads(4)
	for (int r = 0; r < 5; r++) {
		#pragma omp single nowait
		for (int k = 0; k < 40; k++) {
			#pragma omp task firstprivate(k)
			out[k] += work(k, 20000);
		}
		#pragma omp barrier
	}
	return puts("done") < 0;
}
`

const tasksAtTheEnd = taskWork + `int main(void) {
	for (int r = 0; r < 5; r++) {
		#pragma omp parallel num_threads(4)
		#pragma omp single nowait
		for (int k = 0; k < 40; k++) {
			#pragma omp task firstprivate(k)
			out[k] += work(k, 20000);
		}
	}
	return puts("done") < 0;
}
`

const tasksOfTBB = taskWork + `#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
int main() {
	tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 4);
	tbb::task_arena arena(4);
	for (int r = 0; r < 5; r++)
		arena.execute([] {
			tbb::parallel_for(tbb::blocked_range<int>(0, 40, 1), [](const tbb::blocked_range<int> &b) {
				for (int k = b.begin(); k < b.end(); k++) out[k] += work(k, 20000);
			}, tbb::simple_partitioner());
		});
	return puts("done") < 0;
}
`

// TestTasksTakeTime has threads in parallel do tasks while they wait at the end of a section: each
// thread's clock goes on by what it does there, so none has worked for longer than the run took.
func TestTasksTakeTime(t *testing.T) {
	for _, c := range []struct {
		name, text string
		tools      []string // the compiler first
		flag       string
	}{
		{"barriers, gcc", tasksAtBarriers, []string{"gcc"}, "-fopenmp"},
		{"ends of regions, gcc", tasksAtTheEnd, []string{"gcc"}, "-fopenmp"},
		{"barriers, clang", tasksAtBarriers, []string{"clang", "libomp"}, "-fopenmp"},
		{"ends of regions, clang", tasksAtTheEnd, []string{"clang", "libomp"}, "-fopenmp"},
		{"TBB", tasksOfTBB, []string{"g++", "libtbb"}, "-Wl,--no-as-needed -ltbb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			testenv.Tool(t, c.tools...)
			bin := compileText(t, c.text, c.tools[0]+" -O1 -g -w "+c.flag)
			cmd, path := counting(t, []string{unnamed}, bin)
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
				t.Fatalf("%v: %s", err, out)
			}
			worked, run := partsOfThreads(t, path)
			sum := uint64(0)
			for thread, units := range worked {
				if sum += units; units > run {
					t.Errorf("thread %d has worked for %d in its parts, the run took %d", thread, units, run)
				}
			}
			if least := uint64(5 * 40 * 20000); sum < least {
				t.Errorf("all parts come to %d, the tasks alone have %d", sum, least)
			}
		})
	}
}

// partsOfThreads adds up what the parts of each thread took that ended at barriers and with regions,
// beside what the run took.
func partsOfThreads(t *testing.T, path string) (worked map[profile.ThreadID]uint64, run uint64) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	worked = map[profile.ThreadID]uint64{}
	for id, s := range p.Tables().Sections {
		if s.Kind != profile.SectionRegion && s.Kind != profile.SectionBarrier {
			continue
		}
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range in.Parts {
				worked[in.Parts[i].Thread] += in.Parts[i].Time()
			}
		}
	}
	return worked, p.Meta().RunTime
}
