package native

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lime/internal/profile"
	"lime/internal/section"
)

// best is the least time that the last of the threads takes: all ways to deal the tasks out are tried.
func best(threads, tasks []uint64) uint64 {
	if len(tasks) == 0 {
		return slices.Max(threads)
	}
	least := ^uint64(0)
	for i := range threads {
		threads[i] += tasks[0]
		least = min(least, best(threads, tasks[1:]))
		threads[i] -= tasks[0]
		if threads[i] == 0 { // the others that have nothing yet are no different
			break
		}
	}
	return least
}

func tasksOf(times []uint64) (of []doneTask) {
	for _, t := range times {
		of = append(of, doneTask{cpu: t})
	}
	return of
}

// Whatever is claimed, no other hand could have dealt the tasks out more evenly; of tasks that may be
// equal, all of it is claimed, and nothing where each thread gets as many.
func TestUndivided(t *testing.T) {
	cpu := []uint64{500, 100, 100, 100}
	if got, want := undivided(cpu, tasksOf([]uint64{400, 0, 100, 100})), undivided(cpu, tasksOf([]uint64{400, 100, 100})); !slices.Equal(got, want) {
		t.Errorf("with a task of which nothing is known %v, want %v", got, want)
	}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, m := 2+rng.IntN(3), rng.IntN(9)
		cpu, times := make([]uint64, n), make([]uint64, m)
		equal, dealt := rng.IntN(2) == 0, rng.IntN(2) == 0
		for i := range times {
			if times[i] = 1000 + rng.Uint64N(200); !equal {
				times[i] = 100 + rng.Uint64N(3000)
			}
			cpu[rng.IntN(n)] += times[i]
		}
		if dealt { // other work, that could be divided
			cpu[rng.IntN(n)] += rng.Uint64N(2000)
		}
		waits := undivided(cpu, tasksOf(times))
		sum, most := total(cpu), best(make([]uint64, n), times)
		if waits[slices.Index(waits, slices.Min(waits))] != 0 || total(waits) > max(most*uint64(n), sum)-sum {
			t.Fatalf("seed %d: %v of %d in %d threads: waits %v, but %d are enough for the last one", seed, times, sum, n, waits, most)
		}
		if rest := m % n; equal && !dealt && (rest == 0) != (total(waits) <= uint64(m)) {
			t.Fatalf("seed %d: %v in %d threads: waits %v", seed, times, n, waits)
		}
	}
}

// Of a task in which its thread did others, or that has made some, nothing is known to be its own work:
// it may have waited for them.
func TestTasksInTasks(t *testing.T) {
	d := newDoneTasks()
	d.makes[7] = true
	for _, x := range []doneTask{
		{thread: 1, from: 20, to: 30, cpu: 10}, {thread: 2, from: 15, to: 35, cpu: 20}, {thread: 1, from: 40, to: 60, cpu: 18},
		{thread: 1, from: 10, to: 70, cpu: 55}, {thread: 1, from: 80, to: 90, cpu: 10, function: 7}, {thread: 1, from: 91, to: 95, cpu: 4},
		{thread: 1, from: 5, to: 100, cpu: 80},
	} {
		d.add(x)
	}
	var got []uint64
	for i := range d.list {
		got = append(got, d.list[i].cpu)
	}
	if want := []uint64{10, 20, 18, 0, 0, 4, 0}; !slices.Equal(got, want) {
		t.Errorf("own times %v, want %v", got, want)
	}
	in := section.Instance{Parts: []section.Part{{Thread: 1, Spans: []any{&piece{from: 25}}}}}
	if of := d.take(&in); len(of) != 6 || len(d.list) != 1 || d.list[0].thread != 2 {
		t.Errorf("taken %v, left %v", of, d.list)
	}
}

