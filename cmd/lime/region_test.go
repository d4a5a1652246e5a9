package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lime/internal/report"
	"lime/internal/testenv"
)

// regionProgram has three phases: before and after solve thread 0 has 40 times the work of the
// others, in solve thread 3 has ten times theirs.
const regionProgram = `
#include <pthread.h>
#include <stdlib.h>
#include "lime.h"
static pthread_barrier_t bar;
static volatile unsigned long sink[64];
static long scale = 1;
__attribute__((noinline)) static void spin(int id, long n)
{
	unsigned long x = id + 1;
	for (long i = 0; i < n * scale; i++)
		x = x * 6364136223846793005ul + 1;
	sink[id] = x;
}
__attribute__((noinline)) void setup(int id)
{
	for (int r = 0; r < 3; r++) {
		spin(id, id == 0 ? 400000 : 10000);
		pthread_barrier_wait(&bar);
	}
}
__attribute__((noinline)) void solve(int id)
{
	for (int r = 0; r < 3; r++) {
		if (id == 3)
			spin(id, 200000); /* CAUSE */
		else
			spin(id, 20000);
		pthread_barrier_wait(&bar);
	}
}
__attribute__((noinline)) void unused(int id) { spin(id, 10); }
static void *thread(void *p)
{
	int id = (long)p;
	setup(id);
	LIME_BEGIN("solve");
	solve(id);
	LIME_END();
	pthread_barrier_wait(&bar); /* nobody goes on before the last is out of it */
	LIME_BEGIN("end");
	setup(id);
	LIME_END();
	if (sink[0] == 1)
		unused(id);
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	if (argc > 1)
		scale = atol(argv[1]);
	pthread_barrier_init(&bar, 0, 4);
	for (long i = 0; i < 4; i++)
		pthread_create(t + i, 0, thread, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
`

