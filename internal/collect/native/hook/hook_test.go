package hook

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"lime/internal/testenv"
)

const program = `
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_barrier_t b;
__attribute__((noinline)) static void meet(void) { pthread_barrier_wait(&b); __asm__ volatile("" ::: "memory"); }
static void *work(void *arg) { for (int i = 0; i < 50; i++) meet(); return arg; }
int main(void) {
	pthread_t t[8];
	pthread_barrier_init(&b, 0, 8);
	for (long i = 0; i < 8; i++) pthread_create(&t[i], 0, work, (void *)i);
	long sum = 0;
	for (int i = 0; i < 8; i++) { void *r; pthread_join(t[i], &r); sum += (long)r; }
	printf("%ld\n", sum);
	return sum == 28 ? 7 : 1;
}
`

// build compiles the program with some flags.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	return compile(t, program, flags...)
}

// compile builds a C program.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	return compileBy(t, "gcc", source, flags...)
}

func compileBy(t *testing.T, compiler, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O2", "-g", "-pthread", "-o", out, src}, flags...)
	if msg, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, flags, err, msg)
	}
	return out
}

// start runs a program under ptrace up to its entry.
func start(t *testing.T, path string) (*exec.Cmd, *Tracee) {
	t.Helper()
	cmd, tr := begin(t, path)
	if err := tr.RunToEntry(); err != nil {
		t.Fatal(err)
	}
	return cmd, tr
}

// begin starts a program under ptrace; it stands at the beginning of the dynamic loader.
func begin(t *testing.T, path string) (*exec.Cmd, *Tracee) {
	t.Helper()
	cmd := exec.Command(path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		testenv.Skip(t, testenv.NoTracing, err)
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &ws, 0, nil); err != nil {
		t.Fatal(err)
	}
	tr, err := Attach(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, tr
}

// prepared starts a program under ptrace, with a ring for its records. The test stays on the thread
// that traces.
func prepared(t *testing.T, path string) (*exec.Cmd, *Tracee, *Ring) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	cmd, tr := start(t, path)
	ring, err := NewRing()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ring.Close() })
	return cmd, tr, ring
}

// hooked runs a program, which ends with status 7, with hooks.
func hooked(t *testing.T, path string, funcs []Func) *Ring {
	t.Helper()
	cmd, tr, ring := prepared(t, path)
	if _, err := Install(tr, ring, funcs); err != nil {
		t.Fatal(err)
	}
	if err := tr.Detach(); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Fatalf("the program ended with %v, want status 7", cmd.ProcessState)
	}
	return ring
}

var funcs = []Func{
	{Name: "pthread_barrier_wait", Return: true},
	{Name: "pthread_create", Return: true, Fetch: true},
	{Name: "pthread_join", Return: true, StackArgs: 64},
	{Name: "no_such_function"},
}

func TestHook(t *testing.T) {
	for _, flags := range [][]string{nil, {"-Wl,-z,now"}, {"-Wl,-z,lazy", "-no-pie"}, {"-fno-plt"}} {
		path := build(t, flags...)
		cmd, tr, ring := prepared(t, path)
		in, err := Install(tr, ring, funcs)
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Detach(); err != nil {
			t.Fatal(err)
		}
		err = cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 7 {
			t.Fatalf("%v: the program ended with %v, want status 7", flags, err)
		}
		check(t, ring, in, cmd.Process.Pid)
	}
}

func check(t *testing.T, ring *Ring, in *Installed, pid int) {
	t.Helper()
	entries, returns := map[int]int{}, map[int]int{}
	tids := map[int32]int{}
	var last map[int32]uint64 = map[int32]uint64{}
	serial := 0
	handles := map[uint64]bool{}
	ring.Drain(func(r Record) {
		if r.TSC < last[r.TID] {
			t.Errorf("thread %d: time goes backwards", r.TID)
		}
		last[r.TID] = r.TSC
		if r.Phase == Return {
			returns[r.Func]++
			if funcs[r.Func].Fetch {
				handles[r.Arg1] = true
			}
			if funcs[r.Func].Name == "pthread_barrier_wait" && int32(r.Arg0) == -1 {
				serial++
			}
			return
		}
		entries[r.Func]++
		if funcs[r.Func].Name == "pthread_join" && !handles[r.Arg0] {
			t.Errorf("joined %#x, which pthread_create did not give", r.Arg0)
		}
		tids[r.TID]++
	})
	if entries[0] != 400 || returns[0] != 400 || serial != 50 {
		t.Errorf("barrier: %d entries, %d returns, %d of them serial; want 400, 400, 50", entries[0], returns[0], serial)
	}
	if entries[1] != 8 || returns[1] != 8 || entries[2] != 8 || returns[2] != 8 {
		t.Errorf("create %d, %d; join %d, %d; want 8 each", entries[1], returns[1], entries[2], returns[2])
	}
	if len(tids) != 9 || tids[int32(pid)] != 16 {
		t.Errorf("threads: %v, the main thread is %d", tids, pid)
	}
	if ring.Lost() != 0 || len(in.Hooked) != 3 {
		t.Errorf("lost %d, hooked %v", ring.Lost(), in.Hooked)
	}
}

