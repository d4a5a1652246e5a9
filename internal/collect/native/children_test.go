package native

import (
	"strings"
	"testing"

	"lime/internal/collect"
	"lime/internal/profile"
)

// A program with a child that goes on in the same code, and one that runs a program of its own;
// each works for 60 ms of CPU time in a function of its own.
const family = `
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile long sink;
static void burn(void) {
	struct timespec t;
	do {
		for (int i = 0; i < 100000; i++) sink += i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec == 0 && t.tv_nsec < 60000000);
}
__attribute__((noinline)) int forked(void) { burn(); return sink != 0; }
__attribute__((noinline)) int started(void) { burn(); return sink != 0; }
__attribute__((noinline)) int itself(void) { burn(); return sink != 0; }
int main(int c, char **v) {
	if (c > 1) return !started();
	if (!fork()) _exit(!forked());
	if (!fork()) { execl("/proc/self/exe", "again", "x", (char *)0); _exit(9); }
	int st, bad = !itself();
	while (wait(&st) > 0) bad += st != 0;
	return bad;
}
`

func TestChildrenAreSampled(t *testing.T) {
	needs(t, needSamples, needTracing)
	p, res := record(t, Options{Command: []string{build(t, family, "-O1")}})
	if res.Status != 0 || res.Threads != 1 {
		t.Fatalf("status %d, %d threads of the program's own; want 0, 1", res.Status, res.Threads)
	}
	if !hasSamples(p) {
		t.Fatal("no samples")
	}
	tab := p.Tables()
	times := map[bool]float64{}
	rows := map[profile.ThreadID]float64{}
	for _, s := range tab.PathSamples {
		if s.Metric == "time" {
			foreign := strings.Contains(tab.Threads[s.Thread].Name, "(process ")
			times[foreign] += s.Value
			rows[s.Thread] += s.Value
			if foreign && s.Section >= 0 {
				t.Errorf("a child takes part in section %d", s.Section)
			}
		}
	}
	if len(rows) != 3 || times[true] < 1.5*times[false] || times[true] > 3*times[false] {
		t.Errorf("%d threads with samples, %.0f ms in children and %.0f in the program; want 3 that work for as long",
			len(rows), times[true]/1e6, times[false]/1e6)
	}
}

// A program that lets others work is told so at the top, if they do most of it.
func TestWorkElsewhere(t *testing.T) {
	for _, c := range []struct {
		own  uint64
		want bool
	}{{4_000_000, true}, {400_000_000, false}} {
		notes := collect.Notes{}
		noteElsewhere(notes, c.own, []childSum{{processes: 9, nanos: 38_000_000}, {processes: 2, nanos: 2_000_000}})
		list := notes.List()
		if len(list) == 1 != c.want || c.want &&
			(list[0].Code != profile.NoteElsewhere || !strings.Contains(list[0].Text, "40 ms on a CPU in 11 of them, 4 ms in the program itself")) {
			t.Errorf("%d ns of its own: %+v", c.own, list)
		}
	}
}
