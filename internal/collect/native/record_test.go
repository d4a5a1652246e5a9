package native

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// build compiles a C program.
func build(t *testing.T, source string, flags ...string) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	src, out := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O2", "-g", "-pthread", "-o", out, src}, flags...)
	if msg, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", flags, err, msg)
	}
	return out
}

// team is the main of a program whose n threads do work(number) each, with what it does before and
// after that.
func team(n int, before, after string) string { return teamThat(n, before, "", after) }

// staying is the same, whose threads do not end at once (measuring).
func staying(n int, before, after string) string { return teamThat(n, before, "stay();", after) }

func teamThat(n int, before, meanwhile, after string) string {
	return fmt.Sprintf(`
int main(void) {
	pthread_t t[%[1]d];
	%[2]s
	for (long i = 0; i < %[1]d; i++) pthread_create(&t[i], 0, work, (void *)i);
	%[3]s
	for (int i = 0; i < %[1]d; i++) pthread_join(t[i], 0);
	%[4]s
	return 0;
}
`, n, before, meanwhile, after)
}

// record runs a program and returns its profile.
func record(t *testing.T, o Options) (*profile.Profile, Result) {
	t.Helper()
	p := profile.New(profile.Meta{})
	o.Out = p
	res, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := profile.Validate(p); err != nil {
		t.Fatalf("the profile is not valid: %v", err)
	}
	return p, res
}

// What tests may need, as the doctor calls it.
const (
	needSamples = "sampling clock"
	needTracing = "tracing"
)

// needs skips a test where the machine forbids what it is about.
func needs(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if why := able(name); why != "" {
			testenv.Skip(t, map[string]string{needSamples: testenv.NoSampling, needTracing: testenv.NoTracing}[name], why)
		}
	}
}

// able says why something cannot be had here, or nothing.
func able(names ...string) string {
	for _, c := range Doctor() {
		if !c.OK && slices.Contains(names, c.Name) {
			return c.Name + ": " + c.Found
		}
	}
	return ""
}

// sections lists the instances of each kind, and the most threads that took part in one.
func sections(p *profile.Profile) map[profile.SectionKind][2]int {
	found := map[profile.SectionKind][2]int{}
	for id, s := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			n := found[s.Kind]
			found[s.Kind] = [2]int{n[0] + 1, max(n[1], len(in.Parts))}
		}
	}
	return found
}

// barrierSource is a program whose threads measure for how long they have a core between the
// barriers, and say so if they are asked to.
const barrierSource = `
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_barrier_t b;
static volatile double sink[6][8];
static long ran[6];
static long now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
__attribute__((noinline)) static void spin(long me, long n) { for (long i = 0; i < n; i++) sink[me][0] += i; }
static void *work(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 10; i++) {
		long from = now();
		spin(me, 200000 * (me + 1));
		ran[me] += now() - from;
		pthread_barrier_wait(&b);
	}
	return arg;
}
int main(int argc, char **argv) {
	pthread_t t[6];
	pthread_barrier_init(&b, 0, 6);
	for (long i = 0; i < 6; i++) { pthread_t x; pthread_create(&x, 0, work, (void *)i); t[i] = x; }
	for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
	for (int i = 0; i < 6 && argc > 1; i++) printf("%ld\n", ran[i]);
	return 7;
}
`

