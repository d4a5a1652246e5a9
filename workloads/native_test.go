package workloads

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lime/internal/testenv"
)

const sharedOut = `
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int P, scale;
static double out[64][16];
static pthread_barrier_t bar;
static void *worker(void *arg) {
	long id = (long)arg;
	double s = 0;
	for (int round = 0; round < 10; round++) {
		for (long n = (long)scale * (2000 + id * 7 % 10 * 2000); n > 0; n--) s = s * 0.999 + n;
		out[id][0] = s;
		pthread_barrier_wait(&bar);
	}
	return 0;
}
int main(int argc, char **argv) {
	pthread_t t[64];
	P = atoi(argv[1]);
	scale = atoi(argv[2]);
	pthread_barrier_init(&bar, 0, P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
	for (int i = 0; i < P; i++) pthread_join(t[i], 0);
	printf("%g\n", out[0][0]);
	return 0;
}
`

// What each thread has of a section's time, recorded natively with four times as many threads as cores, is what simulate counts.
func TestNativeShares(t *testing.T) {
	testenv.SkipUnlessLong(t)
	testenv.Tool(t, "gcc")
	bin, dir := lime(t), t.TempDir()
	src, prog := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(src, []byte(sharedOut), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("gcc", "-O2", "-g", "-pthread", "-o", prog, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, msg)
	}
	exact := threadShares(t, bin, "simulate", "--cores", "8", "-o", filepath.Join(dir, "s"), "--", prog, "8", "1")
	native := threadShares(t, bin, "record", "-o", filepath.Join(dir, "n"), "--", prog, "8", "200")
	if len(exact) != 8 || len(native) != 8 {
		t.Fatalf("shares of %d threads counted, of %d recorded; want 8 of each", len(exact), len(native))
	}
	const most = 0.01 // of the whole
	for i := range exact {
		t.Logf("thread %d: counted %.2f %%, recorded %.2f %%", i+1, 100*exact[i], 100*native[i])
		if math.Abs(exact[i]-native[i]) > most {
			t.Errorf("thread %d has %.2f %% of the work, recorded are %.2f %%", i+1, 100*exact[i], 100*native[i])
		}
	}
}

// threadShares runs lime and returns each thread's share of the time of the section that loses most, all instances together.
func threadShares(t *testing.T, bin string, args ...string) []float64 {
	t.Helper()
	if msg, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
		t.Fatalf("lime %v: %v\n%s", args, err, msg)
	}
	out := ""
	for i, a := range args {
		if a == "-o" {
			out = args[i+1]
		}
	}
	text, err := exec.Command(bin, "report", "--json", out).Output()
	if err != nil {
		t.Fatalf("lime report: %v", err)
	}
	var report struct {
		Sections []struct {
			Threads []struct{ Time float64 }
		}
	}
	if err := json.Unmarshal(text, &report); err != nil || len(report.Sections) == 0 {
		t.Fatalf("%d sections, %v", len(report.Sections), err)
	}
	var shares []float64
	sum := 0.0
	for _, x := range report.Sections[0].Threads {
		shares, sum = append(shares, x.Time), sum+x.Time
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}
