package native

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// buildWith compiles a C program with some compiler; without it the test skips.
func buildWith(t *testing.T, compiler, source string, flags ...string) string {
	t.Helper()
	testenv.Tool(t, compiler)
	if compiler == "clang" && slices.Contains(flags, "-fopenmp") {
		testenv.Tool(t, "libomp")
	}
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

// reduced ends a region with a barrier, which the compiler may reach by a jump, and has another one
// with a reduction.
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
	needs(t, needTracing)
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

const endless = `
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t b;
static void *work(void *arg) {
	for (;;) {
		for (volatile int i = 0; i < 20000; i++) ;
		pthread_barrier_wait(&b);
	}
}
int main(void) {
	pthread_t t;
	pthread_barrier_init(&b, 0, 3);
	for (long i = 0; i < 3; i++) pthread_create(&t, 0, work, 0);
	if (write(1, "x", 1) != 1) return 1;
	for (;;) pause();
}
`

// A process that runs already has its sections seen, and runs on after whatever ends the recording.
func TestAttach(t *testing.T) {
	needs(t, needSamples, needTracing)
	t.Run("cancelled", func(t *testing.T) { testAttach(t, func(cancel func()) func() { return cancel }) })
	t.Run("interrupted", func(t *testing.T) {
		testAttach(t, func(func()) func() {
			return sync.OnceFunc(func() { _ = unix.Kill(os.Getpid(), unix.SIGINT) }) // a second one would end the test
		})
	})
}

func testAttach(t *testing.T, ending func(cancel func()) func()) {
	cmd := exec.Command(build(t, endless))
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	p := profile.New(profile.Meta{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // that long only if there are no hooks
	defer cancel()
	sink := &untilInstances{Profile: p, left: 20, enough: ending(cancel)}
	res, err := Run(ctx, Options{PID: cmd.Process.Pid, Out: sink})
	if err != nil {
		t.Fatalf("not allowed: %v", err)
	}
	if noted(p, "no-hooks") {
		t.Fatalf("not allowed: %v", p.Meta().Notes)
	}
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	if p.Meta().Command[0] != cmd.Path || res.Status != 0 {
		t.Errorf("status %d, command %q; want 0, %q", res.Status, p.Meta().Command, cmd.Path)
	}
	if found := sections(p); res.EndState != "interrupted" || found[profile.SectionBarrier][1] != 3 {
		t.Errorf("%s, sections by kind %v; want barriers of 3 threads", res.EndState, found)
	}
	if cmd.Process.Signal(syscall.Signal(0)) != nil {
		t.Error("the process has not survived")
	}
}

// untilInstances ends a recording after some instances.
type untilInstances struct {
	*profile.Profile
	left   int
	enough func()
}

func (u *untilInstances) WriteInstance(in *profile.Instance) error {
	if u.left--; u.left <= 0 {
		u.enough()
	}
	return u.Profile.WriteInstance(in)
}

// untilTold meets at barriers until its input ends.
const untilTold = `
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t b;
static volatile int told, last;
static void *work(void *arg) {
	for (int end = 0; !end; ) {
		if (arg == 0) last = told;
		pthread_barrier_wait(&b);
		end = last;
		for (volatile int i = 0; i < 20000; i++) ;
		pthread_barrier_wait(&b);
	}
	return 0;
}
int main(void) {
	pthread_t t[6];
	char c;
	pthread_barrier_init(&b, 0, 6);
	for (long i = 0; i < 6; i++) pthread_create(&t[i], 0, work, (void *)i);
	while (read(0, &c, 1) != 0) ;
	told = 1;
	for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
	return 7;
}
`

// A program that is started by a script which it replaces is hooked all the same.
func TestExec(t *testing.T) {
	needs(t, needSamples, needTracing)
	for _, link := range []string{"-rdynamic", "-static"} {
		t.Run(link, func(t *testing.T) { recordExec(t, build(t, untilTold, link)) })
	}
}

func recordExec(t *testing.T, program string) {
	stdin, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	end := sync.OnceFunc(func() { feed.Close() })
	defer end()
	time.AfterFunc(time.Minute, end) // if no barrier is seen
	p := profile.New(profile.Meta{})
	res, err := Run(t.Context(), Options{
		Command: []string{"/bin/sh", "-c", "exec " + program}, Stdin: stdin, Out: &untilInstances{Profile: p, left: 20, enough: end},
	})
	if err != nil || res.Status != 7 {
		t.Fatalf("status %d, %v; want 7", res.Status, err)
	}
	if noted(p, "exec") || noted(p, "no-switches") {
		t.Fatalf("not allowed: %v", p.Meta().Notes)
	}
	if found := sections(p)[profile.SectionBarrier]; found[1] != 6 {
		t.Errorf("sections by kind %v, notes %v; want barriers of 6 threads", sections(p), p.Meta().Notes)
	}
}

// twice waits at a barrier of its own making, at two places.
const twice = `
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int count, generation;
static volatile double sink[4];
__attribute__((noinline)) static void meet(void) {
	pthread_mutex_lock(&m);
	int g = generation;
	if (++count == 4) { count = 0; generation++; pthread_cond_broadcast(&c); }
	else while (generation == g) pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
}
__attribute__((noinline)) static void spin(long me, long n) { for (long i = 0; i < n; i++) sink[me] += i; }
static void *work(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 12; i++) {
		spin(me, 2000000);
		meet();
		spin(me, 1000000 * (me + 1));
		meet();
	}
	return arg;
}
`

// A barrier that the program built stands where it is called, not inside of it.
func TestBuiltBarrier(t *testing.T) {
	needs(t, needTracing)
	p, _ := record(t, Options{Command: []string{build(t, twice+team(4, "", ""))}})
	places := map[uint64]int{}
	for id, s := range p.Tables().Sections {
		if s.Kind == profile.SectionBuilt {
			for range p.Instances(profile.SectionID(id)) {
				places[s.EndAddr]++
			}
		}
	}
	if len(places) != 2 && hasSamples(p) {
		t.Errorf("instances of built barriers by place: %v; want two places", places)
	}
}
