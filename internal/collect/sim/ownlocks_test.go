package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// spinLock is a lock of a program's own: its word, L, is declared, taken in a line, and given back. @ is
// a number of its own.
type spinLock struct{ name, word, take, give string }

// spinLocks are in C, and in C++.
var spinLocks = []spinLock{
	{"test and set", "int L", "while (" + tryXchg + ") " + pauses, unlock},
	{"look and set", "int L", thenTry(loop("look").in(look, pauses, "", 0), tryXchg), unlock},
	{"set and look", "int L", "while (" + tryXchg + ") " + loop("look").in(look, pauses, "", 0), unlock},
	{"one condition", "int L", loop("look").in(look+" || "+tryXchg, pauses, "", 0), unlock},
	{"byte", "unsigned char L", thenTry(loop("look").in(look, pauses, "", 0), tryXchg), unlock},
	{"bool", "_Bool L", thenTry(loop("look").in(look, ";", "", 0), tryXchg), unlock},
	{"60 pauses", "int L", thenTry(loop("pauses long").in(look, pauses, "", 60), tryXchg), unlock},
	{"200 pauses", "int L", thenTry(loop("pauses long").in(look, pauses, "", 200), tryXchg), unlock},
	{"cmpxchg", "int L", thenTry(loop("look").in(look, pauses, "", 0)+" int z = 0;", tryCmpxchg), unlock},
	{"by its holder", "long L", "long me = (long)pthread_self(); " + thenTry(loop("look").in(look, pauses, "", 0)+" long z = 0;",
		strings.Replace(tryCmpxchg, "1, 0", "me, 0", 1)), unlock},
	{"a bit", "long L", thenTry(loop("look").in(look+" & 4", pauses, "", 0),
		"__atomic_fetch_or(&L, 4, __ATOMIC_ACQUIRE) & 4"), "__atomic_fetch_and(&L, ~4L, __ATOMIC_RELEASE);"},
	{"sync", "int L", thenTry(loop("look").in("*(volatile int *)&L", pauses, "", 0), "__sync_lock_test_and_set(&L, 1)"),
		"__sync_lock_release(&L);"},
	{"C11", "atomic_int L", thenTry(loop("look").in("atomic_load_explicit(&L, memory_order_relaxed)", pauses, "", 0),
		"atomic_exchange(&L, 1)"), "atomic_store(&L, 0);"},
	{"in a struct", "struct { long pad; int word; } S@[4];\n#undef L\n#define L S@[2].word\nstatic int none@",
		thenTry(loop("look").in(look, pauses, "", 0), tryXchg), unlock},
	{"behind a pointer", "struct lock@ { long pad; int word; } lk@, *at@ = &lk@;\n#undef L\n#define L " +
		"at@->word\nstatic int none@", thenTry(loop("look").in(look, pauses, "", 0), tryXchg), unlock},
}

// yieldLocks give their core away while they wait: at once, or now and then.
var yieldLocks = []spinLock{
	{"look and yield", "int L", thenTry(loop("look").in(look, yields, "", 0), tryXchg), unlock},
	{"set and yield", "int L", "while (" + tryXchg + ") " + yields, unlock},
	{"set, look and yield", "int L", "while (" + tryXchg + ") " + loop("look").in(look, yields, "", 0), unlock},
	{"set, look or yield", "int L", "while (" + tryXchg + ") " + loop("looks, or").in(look, yields, "", 0), unlock},
	{"pauses, then yields", "int L", thenTry(loop("first N times").in(look, pauses, yields, 16), tryXchg), unlock},
	{"yields now and then", "int L", "int i = 0; " + thenTry(loop("now and then").in(look, pauses, yields, 64), tryXchg),
		unlock},
	{"longer and longer, then yields", "int L", "int d = 0; " +
		thenTry(loop("longer and longer").in(look, pauses, yields, 0), tryXchg), unlock},
	{"cmpxchg and yield", "int L", "for (;;) { int z = 0; if (!" + look + " && __atomic_compare_exchange_n(&L, " +
		"&z, 1, 1, " +
		"__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) break; sched_yield(); }", unlock},
}