func TestBarriers(t *testing.T) {
	needs(t, needSamples, needTracing)
	var out strings.Builder
	stolen := stolenTime(t)
	p, res := record(t, Options{Command: []string{build(t, barrierSource), "say"}, Stdout: &out})
	stolen = stolenTime(t) - stolen
	if res.Status != 7 || res.EndState != "exited" || res.Threads != 7 {
		t.Errorf("status %d, %s, %d threads; want 7, exited, 7", res.Status, res.EndState, res.Threads)
	}
	found := sections(p)
	if found[profile.SectionBarrier] != [2]int{10, 6} || found[profile.SectionJoin] != [2]int{1, 6} {
		t.Errorf("sections by kind: %v; want 10 instances of a barrier and 1 of a join, each of 6 threads", found)
	}
	times, all, known := map[profile.ThreadID]float64{}, 0.0, 0.0
	for id, s := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			if s.Kind == profile.SectionBarrier {
				for i := range in.Parts {
					all += float64(in.Parts[i].Time())
					if in.Seq > 0 {
						times[in.Parts[i].Thread] += float64(in.Parts[i].Time())
					}
				}
				known += float64(min(1, in.Seq))
			}
		}
	}
	// The way from one barrier's return to the next one's call is longer than what the program
	// measures, and the hypervisor takes cores away unseen by the clock of a thread's time.
	const passages, share, ends = 10, 0.1, 50_000.0
	near := func(got, truth, ways float64) bool {
		return !hasSamples(p) || got >= truth*(1-share)-ways*ends && got <= truth*(1+share)+ways*ends+stolen
	}
	// All may have come to a section's first passage at once, whatever they had to do, if they shared a
	// core or two: it looks like work that went to whoever came first then, until others show that it did
	// not. In all, and of each thread in the others, which are alike, it must be right.
	sum := 0.0
	for i, word := range strings.Fields(out.String()) {
		truth, _ := strconv.ParseFloat(word, 64)
		sum += truth
		if got := times[profile.ThreadID(i+1)]; truth == 0 || known < passages/2 || !near(got, truth*known/passages, known) {
			t.Errorf("thread %d has a core for %.0f ns as it measures itself, %.0f are recorded in %.0f of 10 passages, %.0f were stolen",
				i+1, truth, got, known, stolen)
		}
	}
	if !near(all, sum, passages*6) {
		t.Errorf("the threads have cores for %.0f ns as they measure it, %.0f are recorded, %.0f were stolen", sum, all, stolen)
	}
}

// stolenTime is for how long a hypervisor had other things to do than run this machine's
// processors, in ns (proc(5), /proc/stat).
func stolenTime(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	f := strings.Fields(string(text))
	const steal, tick = 8, 1e9 / 100 // "cpu" and seven others stand before it; in USER_HZ
	if err != nil || len(f) <= steal {
		t.Fatalf("/proc/stat: %v", err)
	}
	ticks, err := strconv.ParseFloat(f[steal], 64)
	if err != nil {
		t.Fatal(err)
	}
	return ticks*tick + tick
}

// mostlySampled is the part of a program's CPU time that samples must make up: the rest is the
// kernel's, which interrupts the program for each sample and each turn of another's, and is not
// sampled. On two processors with thirty others at work it was 15 %.
const mostlySampled = 0.75

// lost is the time whose samples the kernel had no room for, as on a busy machine lime does not
// always fetch them in time.
func lost(p *profile.Profile, frequency float64) (nanos float64) {
	for _, n := range p.Meta().Notes {
		if n.Code == "lost-samples" {
			nanos += float64(n.N) * 1e9 / frequency
		}
	}
	return nanos
}

func hasSamples(p *profile.Profile) bool { return p.Meta().CountLabel == profile.Sampled }

const regionSource = `
#include <omp.h>
static volatile long sum;
int main(void) {
	for (int r = 0; r < 5; r++) {
		#pragma omp parallel num_threads(4)
		{
			for (long i = 0; i < 1000000; i++) __asm__ volatile("");
			#pragma omp barrier
			for (long i = 0; i < 1000000; i++) __asm__ volatile("");
		}
	}
	return 0;
}
`

func TestRegions(t *testing.T) {
	needs(t, needTracing)
	p, res := record(t, Options{Command: []string{build(t, regionSource, "-fopenmp")}})
	found := sections(p)
	if res.Status != 0 || found[profile.SectionRegion] != [2]int{5, 4} || found[profile.SectionBarrier] != [2]int{5, 4} {
		t.Errorf("status %d, sections by kind %v; want 5 region ends and 5 barriers of 4 threads", res.Status, found)
	}
}