// A static program is hooked by its symbols, wherever it is loaded; without any it stays as it is.
func TestStatic(t *testing.T) {
	for _, row := range []struct {
		flags []string
		err   error
	}{{[]string{"-static"}, nil}, {[]string{"-static-pie"}, nil}, {[]string{"-static", "-s"}, ErrStatic}} {
		path := build(t, row.flags...)
		cmd, tr, ring := prepared(t, path)
		in, err := Install(tr, ring, funcs)
		if !errors.Is(err, row.err) {
			t.Errorf("static program, %v: %v, want %v", row.flags, err, row.err)
		}
		if err := tr.Detach(); err != nil {
			t.Fatal(err)
		}
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
			t.Errorf("the program was harmed: %v", cmd.ProcessState)
		}
		if err == nil {
			check(t, ring, in, cmd.Process.Pid)
		}
	}
}

const openmp = `
#include <omp.h>
#include <stdio.h>
int main(void) {
	long sum = 0;
	for (int r = 0; r < 20; r++) {
		#pragma omp parallel num_threads(6) reduction(+:sum)
		sum += omp_get_thread_num();
	}
	long part = 0;
	#pragma omp parallel for schedule(dynamic, 3) num_threads(6)
	for (int i = 0; i < 100; i++) __atomic_fetch_add(&part, i, __ATOMIC_RELAXED);
	if (part != 4950) return 1;
	printf("%ld\n", sum);
	return sum == 300 ? 7 : 1;
}
`

// The work that is passed to a function is seen on every thread, and belongs to its call.
func TestWork(t *testing.T) {
	out := compile(t, openmp, "-fopenmp")
	loop := Func{Name: "GOMP_parallel_loop_nonmonotonic_dynamic", Work: true, StackArgs: 16}
	ring := hooked(t, out, []Func{{Name: "GOMP_parallel", Work: true}, loop, {Name: "GOMP_parallel_reductions", Work: true}})
	count, loops := map[Phase]int{}, map[Phase]int{}
	calls := 0
	var call uint64
	ring.Drain(func(r Record) {
		if r.Func == 1 {
			loops[r.Phase]++
			return
		}
		count[r.Phase]++
		switch {
		case r.Phase == Enter:
			call = r.Call()
		case r.Phase == Begin && r.Call() == call:
			calls++
		}
	})
	if loops[Enter] != 1 || loops[Begin] != 6 || loops[End] != 6 {
		t.Errorf("loop with arguments on the stack: records by phase %v", loops)
	}
	if count[Enter] != 20 || count[Return] != 20 || count[Begin] != 120 || count[End] != 120 || calls != 120 {
		t.Errorf("records by phase %v, %d of them of the open call", count, calls)
	}
}

const openmpTasks = `
#include <stdio.h>
static long walk(int n) {
	long a = 0, b = 0;
	if (n < 2) return 1;
	#pragma omp task shared(a)
	a = walk(n - 1);
	#pragma omp task shared(b)
	b = walk(n - 2);
	#pragma omp taskwait
	return a + b + 1;
}
int main(void) {
	long sum = 0, tree = 0, loop = 0;
	#pragma omp parallel num_threads(6)
	#pragma omp single
	{
		for (int i = 0; i < 3000; i++) { /* more than are there at a time */
			#pragma omp task firstprivate(i)
			__atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
		}
		tree = walk(16);
		#pragma omp taskloop num_tasks(7)
		for (int i = 0; i < 70; i++) __atomic_fetch_add(&loop, i, __ATOMIC_RELAXED);
	}
	printf("%ld %ld %ld\n", sum, tree, loop);
	return sum == 4498500 && tree == 3193 && loop == 2415 ? 7 : 1;
}
`