// cxxLocks are those of C++'s library.
var cxxLocks = []spinLock{
	{"bool C++", "std::atomic<bool> L", "for (;;) { while (L.load(std::memory_order_relaxed)) " + pauses +
		" if (!L.exchange(true, std::memory_order_acquire)) break; }", "L.store(false, std::memory_order_release);"},
	{"int C++", "std::atomic<int> L", "for (;;) { while (L.load()) " + pauses + " int z = 0; if " +
		"(L.compare_exchange_weak(z, 1)) break; }",
		"L = 0;"},
	{"flag C++", "std::atomic_flag L = ATOMIC_FLAG_INIT", "for (;;) { while (L.test(std::memory_order_relaxed)) " +
		"" + pauses +
		" if (!L.test_and_set()) break; }", "L.clear();"},
}

// spinLockSource is threads that take each of some locks in turn, which another one has for long.
const spinLockSource = `#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
ATOMICS
static volatile long sum __attribute__((aligned(128))); static pthread_barrier_t bar __attribute__((aligned(128)));
static void work(long n) { for (long i = 0; i < n; i++) sum += i; }
LOCKS
static const struct { void (*take)(void), (*give)(void); } locks[] = { TABLE };
static void *worker(void *p) {
	for (int i = 0; i < 4 * (sizeof locks / sizeof *locks); i++) {
		if (!p) locks[i / 4].take();
		pthread_barrier_wait(&bar);
		if (p) locks[i / 4].take(); else work(1000000);
		locks[i / 4].give();
		pthread_barrier_wait(&bar);
	}
	return 0;
}
int main(void) {
	pthread_t t[2];
	pthread_barrier_init(&bar, 0, 3);
	for (long i = 1; i < 3; i++) pthread_create(&t[i - 1], 0, worker, (void *)i);
	worker(0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	printf("%d\n", sum != 0);
}
`

const spinLockOne = `#undef L
#define L L@
static WORD;
static __attribute__((noinline)) void take@(void) {
	TAKE // LOCK @
}
static __attribute__((noinline)) void give@(void) {
	GIVE
}
`

// takenSource is threads that wait for what one of them makes, in each of some ways.
const takenSource = `#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
struct item { struct item *next; long n; int state; };
static volatile long all; static long sum[2][64];
static void work(long n) { for (long i = 0; i < n; i++) all += i; }
LOCKS
static const struct { struct item *(*take)(void); void (*put)(struct item *); } places[] = { TABLE };
enum { ways = sizeof places / sizeof *places };
static void *taker(void *p) {
	for (int i = 0; i < 12 * ways; i++) sum[(long)p][i % 64] += places[i / 12].take()->n;
	return 0;
}
int main(void) {
	pthread_t t[2];
	long n = 0;
	for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, taker, (void *)i);
	for (int i = 0; i < 24 * ways; i++) {
		work(100000);
		struct item *it = (struct item *)calloc(1, sizeof *it);
		it->n = 1;
		places[i / 24].put(it);
	}
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	for (int i = 0; i < 128; i++) n += sum[i / 64][i % 64];
	printf("%d\n", n == 24 * ways);
}
`

const takenOne = `#define head head@
#define ring ring@
#define first first@
#define last last@
#define lock lock@
#define words words@
static struct item *head, *ring[8]; static unsigned long first, last, words; static int lock;
static struct item *take@(void) {
	TAKE // LOCK @
}
static void give@(struct item *it) {
	GIVE
}
#undef head
#undef ring
#undef first
#undef last
#undef lock
#undef words
`

const loadOf = "__atomic_load_n(&"