// A static program's sections are found by its symbols; a stripped one is one section, and the
// profile says why.
func TestStatic(t *testing.T) {
	needs(t, needSamples, needTracing)
	for _, row := range []struct {
		flags   []string
		symbols bool
	}{{[]string{"-static"}, true}, {[]string{"-static-pie"}, true}, {[]string{"-static", "-s"}, false}} {
		p, res := record(t, Options{Command: []string{build(t, barrierSource, row.flags...)}})
		found := sections(p)
		barrier, join := found[profile.SectionBarrier], found[profile.SectionJoin]
		if seen := barrier == [2]int{10, 6} && join[0] == 1; res.Status != 7 || seen != row.symbols ||
			noted(p, "no-hooks") == seen || noted(p, "unhooked") {
			t.Errorf("%v: status %d, sections by kind %v, notes %v", row.flags, res.Status, found, p.Meta().Notes)
		}
	}
}

func TestWithoutSamples(t *testing.T) {
	needs(t, needTracing)
	p, res := record(t, Options{Command: []string{build(t, barrierSource)}, NoPerf: true})
	found := sections(p)
	if res.Status != 7 || found[profile.SectionBarrier] != [2]int{10, 6} || !noted(p, "no-switches") {
		t.Errorf("status %d, sections by kind %v, notes %v", res.Status, found, p.Meta().Notes)
	}
}

func noted(p *profile.Profile, code string) bool {
	for _, n := range p.Meta().Notes {
		if n.Code == code {
			return true
		}
	}
	return false
}

func TestClockConverts(t *testing.T) {
	var c tscClock
	for i := range uint64(3 * maxPairs) {
		c.add(pair{tsc: 1000 + 3*i*1000, ns: 500 + i*1000})
	}
	for _, at := range []uint64{3*maxPairs - 1, 3*maxPairs - 7, 2 * maxPairs} {
		if got := c.nanos(1000 + 3000*at + 300); got < 500+at*1000+99 || got > 500+at*1000+101 {
			t.Errorf("time stamp of reading %d is %d ns, want %d", at, got, 500+at*1000+100)
		}
	}
	if len(c.pairs) > maxPairs {
		t.Errorf("%d readings are kept, at most %d are wanted", len(c.pairs), maxPairs)
	}
}

const contended = `
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static long waited; /* by the lock's holders, all together */
static long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
static void hold(void) {
	long from = now();
	pthread_mutex_lock(&m);
	waited += now() - from;
	usleep(40000);
	pthread_mutex_unlock(&m);
}
static void *work(void *arg) { pthread_barrier_wait(&b); hold(); pthread_barrier_wait(&b); return arg; }
`

// Four threads that start together hold a lock for 40 ms each: on the wall they wait for as long as
// they measure themselves, and all of it is charged to those who hold it. In the sections it is
// less, by no more than what threads waited for a core: who holds the lock and has none makes all the
// others wait as long, which the program measures in each of them.
func TestLockWaits(t *testing.T) {
	needs(t, needTracing)
	var out strings.Builder
	command := []string{build(t, contended+team(4, "pthread_barrier_init(&b, 0, 4);", `printf("%ld\n", waited);`))}
	p, _ := record(t, Options{Command: command, Stdout: &out})
	var truth float64
	if _, err := fmt.Sscan(out.String(), &truth); err != nil || truth == 0 {
		t.Fatalf("waits for %.0f ns, %v", truth, err)
	}
	cost := 0.0
	for id := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for _, c := range in.Costs {
				if tab := p.Tables(); tab.Kinds[tab.Events[c.Row].Kind].Name == "lock-wait" {
					cost += float64(c.N)
				}
			}
		}
	}
	metric := map[string]float64{}
	for _, s := range p.Tables().PathSamples {
		metric[s.Metric] += s.Value
	}
	const others = 3
	least := 0.95 * (truth - others*metric[metricQueue])
	if w := metric["lock-wait"] / truth; cost < least || cost > 1.05*truth || w < 0.95 || w > 1.05 {
		t.Errorf("waits for locks: %.0f ns in sections, %.0f ns by path; the program measures %.0f ns", cost, metric["lock-wait"], truth)
	}
	if d := metric["lock-blame"] / metric["lock-wait"]; d < 0.9 || d > 1.1 {
		t.Errorf("%.0f ns are blamed on holders, %.0f ns were waited", metric["lock-blame"], metric["lock-wait"])
	}
}