// buildRegion builds it with the header that is installed.
func buildRegion(t *testing.T, flags ...string) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "region.c"), filepath.Join(dir, "region")
	if err := os.WriteFile(src, []byte(regionProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-g", "-O1", "-Wall", "-Werror", "-pthread", "-I" + includes(t), "-o", bin, src}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return bin
}

// includes is where the header lies.
func includes(t *testing.T) string {
	dir, err := filepath.Abs("../../include")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// measure collects a part of a run and reads the report.
func measure(t *testing.T, args ...string) *report.Report {
	t.Helper()
	data := filepath.Join(t.TempDir(), "lime.data")
	args = append([]string{args[0], "-o", data}, args[1:]...)
	if code, _, errs := run(t, t.TempDir(), "", args...); code != 0 {
		t.Fatalf("%v: status %d\n%s", args, code, errs)
	}
	code, out, errs := run(t, t.TempDir(), "", "report", "--json", data)
	if code != 0 {
		t.Fatalf("report: status %d\n%s", code, errs)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// checkRegion holds a report to what happens in solve, and to that only. What the threads do between
// the end of the function and the moment at which its stretch is found to have ended may be there:
// as many instructions as a simulated core runs at once, of some million.
func checkRegion(t *testing.T, r *report.Report) {
	t.Helper()
	if m := r.Program.Measured; m == nil || m.Time == 0 || m.Time >= m.Whole {
		t.Errorf("measured %+v", m)
	}
	if len(r.Sections) == 0 || r.Sections[0].EndsAt.Function != "solve" {
		t.Fatalf("the first section is %+v, want solve's", r.Sections)
	}
	s := &r.Sections[0]
	if len(s.Causes) == 0 || s.Causes[0].Function != "solve" && s.Causes[0].Function != "spin" {
		t.Errorf("causes of solve: %+v", s.Causes)
	}
	if s.Instances != 3 {
		t.Errorf("%d instances of solve, want 3", s.Instances)
	}
	for i := range r.Sections {
		if o := &r.Sections[i]; o.EndsAt.Function == "setup" && o.AllLost > 0.01 {
			t.Errorf("setup, outside of the region, has %.3f of the loss", o.AllLost)
		}
	}
	sum := 0.0
	for _, term := range r.Loss.Terms {
		sum += term.Share
	}
	if sum < 0.999 || sum > 1.001 {
		t.Errorf("the terms of the loss add up to %v", sum)
	}
	if in := r.Instrs; in != nil {
		parts := uint64(0)
		for _, p := range in.Went {
			parts += p.Instrs
			if p.What == "unaccounted" {
				t.Errorf("%d instructions are not accounted for", p.Instrs)
			}
		}
		if parts != in.Executed {
			t.Errorf("%d of %d instructions are accounted for", parts, in.Executed)
		}
	}
}

// TestARegionIsMeasuredAndNothingElse: threads start before it, several enter it, and the larger
// imbalance is outside of it.
func TestARegionIsMeasuredAndNothingElse(t *testing.T) {
	bin := buildRegion(t)
	for _, verb := range []string{"simulate", "count"} {
		for _, part := range []string{"--from=solve", "--phase=solve"} {
			t.Run(verb+part, func(t *testing.T) { checkRegion(t, measure(t, verb, part, "--", bin)) })
		}
	}
	t.Run("machine", func(t *testing.T) {
		checkRegion(t, measure(t, "simulate", "--machine=server", "--cores=4", "--from=solve", "--", bin))
	})
	t.Run("again", func(t *testing.T) {
		a, b := measure(t, "simulate", "--from=solve", "--", bin), measure(t, "simulate", "--from=solve", "--", bin)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("two equal runs: %+v and %+v", a.Program, b.Program)
		}
	})
}

// TestAStretchOfTimeIsMeasured: simulated time is exact.
func TestAStretchOfTimeIsMeasured(t *testing.T) {
	bin := buildRegion(t)
	r := measure(t, "simulate", "--delay=2ms", "--duration=1ms", "--", bin)
	if m := r.Program.Measured; m == nil || m.Time < 900_000 || m.Time > 1_300_000 || m.Stretches != 1 {
		t.Errorf("measured %+v, want 1 ms", m)
	}
	if run := r.Program.RunTime; run < 900_000 || run > 1_300_000 {
		t.Errorf("a run time of %v instructions, want a million", run)
	}
}

// TestARegionThatIsNeverThere leaves no profile, and says why.
func TestARegionThatIsNeverThere(t *testing.T) {
	bin := buildRegion(t)
	for _, verb := range []string{"simulate", "count"} {
		for _, c := range []struct{ option, want string }{
			{"--from=slove", "solve"},
			{"--from=unused", "never called unused"},
			{"--phase=nothing", `no phase "nothing"`},
			{"--delay=1h", "ended before 1h0m0s"},
		} {
			data := filepath.Join(t.TempDir(), "lime.data")
			code, _, errs := run(t, t.TempDir(), "", verb, c.option, "-o", data, "--", bin)
			if code != 125 || !strings.Contains(errs, c.want) {
				t.Errorf("%s %s: status %d, %q; want %q", verb, c.option, code, errs, c.want)
			}
			if _, err := os.Stat(data); err == nil {
				t.Errorf("%s %s left a profile", verb, c.option)
			}
		}
		data, link := filepath.Join(t.TempDir(), "lime.data"), filepath.Join(t.TempDir(), "link")
		if err := errors.Join(os.WriteFile(data, nil, 0o644), os.Symlink(data, link)); err != nil {
			t.Fatal(err)
		}
		run(t, t.TempDir(), "", verb, "--from=unused", "-o", link, "--", bin)
		if _, err := os.Lstat(link); err != nil {
			t.Errorf("%s: a link to where the profile would be was taken away: %v", verb, err)
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("%s: an empty profile stays behind a link", verb)
		}
	}
}

// stretchProgram works unevenly all the time: thread 0 has most of the work at first, thread 1 then.
const stretchProgram = `
#include <pthread.h>
#include <time.h>
static pthread_barrier_t bar;
static volatile unsigned long sink[2];
static volatile int phase;
static double t0;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
__attribute__((noinline)) static void spin(int id, long n)
{
	unsigned long x = id + 1;
	for (long i = 0; i < n; i++)
		x = x * 6364136223846793005ul + 1;
	sink[id] = x;
}
__attribute__((noinline)) static void early(int id)
{
	spin(id, id == 0 ? 1000000 : 50000);
	pthread_barrier_wait(&bar);
}
__attribute__((noinline)) static void late(int id)
{
	spin(id, id == 1 ? 1000000 : 50000);
	pthread_barrier_wait(&bar);
}
static void *thread(void *p)
{
	int id = (long)p;
	for (;;) {
		if (id == 0)
			phase = (now() - t0 > 0.7) + (now() - t0 > 2.0);
		pthread_barrier_wait(&bar);
		int is = phase;
		pthread_barrier_wait(&bar);
		if (is == 2)
			return 0;
		is == 0 ? early(id) : late(id);
	}
}
int main(void)
{
	pthread_t t[2];
	t0 = now();
	pthread_barrier_init(&bar, 0, 2);
	for (long i = 0; i < 2; i++)
		pthread_create(t + i, 0, thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 7;
}
`

// TestAStretchIsRecorded: what a program does before and behind the stretch is not in the profile,
// and its status is passed on.
func TestAStretchIsRecorded(t *testing.T) {
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "stretch.c"), filepath.Join(dir, "stretch")
	if err := os.WriteFile(src, []byte(stretchProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	for _, c := range []struct {
		options     []string
		has, hasNot string
	}{
		{[]string{"--delay=1s"}, "late", "early"},
		{[]string{"--duration=400ms"}, "early", "late"},
		{[]string{"--delay=1s", "--duration=400ms"}, "late", "early"},
	} {
		data := filepath.Join(t.TempDir(), "lime.data")
		args := append(append([]string{"record", "-o", data}, c.options...), "--", bin)
		if code, _, errs := run(t, dir, "", args...); code != 7 {
			t.Fatalf("%v: status %d\n%s", c.options, code, errs)
		}
		_, out, errs := run(t, dir, "", "report", "--json", data)
		var r report.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v: %v\n%s", c.options, err, errs)
		}
		if m := r.Program.Measured; m == nil || m.Time == 0 || m.Time >= m.Whole {
			t.Errorf("%v: measured %+v", c.options, m)
		}
		found := false
		for i := range r.Sections {
			found = found || r.Sections[i].EndsAt.Function == c.has
			if r.Sections[i].EndsAt.Function == c.hasNot {
				t.Errorf("%v: a section ends in %s, which ran at another time", c.options, c.hasNot)
			}
		}
		if !found {
			t.Errorf("%v: no section ends in %s", c.options, c.has)
		}
		sum := 0.0
		for _, term := range r.Loss.Terms {
			sum += term.Share
		}
		if sum < 0.999 || sum > 1.001 {
			t.Errorf("%v: the terms of the loss add up to %v", c.options, sum)
		}
	}
	data := filepath.Join(dir, "none.data")
	code, _, errs := run(t, dir, "", "record", "--delay=1h", "-o", data, "--", bin)
	if _, err := os.Stat(data); code != 125 || !strings.Contains(errs, "ended before 1h0m0s") || err == nil {
		t.Errorf("never begun: status %d, %q, profile there: %v", code, errs, err == nil)
	}
}