// taken are ways to take an item from where one thread puts it.
var taken = []spinLock{
	{"stack", "", "struct item *h; for (;;) { while (!(h = " + loadOf + "head, 2))) " + pauses +
		" if (__atomic_compare_exchange_n(&head, &h, h->next, 0, 5, 5)) return h; }",
		"it->next = " + loadOf + "head, 0); while (!__atomic_compare_exchange_n(&head, &it->next, it, 0, 5, 5)) ;"},
	{"stack, try first", "", "for (;;) { struct item *h = " + loadOf + "head, 2); if (h && " +
		"__atomic_compare_exchange_n(&head, &h, h->next, 0, 5, 5)) " +
		"return h; while (!" + loadOf + "head, 0)) " + pauses + " }",
		"it->next = " + loadOf + "head, 0); while (!__atomic_compare_exchange_n(&head, &it->next, it, 0, 5, 5)) ;"},
	{"all of a list", "", "struct item *h, *r; do { while (!" + loadOf + "head, 0)) sched_yield(); } " +
		"while (!(h = __atomic_exchange_n(&head, (struct item *)0, 5))); " +
		"while (r = h->next) { h->next = r->next; r->next = " + loadOf + "head, 0); " +
		"while (!__atomic_compare_exchange_n(&head, &r->next, r, 0, 5, 5)) ; } return h;",
		"it->next = " + loadOf + "head, 0); while (!__atomic_compare_exchange_n(&head, &it->next, it, 0, 5, 5)) ;"},
	{"ring, by number", "", "for (;;) { unsigned long f; while ((f = " + loadOf + "first, 0)) == " + loadOf +
		"last, 2)) " + pauses +
		" struct item *it = ring[f % 8]; if (__atomic_compare_exchange_n(&first, &f, f + 1, 0, 5, 5)) return it; }",
		"while (last - " + loadOf + "first, 2) == 8) " + pauses + " ring[last % 8] = it; __atomic_store_n(&last, " +
			"last + 1, 3);"},
	{"one place", "", "struct item *it; for (;;) { while (!" + loadOf + "head, 0)) " + pauses +
		" if ((it = __atomic_exchange_n(&head, (struct item *)0, 5))) return it; }",
		"while (" + loadOf + "head, 0)) " + pauses + " __atomic_store_n(&head, it, 3);"},
	{"one place, at once", "", "struct item *it; while (!(it = __atomic_exchange_n(&head, (struct item *)0, 5))) " +
		"" + pauses + " return it;",
		"while (" + loadOf + "head, 0)) " + pauses + " __atomic_store_n(&head, it, 3);"},
	{"one place, put by cmpxchg", "", "struct item *it; for (;;) { while (!" + loadOf + "head, 0)) " + pauses +
		" if ((it = __atomic_exchange_n(&head, (struct item *)0, 5))) return it; }",
		"for (;;) { while (" + loadOf + "head, 0)) " + pauses +
			" struct item *z = 0; if (__atomic_compare_exchange_n(&head, &z, it, 0, 5, 5)) break; }"},
	{"a state", "", "for (;;) { while (" + loadOf + "lock, 0) != 1) " + pauses +
		" int one = 1; if (__atomic_compare_exchange_n(&lock, &one, 2, 0, 5, 5)) { struct item *it = head; " +
		"__atomic_store_n(&lock, 0, 3); return it; } }",
		"while (" + loadOf + "lock, 2)) " + pauses + " head = it; __atomic_store_n(&lock, 1, 3);"},
	{"a state that stays", "", "for (;;) { while (" + loadOf + "lock, 0) != 1) " + pauses +
		" int one = 1; if (__atomic_compare_exchange_n(&lock, &one, 2, 0, 5, 5)) { struct item *it = head; " +
		"__atomic_store_n(&last, last + 1, 3); return it; } }",
		"while (" + loadOf + "last, 2) != first) " + pauses + " head = it; first++; __atomic_store_n(&lock, 1, 3);"},
	{"a state that stays, yields", "", "for (;;) { int one = 1; if (" + loadOf + "lock, 0) == 1 && " +
		"__atomic_compare_exchange_n(&lock, &one, 2, 0, 5, 5)) " +
		"{ struct item *it = head; __atomic_store_n(&last, last + 1, 3); return it; } sched_yield(); }",
		"while (" + loadOf + "last, 2) != first) sched_yield(); head = it; first++; __atomic_store_n(&lock, 1, 3);"},
	{"a number", "", "for (;;) { unsigned long n; while (!(n = " + loadOf + "first, 2))) " + pauses +
		" if (__atomic_compare_exchange_n(&first, &n, n - 1, 0, 5, 5)) break; } unsigned long f = " +
		"__atomic_fetch_add(&words, 1, 5); " +
		"struct item *it = ring[f % 8]; __atomic_store_n(&ring[f % 8], (struct item *)0, 3); return it;",
		"while (" + loadOf + "ring[last % 8], 2)) " + pauses + " ring[last++ % 8] = it; " +
			"__atomic_fetch_add(&first, 1, 5);"},
	{"a turn", "", "unsigned long f = __atomic_fetch_add(&first, 1, 5); struct item *it; while (!(it = " +
		loadOf + "ring[f % 8], 2))) " + pauses +
		" __atomic_store_n(&ring[f % 8], (struct item *)0, 3); return it;",
		"while (" + loadOf + "ring[last % 8], 2)) " + pauses + " __atomic_store_n(&ring[last++ % 8], it, 3);"},
	{"bits", "", "for (;;) { unsigned long m; while (!(m = " + loadOf + "first, 2))) " + pauses + " int b = " +
		"__builtin_ctzl(m); " +
		"if (__atomic_fetch_and(&first, ~(1UL << b), 5) >> b & 1) { struct item *it = ring[b]; " +
		"__atomic_store_n(&ring[b], (struct item *)0, 3); return it; } }",
		"int b = last++ % 8; while (" + loadOf + "ring[b], 2)) " + pauses + " ring[b] = it; " +
			"__atomic_fetch_or(&first, 1UL << b, 5);"},
	{"stack, yields", "", "for (;;) { struct item *h = " + loadOf + "head, 2); if (h && " +
		"__atomic_compare_exchange_n(&head, &h, h->next, 0, 5, 5)) " +
		"return h; sched_yield(); }",
		"it->next = " + loadOf + "head, 0); while (!__atomic_compare_exchange_n(&head, &it->next, it, 0, 5, 5)) ;"},
	{"ring, yields", "", "for (;;) { unsigned long f; while ((f = " + loadOf + "first, 0)) == " + loadOf + "last, " +
		"2)) sched_yield();" +
		" struct item *it = ring[f % 8]; if (__atomic_compare_exchange_n(&first, &f, f + 1, 0, 5, 5)) return it; }",
		"while (last - " + loadOf + "first, 2) == 8) sched_yield(); ring[last % 8] = it; __atomic_store_n(&last, " +
			"last + 1, 3);"},
	{"one place, yields", "", "struct item *it; while (!(it = __atomic_exchange_n(&head, (struct item *)0, 5))) " +
		"sched_yield(); return it;",
		"while (" + loadOf + "head, 0)) sched_yield(); __atomic_store_n(&head, it, 3);"},
}

