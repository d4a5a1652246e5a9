package sim_test

import (
	"strings"
	"testing"

	"lime/internal/profile"
)

// called are programs of four threads that wait for numbers: WAIT is what a thread does before its work,
// and DONE what it does behind it.
const called = `
#include <pthread.h>
#include <sched.h>
static volatile long sums[4][16];
static struct { int next; char pad[60]; int now; } q __attribute__((aligned(64)));
static int turn, cell[4];
#define V(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define PUT(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELEASE)
#define TAKE(x) __atomic_fetch_add(&(x), 1, __ATOMIC_RELAXED)
#define PAUSE __builtin_ia32_pause()
static void work(long me, long n) { for (long i = 0; i < n; i++) sums[me][0] += i; }
static void *body(void *p) {
	long me = (long)p;
	for (int i = 0; i < 30; i++) {
		WAIT
		work(me, 20000);
		DONE
		work(me, 2000 + 700 * me);
	}
	return 0;
}
SERVER
int main(void) {
	pthread_t t[5];
	for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, body, (void *)i);
	START
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
`

// serves is a thread that calls the others, who only tell that they have done.
const serves = `static void *server(void *p) {
	for (int k = 0; k < 120; k++) { work(3, 5000); PUT(q.now, k); while (V(turn) != k + 1) PAUSE; }
	return 0;
}`

// TestTicketsAreLocks has threads wait for a number. Where they have taken it by an atomic addition,
// and each calls the next one, that is a lock; where it is their own, or another thread calls them, they
// wait for others' work.
func TestTicketsAreLocks(t *testing.T) {
	for _, row := range []struct {
		name, wait, done, server, start string
		lock                            bool
	}{
		{"pauses", "int my = TAKE(q.next); while (V(q.now) != my) PAUSE;", "PUT(q.now, my + 1);", "", "", true},
		{"yields", "int my = TAKE(q.next); while (V(q.now) != my) sched_yield();", "PUT(q.now, my + 1);", "", "", true},
		{"yields at last", "int my = TAKE(q.next); for (int k = 0; V(q.now) != my;)" +
			" if (++k < 40) PAUSE; else sched_yield();", "PUT(q.now, my + 1);", "", "", true},
		{"adds to it", "int my = TAKE(q.next); while (V(q.now) != my) PAUSE;", "TAKE(q.now);", "", "", true},
		{"in a loop behind the rest", "int my = TAKE(q.next); for (int k = 1; __builtin_expect(V(q.now) != my, 0); k++)" +
			" if (k % 32) PAUSE; else sched_yield();", "PUT(q.now, my + 1);", "", "", true},
		{"in turn", "int my = i * 4 + me; while (V(q.now) != my) PAUSE;", "PUT(q.now, my + 1);", "", "", false},
		{"is served", "int my = TAKE(q.next); while (V(q.now) != my) PAUSE;", "PUT(turn, my + 1);",
			serves, "pthread_create(&t[4], 0, server, 0);", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			source := strings.NewReplacer("WAIT", row.wait, "DONE", row.done, "SERVER", row.server, "START", row.start).Replace(called)
			path, status, said := simulate(t, 5, compileText(t, source, "gcc -O2 -g -pthread"))
			if status != 0 {
				t.Fatal(status, said)
			}
			waits := spunFor(t, path)
			if all := waits[0] + waits[1]; all == 0 || row.lock && 10*waits[1] < 9*all || !row.lock && waits[1] > 0 {
				t.Errorf("waited for others' work and for locks for %d", waits)
			}
		})
	}
}

// spunFor is for how long threads waited for others' work, and for locks.
func spunFor(t *testing.T, path string) (waits [2]uint64) {
	t.Helper()
	for kind, list := range spunAt(t, path) {
		for _, w := range list {
			waits[kind] += w.units
		}
	}
	return waits
}

// spun is for how long threads waited at an address.
type spun struct{ at, units uint64 }

// spunAt lists the waits for others' work, and those for locks.
func spunAt(t *testing.T, path string) (waits [2][]spun) {
	t.Helper()
	p := openProfile(t, path)
	tab := p.Tables()
	for id := range tab.Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for _, c := range in.Costs {
				e := &tab.Events[c.Row]
				switch tab.Kinds[e.Kind].Name {
				case profile.KindSpinWait:
					waits[0] = append(waits[0], spun{e.Addr, c.N})
				case profile.KindLockWait:
					waits[1] = append(waits[1], spun{e.Addr, c.N})
				}
			}
		}
	}
	return waits
}
