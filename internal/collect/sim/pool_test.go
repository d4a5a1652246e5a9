package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// fewTasks gives so many tasks to a pool of eight threads, in three regions; one thread works alone
// before each.
const fewTasks = taskWork + `#include <stdlib.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
int main(int, char **argv) {
	int tasks = atoi(argv[1]);
	tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 8);
	for (int r = 0; r < 3; r++) {
		out[0] += work(r, 400000);
		tbb::parallel_for(tbb::blocked_range<int>(0, tasks, 1), [](const tbb::blocked_range<int> &b) {
			for (int k = b.begin(); k < b.end(); k++) out[k] += work(k, 100000);
		}, tbb::simple_partitioner());
	}
	return puts("done") < 0;
}
`

// TestPoolsWithoutTasks has pools with fewer tasks than threads: each thread that there is takes part
// in the region, whether it is given a task in it, in another, or never.
func TestPoolsWithoutTasks(t *testing.T) {
	bin := poolWithFewTasks(t)
	for _, tasks := range []int{2, 3, 4, 7, 8, 20} {
		path, status, said := simulate(t, 8, bin, fmt.Sprint(tasks))
		if status != 0 {
			t.Fatalf("%d tasks: status %d: %s", tasks, status, said)
		}
		checkPool(t, path, tasks)
	}
}

// TestPoolsBeginWithTheirRegion has threads in parallel wait for tasks while one of them works
// alone: they take part in a region from its beginning, and no earlier.
func TestPoolsBeginWithTheirRegion(t *testing.T) {
	cmd, path := counting(t, []string{unnamed}, poolWithFewTasks(t), "20")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	eachRegion(t, path, func(_ *profile.Reader, in *profile.Instance) {
		for _, x := range in.Parts[1:] {
			if x.Start < in.Parts[0].Start {
				t.Errorf("thread %d begins at %d, the region at %d", x.Thread, x.Start, in.Parts[0].Start)
			}
		}
	})
}

// eachRegion calls f for each passage of a region.
func eachRegion(t *testing.T, path string, f func(*profile.Reader, *profile.Instance)) {
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
			f(p, in)
		}
	}
}

func poolWithFewTasks(t *testing.T) (bin string) {
	t.Helper()
	testenv.Tool(t, "g++", "libtbb")
	dir := t.TempDir()
	src := filepath.Join(dir, "a.cpp")
	bin = filepath.Join(dir, "few")
	if err := os.WriteFile(src, []byte(fewTasks), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("g++", "-O1", "-g", "-w", "-o", bin, src, "-ltbb").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return bin
}

// checkPool: who was there before a region's end takes part in it.
func checkPool(t *testing.T, path string, tasks int) {
	t.Helper()
	regions := 0
	eachRegion(t, path, func(p *profile.Reader, in *profile.Instance) {
		end, there := uint64(0), 0
		for i := range in.Parts {
			end = max(end, in.Parts[i].Release)
		}
		for _, x := range p.Tables().Threads {
			if x.Start < end {
				there++
			}
		}
		if regions++; len(in.Parts) != there || there < min(tasks, 8) {
			t.Errorf("%d tasks: %d threads were there, %d took part", tasks, there, len(in.Parts))
		}
	})
	if regions != 3 {
		t.Errorf("%d tasks: %d regions", tasks, regions)
	}
}