// allOf is a program with all of some ways to take something, and the line of each.
func allOf(text, one, atomics string, list []spinLock) (prog string, lines []int32) {
	ones, table := "", ""
	for i, k := range list {
		ones += strings.NewReplacer("@", fmt.Sprint(i), "WORD", strings.ReplaceAll(k.word, "@", fmt.Sprint(i)),
			"TAKE", k.take, "GIVE", k.give).Replace(one)
		table += fmt.Sprintf("{take%d, give%d}, ", i, i)
	}
	prog = strings.NewReplacer("ATOMICS", atomics, "LOCKS", ones, "TABLE", table).Replace(text)
	for i := range list {
		lines = append(lines, int32(strings.Count(prog[:strings.Index(prog, fmt.Sprintf("// LOCK %d\n", i))],
			"\n")+1))
	}
	return prog, lines
}

// waitsAt is for how long was waited at a line for locks, and for others' work.
func waitsAt(kinds map[string]*kindWaits, line int32) (locks, others uint64) {
	for kind, w := range kinds {
		switch kind {
		case profile.KindLockWait:
			locks += w.lines[line]
		case profile.KindSpinWait, profile.KindWorkWait:
			others += w.lines[line]
		}
	}
	return locks, others
}

func buildText(t *testing.T, text, ext, command string) (bin string) {
	t.Helper()
	words := strings.Fields(command)
	testenv.Tool(t, words[0])
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "prog"+ext), filepath.Join(dir, "prog")
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	words = append(words, "-g", "-w", "-pthread", "-o", bin, src)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, text)
	}
	return bin
}