// Every task that takes long is seen at its end, whoever runs it and however many there are, and every
// function of tasks when the first one is made; short ones leave no record, and none is run wrongly.
func TestTasks(t *testing.T) {
	const trees = 3193 - 1 // calls of walk but the first, each a task of one of two functions
	for compiler, flags := range map[string][]string{"gcc": {"-fopenmp"}, "clang": {"-fopenmp", "-O1"}} {
		for _, slow := range []uint32{0, 1 << 31} {
			t.Run(fmt.Sprintf("%s, %d cycles", compiler, slow), func(t *testing.T) {
				testenv.Tool(t, compiler)
				if compiler == "clang" {
					testenv.Tool(t, "libomp")
				}
				out := compileBy(t, compiler, openmpTasks, flags...)
				ring := hooked(t, out, []Func{{Name: "GOMP_task", Task: true, Slow: slow},
					{Name: "GOMP_taskloop", Task: true, Slow: slow}, {Name: "__kmpc_omp_task_alloc", Task: true, Body: 5, Slow: slow}})
				made, run := map[uint64]int{}, map[uint64]int{}
				ring.Drain(func(r Record) {
					switch r.Phase {
					case Enter:
						made[r.Arg0]++
					case End:
						run[r.Arg0]++
					default:
						t.Errorf("record of phase %d", r.Phase)
					}
				})
				checkTasks(t, made, run, slow == 0, []int{7, 3000, trees})
			})
		}
	}
}