// tasksProgram has tasks of so much work each, and writes how long each had a core. %s: how they are
// made, of a function called work; and how the threads meet.
const tasksProgram = `
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static long cpu(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static int n;
static long *much, *took;
static volatile double sink;
static void work(int i) {
	long from = cpu();
	double x = i;
	for (long k = 0; k < much[i] * 10000; k++) x = x * 0.999 + 1;
	sink = x;
	took[i] = cpu() - from;
}
int main(int argc, char **argv) {
	n = argc - 2;
	much = calloc(n, sizeof *much), took = calloc(n, sizeof *took);
	for (int i = 0; i < n; i++) much[i] = atoi(argv[i + 2]);
	#pragma omp parallel num_threads(4)
	{
		#pragma omp %[2]s
		{
			%[1]s
		}
	}
	FILE *f = fopen(argv[1], "w");
	for (int i = 0; i < n; i++) fprintf(f, "%%ld\n", took[i]);
	return fclose(f);
}
`

// Tasks of both runtimes, however they are made and waited for, are seen one by one; and what no hand
// could have dealt out more evenly, by the times that the program itself has of them, is told, and
// nothing else.
func TestWholeTasks(t *testing.T) {
	needs(t, needSamples, needTracing)
	const loop = "for (int i = 0; i < n; i++) {\n#pragma omp task firstprivate(i)\nwork(i);\n}"
	makes := []string{loop, loop + "\n#pragma omp taskwait",
		"#pragma omp taskloop num_tasks(n)\nfor (int i = 0; i < n; i++) work(i);",
		"if (n) {\n#pragma omp task\n{ " + loop + "\n#pragma omp taskwait\n}\n}"}
	kinds := map[string][]any{
		"one too many": {900, 900, 900, 900, 900}, "too few": {1500, 1500}, "one too large": {4000, 300, 300, 300, 300, 300},
		"even": {600, 600, 600, 600, 600, 600, 600, 600},
	}
	i := 0
	for _, compiler := range []string{"gcc", "clang"} {
		for _, how := range makes {
			meet := []string{"single", "single nowait", "master"}[i%3]
			program := buildWith(t, compiler, fmt.Sprintf(tasksProgram, how, meet), "-fopenmp")
			for kind, sizes := range kinds {
				t.Run(fmt.Sprintf("%s, %d, %s, %s", compiler, i%len(makes), meet, kind), func(t *testing.T) {
					out := filepath.Join(t.TempDir(), "took")
					command := []string{program, out}
					for _, x := range sizes {
						command = append(command, fmt.Sprint(x))
					}
					p, _ := record(t, Options{Command: command})
					checkWhole(t, p, readTimes(t, out), how == loop)
				})
			}
			i++
		}
	}
}

func readTimes(t *testing.T, path string) (took []uint64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		var x uint64
		if _, err := fmt.Sscan(s.Text(), &x); err != nil {
			t.Fatal(err)
		}
		took = append(took, x)
	}
	return took
}

// asMeasured is what two clocks of the same thread may differ by, of the work.
const asMeasured = 0.1

// checkWhole holds a profile to tasks that took so long: to no more than is true, and to all of it where
// no thread spins for tasks in its own part, which counts as work there.
func checkWhole(t *testing.T, p *profile.Profile, took []uint64, all bool) {
	t.Helper()
	tab := p.Tables()
	var number, ahead uint64
	for id := range tab.Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for _, c := range in.Events {
				if tab.Kinds[tab.Events[c.Row].Kind].Name == profile.KindWholeTask {
					number += c.N
				}
			}
			for _, c := range in.Costs {
				if tab.Kinds[tab.Events[c.Row].Kind].Name == profile.KindWholeTask {
					ahead += c.N
				}
			}
		}
	}
	if number < uint64(len(took)) || number > uint64(len(took))+1 { // one may make the others
		t.Errorf("%d tasks are seen, want %d", number, len(took))
	}
	want := total(undivided([]uint64{total(took), 0, 0, 0}, tasksOf(took))) / 4
	if off := asMeasured * float64(total(took)); float64(ahead) > float64(want)+off || all && float64(ahead) < float64(want)-off {
		t.Errorf("the last thread is told to be %d ns later than the mean; by the program's times %v it is %d", ahead, took, want)
	}
}