// countedRun counts a program and returns its profile.
func countedRun(t *testing.T, bin, want string) (path string) {
	t.Helper()
	cmd, path := counting(t, nil, bin)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// but is a list without some: their rounds are longer than a thread is followed for, or only optimised code
// says what they put into their word.
func but(list []spinLock, names ...string) []spinLock {
	return slices.DeleteFunc(slices.Clone(list), func(k spinLock) bool { return slices.Contains(names, k.name) })
}

// A lock of the program's own is one, whatever it does before it tries, and stands at its line.
func TestLocksOfTheProgramsOwnAreLocks(t *testing.T) {
	for _, c := range []struct {
		list             []spinLock
		atomics, ext, cc string
	}{
		{spinLocks, "#include <stdatomic.h>", ".c", "gcc -O2"},
		{spinLocks, "#include <stdatomic.h>", ".c", "clang -O2"},
		{but(spinLocks, "by its holder"), "#include <stdatomic.h>", ".c", "gcc -O0"},
		{but(spinLocks, "200 pauses", "by its holder"), "#include <stdatomic.h>", ".c", "clang -O0"},
		{yieldLocks, "", ".c", "gcc -O2"},
		{yieldLocks, "", ".c", "gcc -O0"},
		{yieldLocks, "", ".c", "clang -O0"},
		{yieldLocks, "", ".c", "clang -O2"},
		{cxxLocks, "#include <atomic>", ".cc", "g++ -std=c++20 -O2"},
	} {
		t.Run(c.list[0].name+"/"+strings.ReplaceAll(c.cc, " ", ""), func(t *testing.T) {
			text, lines := allOf(spinLockSource, spinLockOne, c.atomics, c.list)
			kinds := waitsByKind(t, countedRun(t, buildText(t, text, c.ext, c.cc), "1\n"))
			for i, line := range lines {
				if locks, others := waitsAt(kinds, line); locks == 0 || others*20 > locks {
					t.Errorf("%s: waited %d for locks, and %d for others' work", c.list[i].name, locks, others)
				}
			}
		})
	}
}

// Whoever waits for what one thread makes waits for that, however it is taken then. Whether a wait is
// seen at all depends on whether the thread is followed while it lasts; some are.
func TestWhatIsTakenIsNoLock(t *testing.T) {
	for _, cc := range []string{"gcc -O0", "gcc -O2", "clang -O2"} {
		t.Run(strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
			text, lines := allOf(takenSource, takenOne, "", taken)
			kinds, seen := waitsByKind(t, countedRun(t, buildText(t, text, ".c", cc), "1\n")), uint64(0)
			for i, line := range lines {
				locks, others := waitsAt(kinds, line)
				if seen += others; locks*20 > others {
					t.Errorf("%s: waited %d for locks, and %d for what is made", taken[i].name, locks, others)
				}
			}
			if seen == 0 {
				t.Error("nobody was seen to wait")
			}
		})
	}
}