// checkTasks holds the functions of tasks to one record each, and their tasks, if they are all recorded,
// to the numbers, of which the last one is of two functions.
func checkTasks(t *testing.T, made, run map[uint64]int, all bool, numbers []int) {
	t.Helper()
	if len(made) != len(numbers)+1 {
		t.Fatalf("made %v", made)
	}
	var counts []int
	for f, n := range made {
		if n != 1 {
			t.Errorf("function %#x: told of %d times", f, n)
		}
		counts = append(counts, run[f])
	}
	if !all {
		if len(run) > 0 {
			t.Errorf("short tasks are recorded: %v", run)
		}
		return
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if want := numbers[0] + numbers[1] + numbers[2]; sum != want || !slices.Contains(counts, numbers[0]) || !slices.Contains(counts, numbers[1]) {
		t.Errorf("tasks run, by function: %v, want %v, the last one in two", counts, numbers)
	}
}

const locks = `
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int checked(void) { /* what lock returns is passed on */
	pthread_mutexattr_t a;
	pthread_mutex_t e;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&e, &a);
	return pthread_mutex_lock(&e) == 0 && pthread_mutex_lock(&e) == EDEADLK && pthread_mutex_unlock(&e) == 0;
}
static void *wait_for_it(void *arg) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return arg; }
int main(void) {
	pthread_t t;
	if (!checked()) return 2;
	for (int i = 0; i < 1000; i++) { pthread_mutex_lock(&n); pthread_mutex_unlock(&n); }
	pthread_mutex_lock(&m);
	pthread_create(&t, 0, wait_for_it, 0);
	while (*(volatile int *)&m != 2) usleep(1000); /* until somebody waits, as glibc keeps it */
	usleep(50000);
	if (pthread_mutex_trylock(&m) == 0) return 1;
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	return 7;
}
`

// Of locks, only the waits and the releases that end them are seen, whether or not the lock is
// tried first.
func TestLocks(t *testing.T) {
	for _, try := range []string{"", "pthread_mutex_trylock"} {
		t.Run(try, func(t *testing.T) { testLocks(t, try) })
	}
}

func testLocks(t *testing.T, try string) {
	t.Helper()
	out := compile(t, locks)
	const slow = 1_000_000
	lock := Func{Name: "pthread_mutex_lock", Slow: slow, Try: try, Refused: int32(syscall.EBUSY)}
	ring := hooked(t, out, []Func{lock, {Name: "pthread_mutex_unlock", Contended: true}})
	var waits, releases []Record
	others := 0 // a thread may lose its core for long while it takes a free lock
	ring.Drain(func(r Record) {
		switch {
		case r.Func == 1 && len(waits) == 0:
			releases = append(releases, r)
		case r.Func == 0 && len(releases) > 0 && r.Arg0 == releases[0].Arg0:
			waits = append(waits, r)
		case r.Func == 0:
			others++
		}
	})
	if len(waits) != 1 || len(releases) != 1 || waits[0].TID == releases[0].TID || waits[0].Arg1 < 10*slow {
		t.Errorf("waits %v, releases %v; want one of each, of one lock", waits, releases)
	}
	if others > 20 {
		t.Errorf("%d calls are seen that took a free lock", others)
	}
}

const captured = `
#include <omp.h>
#include <stdio.h>
/* a region with more variables than registers for them, nested regions, and one with a reduction */
static long many(long a, long b, long c, long d, long e, long f, long g, long h) {
	long sum = 0;
	double x = a, y = b;
	#pragma omp parallel num_threads(3) firstprivate(a, b, c, d, e, f, g, h, x, y) reduction(+:sum)
	{
		#pragma omp barrier
		sum += a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + (long)x + (long)y;
	}
	return sum;
}
static long nested(void) {
	long sum = 0;
	omp_set_max_active_levels(2);
	#pragma omp parallel num_threads(2) reduction(+:sum)
	{
		long inner = 0;
		#pragma omp parallel num_threads(2) reduction(+:inner)
		inner += omp_get_num_threads();
		sum += inner;
	}
	return sum;
}
int main(void) {
	for (int i = 0; i < 100; i++)
		if (many(1, 2, 3, 4, 5, 6, 7, 8) != 3 * (204 + 3)) return 1;
	return nested() == 8 ? 7 : 2;
}
`

// Regions of LLVM's runtime, whose bodies take any number of arguments.
func TestVariadicWork(t *testing.T) {
	testenv.Tool(t, "clang", "libomp")
	dir := t.TempDir()
	src, out := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(src, []byte(captured), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("clang", "-O1", "-fopenmp", "-o", out, src).CombinedOutput(); err != nil {
		t.Fatalf("clang: %v\n%s", err, msg)
	}
	ring := hooked(t, out, []Func{{Name: "__kmpc_fork_call", Work: true, Return: true, Body: 2, Variadic: true, StackArgs: 128}})
	count, open, stray := map[Phase]int{}, map[uint64]bool{}, 0
	ring.Drain(func(r Record) {
		count[r.Phase]++
		switch r.Phase {
		case Enter:
			open[r.Call()] = true
		case Begin, Return:
			if !open[r.Call()] {
				stray++
			}
		}
	})
	const calls, bodies = 103, 306
	if count[Enter] != calls || count[Return] != calls || count[Begin] != bodies || count[End] != bodies || stray > 0 {
		t.Errorf("records by phase %v, %d of calls that are not open; want %d calls with %d bodies", count, stray, calls, bodies)
	}
}

// Drain hands the records that are there to visit.
func (r *Ring) Drain(visit func(Record)) bool {
	_, whole := r.Scan(0, func(index, _ uint64) { visit(r.At(index)) })
	r.Release(r.Scanned())
	return whole
}

func (r *Ring) drainRest(visit func(Record)) {
	r.ScanRest(func(index, _ uint64) { visit(r.At(index)) })
}

// Bursts of calls: a record is stamped after it was claimed. Each thread's last record but one
// before it was written before a record that was claimed before it, so its stamp is smaller.
func TestStampsComeAfterClaims(t *testing.T) {
	out := compile(t, `
#include <pthread.h>
static pthread_mutex_t m[8];
static void *work(void *arg) {
	for (int i = 0; i < 30000; i++) {
		for (int k = 0; k < 4; k++) pthread_mutex_unlock(&m[(long)arg]);
		for (volatile int k = 0; k < 20; k++) ;
	}
	return 0;
}
int main(void) {
	pthread_t t[2];
	for (long i = 0; i < 2; i++) pthread_mutex_init(&m[i * 4], 0);
	for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void *)(i * 4));
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	return 7;
}
`)
	ring := hooked(t, out, []Func{{Name: "pthread_mutex_unlock"}})
	last, before := map[int32]uint64{}, map[int32]uint64{}
	early := 0
	ring.Drain(func(r Record) {
		for tid, tsc := range before {
			if tid != r.TID && r.TSC < tsc {
				early++
			}
		}
		before[r.TID], last[r.TID] = last[r.TID], r.TSC
	})
	if len(last) != 2 || early > 0 {
		t.Errorf("%d threads; %d records have stamps from before they were claimed", len(last), early)
	}
}
