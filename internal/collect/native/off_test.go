package native

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/collect/native/hook"
	"lime/internal/profile"
)

// measuring is the beginning of programs that measure how long threads are off their cores: the
// time on the wall less the thread's CPU time, and of that what they waited for a core (which the
// scheduler reckons), in asleep. They stay until lime has looked once more: of what a thread did
// after that, the scheduler tells nobody.
const measuring = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <linux/futex.h>
#include <time.h>
#include <unistd.h>
static volatile long sink[64 * 8];
static long at(clockid_t c) { struct timespec t; clock_gettime(c, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static long off(void) { return at(CLOCK_MONOTONIC) - at(CLOCK_THREAD_CPUTIME_ID); }
static long queued(void) {
	char s[100] = "0 0", *end;
	int f = open("/proc/thread-self/schedstat", O_RDONLY);
	if (f < 0 || read(f, s, sizeof s - 1) < 3) exit(3);
	close(f);
	strtol(s, &end, 10);
	return strtol(end, 0, 10);
}
static long asleep(void) {
	for (;;) { /* both of one moment */
		long was = queued(), away = off();
		if (queued() == was) return away - was;
	}
}
static void spin(long me, long n) { for (long i = 0; i < n; i++) sink[8 * me] += i; }
static pthread_barrier_t b, done;
static void stay(void) {
	pthread_barrier_wait(&done);
	for (long from = at(CLOCK_MONOTONIC); at(CLOCK_MONOTONIC) - from < 500000000L;);
	pthread_barrier_wait(&done);
}
static void *stays(void) {
	pthread_barrier_wait(&done);
	pthread_barrier_wait(&done);
	return 0;
}
`

const sleeps = measuring + `
static long slept;
static void *work(void *a) {
	long me = (long)a;
	for (int r = 0; r < 3; r++) {
		spin(me, 300000);
		if (me == 2)
			for (int k = 0; k < 3; k++) {
				long from = asleep();
				usleep(60000); /* OFF */
				slept += asleep() - from;
			}
		pthread_barrier_wait(&b);
	}
	return stays();
}
`

const reads = measuring + `
static int p[2];
static long slept;
static void *work(void *a) {
	long me = (long)a, from = asleep();
	char c = 0;
	for (int r = 0; r < 3000; r++)
		if (me == 0) {
			spin(me, 400000);
			if (write(p[1], &c, 1) != 1) return 0;
		} else
			if (read(p[0], &c, 1) != 1) return 0; /* OFF */
	if (me == 1) slept = asleep() - from;
	return stays();
}
`

const flags = measuring + `
static int flag[64];
static long slept;
static void *work(void *a) {
	struct timespec t = {0, 20000000};
	for (int r = 0; r < 10; r++) {
		long from = asleep(), none = 0, nr = SYS_futex;
		__asm__ volatile("mov $202, %%eax\n\tmov %4, %%r10\n\tsyscall /* OFF */" : "=&a"(none) : "D"(flag), "S"(FUTEX_WAIT), "d"(0), "r"(&t) : "rcx", "r10", "r11", "memory");
		slept += asleep() - from;
	}
	return stays();
}
`

const crowd = measuring + `
static long slept[64];
static void *work(void *a) {
	long me = (long)a;
	spin(me, 480000000 / %d);
	slept[me] = queued(); /* with what it waited for its first turn */
	return 0;
}
`

// offCosts is the time off the core by kind, and the lines that it stands at.
func offCosts(p *profile.Profile) (costs map[string]float64, blocks map[string]map[uint64]bool) {
	tab := p.Tables()
	costs, blocks = map[string]float64{}, map[string]map[uint64]bool{}
	for id := range tab.Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			sum := map[int32]uint64{}
			for _, c := range in.Costs {
				e := &tab.Events[c.Row]
				kind := tab.Kinds[e.Kind].Name
				if kind == profileLockWait {
					continue
				}
				if profile.FamilyOf(kind) == profile.FamilyOffCore {
					sum[c.Part] += c.N
				}
				costs[kind] += float64(c.N)
				if blocks[kind] == nil {
					blocks[kind] = map[uint64]bool{}
				}
				blocks[kind][e.Addr] = true
			}
			for i := range in.Parts {
				if in.Parts[i].OffCPU != sum[int32(i)] {
					panic(fmt.Sprintf("section %d, part %d: %d ns off the core, its events come to %d", id, i, in.Parts[i].OffCPU, sum[int32(i)]))
				}
			}
		}
	}
	return costs, blocks
}

const profileLockWait = "lock-wait"

func metricSum(p *profile.Profile, metric string) (sum float64) {
	for _, s := range p.Tables().PathSamples {
		if s.Metric == metric {
			sum += s.Value
		}
	}
	return sum
}

// What threads are off their cores of their own accord is what they measure themselves, and stands
// at the place where they leave them, whichever of the two ways tells of that. What they wait for a
// core is none of it, on a busy machine either. Of what they are away while lime has no core, so that
// it cannot look, it does not say for what.
func TestOffTheCore(t *testing.T) {
	needs(t, needSamples, needTracing)
	for _, row := range []struct {
		name, source, kind string
		threads            int
		before             string
	}{
		{"sleep", sleeps, kindSleep, 4, "pthread_barrier_init(&b, 0, 4);"},
		{"read", reads, kindIO, 2, "if (pipe(p)) return 1;"},
		{"futex", flags, kindFutex, 1, ""},
	} {
		before := fmt.Sprintf("pthread_barrier_init(&done, 0, %d); %s", row.threads+1, row.before)
		program := build(t, row.source+staying(row.threads, before, `printf("%ld\n", slept);`))
		for _, looks := range []bool{false, true} {
			var out strings.Builder
			kept := keptOff(t)
			p, _ := record(t, Options{Command: []string{program}, Stdout: &out, NoLeavings: looks})
			kept = keptOff(t) - kept
			var truth float64
			if _, err := fmt.Sscan(out.String(), &truth); err != nil || truth == 0 {
				t.Fatalf("%s: off the core for %.0f ns, %v", row.name, truth, err)
			}
			costs, blocks := offCosts(p)
			const share = 0.05
			unseen := 0.0
			if looks {
				unseen = min(costs[kindOffCPU], kept)
			}
			if got := costs[row.kind]; math.Abs(got+unseen-truth) > share*truth || len(blocks[row.kind]) != 1 && unseen < truth*(1-share) {
				t.Errorf("%s, looks %t: %.0f ns at %v; the program measures %.0f ns, at one place; by kind %v; lime had no core for %.0f ns",
					row.name, looks, got, blocks[row.kind], truth, costs, kept)
			} else if unseen > share*truth {
				t.Logf("%s: what it waits for in %.0f of %.0f ns is not known; lime had no core for %.0f ns", row.name, unseen, truth, kept)
			}
			if !noted(p, profile.NoteOffCore) {
				t.Errorf("%s: no note says how that is known: %v", row.name, p.Meta().Notes)
			}
		}
	}
}

// keptOff is for how long the threads of this process, lime's among them, could have run so far and
// had no core, in ns.
func keptOff(t *testing.T) (ns float64) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		tid, _ := strconv.Atoi(task.Name())
		k, _ := reckoning(int32(os.Getpid()), int32(tid)) // one that has ended meanwhile counts for nothing
		ns += float64(k.queued)
	}
	return ns
}

// More threads than cores: what they wait for one is what they measure, and no section's time. Of many
// that do little most of it is what they wait for their first turn.
func TestWaitsForACore(t *testing.T) {
	needs(t, needSamples, needTracing)
	for _, n := range []int{8, 64} {
		var out strings.Builder
		sum := fmt.Sprintf(`long s = 0; for (int i = 0; i < %d; i++) s += slept[i]; printf("%%ld\n", s);`, n)
		p, _ := record(t, Options{Command: []string{build(t, fmt.Sprintf(crowd, n)+team(n, "", sum))}, Stdout: &out})
		var truth float64
		if _, err := fmt.Sscan(out.String(), &truth); err != nil {
			t.Fatal(err)
		}
		const share = 0.1 // threads end, and the main thread starts them, outside of what they measure
		got, most := metricSum(p, metricQueue), truth*(1+share)+float64(n)*oneTurn
		if truth > 0 && (got < truth*(1-share) || got > most) {
			t.Errorf("%d threads: %.0f ns without a core; the program measures %.0f ns", n, got, truth)
		}
		costs, _ := offCosts(p)
		if off := costs[kindSleep] + costs[kindIO] + costs[kindFutex]; off > share*truth {
			t.Errorf("%d threads that only compute were off their cores by themselves: %v", n, costs)
		}
	}
}

// oneTurn is what a thread may wait for a turn, in ns: for its last one, behind what it measures.
const oneTurn = 20_000_000

func TestParseBlocked(t *testing.T) {
	for _, row := range []struct {
		text string
		want blockedIn
		ok   bool
	}{
		{"running\n", blockedIn{}, false},
		{"-1 0x7ffd10 0x401020\n", blockedIn{number: -1, sp: 0x7ffd10, pc: 0x401020}, true},
		{"0 0x3 0x7f20 0x1 0x0 0x0 0x0 0x7ffd10 0x401020\n", blockedIn{number: 0, args: [2]uint64{3, 0x7f20}, sp: 0x7ffd10, pc: 0x401020}, true},
		{"", blockedIn{}, false},
		{"x 0x1 0x2", blockedIn{}, false},
		{"1 0x1 zz", blockedIn{}, false},
	} {
		if got, ok := parseBlocked(row.text); ok != row.ok || ok && got != row.want {
			t.Errorf("%q: %+v, %t; want %+v, %t", row.text, got, ok, row.want, row.ok)
		}
	}
}

func TestNumberBefore(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       int
	}{
		{"mov $230, %eax", "\xb8\xe6\x00\x00\x00", 230},
		{"xor %eax, %eax; mov %rsi, %rdi", "\x31\xc0\x48\x89\xf7", 0},
		{"mov $-6, %eax; mov $1, %eax", "\xb8\xfa\xff\xff\xff\xb8\x01\x00\x00\x00", 1},
		{"mov %rdi, %rax", "\x48\x89\xf8", unknownCall},
		{"nothing", "", unknownCall},
		{"mov $202, %r8d; mov $1, %edx; mov %r8d, %eax; mov 4(%rip), %esi",
			"\x41\xb8\xca\x00\x00\x00\xba\x01\x00\x00\x00\x44\x89\xc0\x8b\x35\x04\x00\x00\x00", 202},
		{"xor %eax, %eax; mov (%rsi), %eax", "\x31\xc0\x8b\x06", unknownCall},
		{"mov %fs:0x18, %eax; test %eax, %eax", "\x64\x8b\x04\x25\x18\x00\x00\x00\x85\xc0", 0},
	} {
		if got := numberBefore([]byte(row.text)); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func TestWaitingKinds(t *testing.T) {
	for _, row := range []struct {
		number int
		args   [2]uint64
		want   string
	}{
		{unix.SYS_READ, [2]uint64{3, 9}, kindIO}, {unix.SYS_CLOCK_NANOSLEEP, [2]uint64{}, kindSleep}, {unix.SYS_FUTEX, [2]uint64{}, kindFutex},
		{unix.SYS_POLL, [2]uint64{0x1000, 2}, kindIO}, {unix.SYS_POLL, [2]uint64{0, 0}, kindSleep}, {unix.SYS_SELECT, [2]uint64{0, 0}, kindSleep},
		{noCall, [2]uint64{}, kindFault}, {unknownCall, [2]uint64{}, kindOffCPU}, {unix.SYS_MPROTECT, [2]uint64{}, kindMap}, {unix.SYS_BRK, [2]uint64{}, kindMap}, {unix.SYS_WAIT4, [2]uint64{}, kindOffCPU},
	} {
		if got := waitingKind(row.number, row.args); got != row.want {
			t.Errorf("call %d %v is %q, want %q", row.number, row.args, got, row.want)
		}
	}
}

// However many samples there are, no more are spent than the rate allows and one burst.
func TestBudgetHolds(t *testing.T) {
	b := budget{rate: 1000, burst: 500}
	spent, on := 0, true
	const tick, seconds = 10_000_000, 20
	for now := uint64(1); now < seconds*1e9; now += tick {
		n := 0
		if on {
			n = 300
		}
		spent += n
		on = b.spend(n, now)
	}
	if spent > 1000*seconds+500+300 || spent < 900*seconds {
		t.Errorf("%d samples in %d s of 1,000 a second", spent, seconds)
	}
	quiet := budget{rate: 1000, burst: 500}
	for now := uint64(1); now < 5e9; now += tick {
		if !quiet.spend(5, now) {
			t.Fatal("within the rate, and switched off")
		}
	}
}

// Who has been woken at a barrier and waits for its lock still waits for the barrier; later, a
// futex is one of the program's own.
func TestFutexOnTheWayFromABarrier(t *testing.T) {
	for _, row := range []struct {
		name string
		cpu  uint64 // ns on a CPU since it was woken
		want int
	}{{"on the way", onTheWay / 2, 0}, {"at work", onTheWay * 2, 1}} {
		r, _ := recording(t, Options{})
		r.main.program.hooks = &hook.Installed{}
		m := r.main.roster.main()
		m.cpu = onCPU{known: true, on: true, since: 1000}
		m.home = homeward{cpu: m.cpu.at(2000)}
		at := 2000 + row.cpu
		m.off.last = leaving{at: at, kind: kindFutex, call: 0x1000, seen: true}
		r.main.absences.hasLeft(m, at, false)
		m.cpu.out(at, false)
		r.main.absences.cameBack(m, at+50_000)
		if got := len(m.piece.off); got != row.want {
			t.Errorf("%s: %d times off the core, want %d", row.name, got, row.want)
		}
	}
}

// Whom a thread waits for at a futex, or for the lock of the memory that the threads share, nobody
// knows: as long as some thread that could go on has no core, it may be that one, and the wait is not
// the program's.
func TestWaitForOneWithoutACore(t *testing.T) {
	const long = 50_000
	for _, row := range []struct {
		name string
		kind string
		have bool // the other thread has a core
		want uint64
	}{
		{"it works", kindFutex, true, long}, {"it has no core", kindFutex, false, 0},
		{"asleep for a time", kindSleep, false, long},
		{"it works, for a page", kindFault, true, long}, {"it has no core, for a page", kindFault, false, 0},
		{"it works, for the map", kindMap, true, long}, {"it has no core, for the map", kindMap, false, 0},
	} {
		r, _ := recording(t, Options{})
		r.main.program.hooks = &hook.Installed{}
		m, at := r.main.roster.main(), uint64(2000)
		m.cpu = onCPU{known: true, on: true, since: 1000}
		m.off.last = leaving{at: at, kind: row.kind, call: 0x1000, seen: true}
		pace := &r.main.clocks.pace
		pace.to(at)
		pace.set(&m.paced, false, false)
		pace.set(&paced{}, row.have, true)
		r.main.absences.hasLeft(m, at, false)
		m.cpu.out(at, false)
		pace.to(at + long)
		was := r.main.absences.cameBack(m, at+long)
		if got := m.piece.off[0].wait; got != row.want || was.due != got || m.piece.queued != long-got {
			t.Errorf("%s: waits for %d ns and %+v, and for a core for %d ns; want %d of %d", row.name, got, was, m.piece.queued, row.want, long)
		}
		if r.main.absences.offWithin(m, at, at+long); m.piece.off[0].wait != 0 || m.piece.queued != 0 {
			t.Errorf("%s: %+v and %d ns for a core are left of a wait that is known", row.name, m.piece.off, m.piece.queued)
		}
	}
}
