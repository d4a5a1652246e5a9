package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lime/internal/profile"
)

// waitKinds are ways to wait for thread 0, which works for a long time and then lets go.
var waitKinds = []struct{ name, first, wait, release string }{
	{"flag", "", "while (!V(flag)) ;", "V(flag) = 1;"},
	{"flag, pause", "", "while (!V(flag)) __builtin_ia32_pause();", "V(flag) = 1;"},
	{"flag, yield", "", "while (!V(flag)) sched_yield();", "V(flag) = 1;"},
	{"flag, fence", "", "while (!V(flag)) __sync_synchronize();", "V(flag) = 1;"},
	{"flag, acquire", "", "while (!__atomic_load_n(&flag, 2)) ;", "__atomic_store_n(&flag, 1, 3);"},
	{"flag, function", "", "while (!done()) ;", "V(flag) = 1;"},
	{"flag, now and then a yield", "", "for (unsigned i = 1; !V(flag); i++) if (i % 64 == 0) sched_yield();", "V(flag) = 1;"},
	{"flag, a hundred pauses and a yield", "",
		"while (!V(flag)) { for (int i = 0; i < 100; i++) __builtin_ia32_pause(); sched_yield(); }", "V(flag) = 1;"},
	{"flag, pauses and then yields, with a float at hand", "",
		"double d = most; for (int n = 0; !V(flag);) if (++n < 100) __builtin_ia32_pause(); else { __asm__ " +
			"volatile(\"\" : \"+x\"(d)); sched_yield(); } big = d * 3.1;", "V(flag) = 1;"},
	{"flag, longer and longer pauses", "",
		"for (int d = 1; !V(flag); d = d < 256 ? 2 * d : d) for (int i = 0; i < d; i++) __builtin_ia32_pause();", "V(flag) = 1;"},
	{"flag, rounds counted", "", "long n = 0; while (!V(flag)) n++; spun = n;", "V(flag) = 1;"},
	{"flag, at most very many rounds", "", "for (long n = 0; n < 1L << 40 && !V(flag); n++) ;", "V(flag) = 1;"},
	{"flag, at most a number of rounds that memory says", "", "for (int n = V(most); n > 0 && !V(flag); n--) ;", "V(flag) = 1;"},
	{"flag, a bit", "", "while (!(V(flag) & 4)) ;", "V(flag) = 7;"},
	{"flag, a byte", "", "while (!*(volatile char *)&flag) ;", "V(flag) = 1;"},
	{"flag, one of two", "", "while (!V(flag) && !V(other)) ;", "V(other) = 1;"},
	{"flag, behind a pointer", "", "struct box *b = &box; while (!V(b->done)) ;", "V(box.done) = 1;"},
	{"flag, on another stack", "", "while (!V(*far)) ;", "V(*far) = 1;"},
	{"generation", "", "int g = V(flag); while (V(flag) == g) ;", "V(flag)++;"},
	{"counter reaches", "", "while (V(big) < 10) ;", "V(big) = 11;"},
	{"all flags of an array", "for (int i = 0; i < 8; i++) flags[i] = i < 5;",
		"for (;;) { int i = 0; while (i < 8 && V(flags[i])) i++; if (i == 8) break; }", "for (int i = 5; i < 8; i++) V(flags[i]) = 1;"},
	{"lock, xchg", "lock = 1;", "while (__atomic_exchange_n(&lock, 1, 5)) ;", "__atomic_store_n(&lock, 0, 3);"},
	{"lock, test and xchg", "lock = 1;",
		"while (__atomic_exchange_n(&lock, 1, 5)) while (V(lock)) __builtin_ia32_pause();", "__atomic_store_n(&lock, 0, 3);"},
	{"lock, cmpxchg", "lock = 1;", "for (int z = 0; !__atomic_compare_exchange_n(&lock, &z, 1, 0, 5, 5); z = 0) ;",
		"__atomic_store_n(&lock, 0, 3);"},
	{"lock, ticket", "next = 1;", "int my = __atomic_fetch_add(&next, 1, 5); while (V(serving) != my) ;", "V(serving)++;"},
	{"lock, pthread spin", "pthread_spin_init(&spin, 0); pthread_spin_lock(&spin);", "pthread_spin_lock(&spin);",
		"pthread_spin_unlock(&spin);"},
	{"lock, mutex", "", "while (!V(other)) sched_yield(); pthread_mutex_lock(&mutex);", "pthread_mutex_unlock(&mutex);"},
	{"poll by adding nil", "", "while (!__atomic_fetch_add(&flag, 0, 5)) ;", "V(flag) = 1;"},
	{"semaphore", "sem_init(&sem, 0, 0);", "sem_wait(&sem);", "sem_post(&sem);"},
	{"pipe", "if (pipe(fds)) return 1;", "char c; if (read(fds[0], &c, 1) != 1) return 0;", "if (write(fds[1], \"\", 1) != 1) return 0;"},
	{"naps", "", "while (!V(flag)) usleep(100);", "V(flag) = 1;"},
	{"spin, then futex", "", "for (int i = 0; i < 1000 && !V(flag); i++) __builtin_ia32_pause(); while (!V(flag)) " +
		"syscall(SYS_futex, &flag, 0, 0, 0, 0, 0);", "V(flag) = 1; syscall(SYS_futex, &flag, 1, 1, 0, 0, 0);"},
}

const waitSource = `#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#define V(x) (*(volatile __typeof__(x) *)&(x))
static int flag, other, lock, next, serving, most = 1 << 30, flags[64], fds[2]; static long big, spun, sum[2]; static int *far;
static struct box { int pad[40], done; } box; static pthread_spinlock_t spin; static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; static sem_t sem;
static int __attribute__((noinline)) done(void) { return V(flag); }
`

// kindSource is one kind: WAIT is what thread 1 does, GO what thread 0 does in the end, HOLD in the
// beginning.
const kindSource = `static void *waiterKIND(void *p) { WAIT sum[1]++; return 0; }
static void *workerKIND(void *p) {
	HOLD
	long x = 1;
	for (long i = 0; i < 600000; i++) { x = x * 31 + i; __asm__ volatile("" : "+r"(x)); }
	sum[0] = x;
	GO
	return 0;
}
`

// waitMain runs the kind that the argument says. FIRSTS is done before both threads start.
const waitMain = `int main(int argc, char **argv) {
	int mine = 0; pthread_t a, b;
	far = &mine;
	void *(*two[2])(void *) = { 0, 0 };
	switch (atoi(argv[1])) { FIRSTS }
	pthread_create(&a, 0, two[0], 0); pthread_create(&b, 0, two[1], 0);
	pthread_join(a, 0); pthread_join(b, 0);
	printf("%d %d\n", sum[0] != 0, (int)sum[1]);
}
`

// waitProgram is a program of all kinds: a compiler is started once for them.
func waitProgram(t *testing.T, compiler string) string {
	t.Helper()
	text, firsts := waitSource, ""
	for i, k := range waitKinds {
		hold := ""
		if k.name == "lock, mutex" {
			hold = "pthread_mutex_lock(&mutex); V(other) = 1;"
		}
		text += strings.NewReplacer("WAIT", k.wait, "HOLD", hold, "GO", k.release, "KIND", strconv.Itoa(i)).Replace(kindSource)
		firsts += fmt.Sprintf("case %d: two[0] = worker%d; two[1] = waiter%d; %s break;\n", i, i, i, k.first)
	}
	return compileText(t, text+strings.Replace(waitMain, "FIRSTS", firsts, 1), compiler+" -g -w -pthread")
}

// Whoever waits is seen to wait: at most a twentieth of the wait counts as its work.
func TestEveryKindOfWaitIsSeen(t *testing.T) {
	compilers := []string{"gcc -O0", "gcc -O2", "clang -O2"}
	if os.Getenv("LIME_LONG") != "" {
		compilers = oracleCompilers
	}
	for _, cc := range compilers {
		bin := waitProgram(t, cc)
		for i, k := range waitKinds {
			t.Run(k.name+"/"+strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
				t.Parallel()
				path, status, said, out := simulated(t, 4, unnamed, "--", bin, strconv.Itoa(i))
				if status != 0 || out != "1 1\n" {
					t.Fatalf("status %d, printed %q: %s", status, out, said)
				}
				if wait, work := worked(t, path, 1), worked(t, path, 2); work*20 > wait {
					t.Errorf("the one that waits worked for %d, the other one for %d", work, wait)
				}
			})
		}
	}
}

// worked is the time of a thread's parts that was no waiting.
func worked(t *testing.T, path string, thread profile.ThreadID) (sum uint64) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for id := range p.Tables().Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range in.Parts {
				if part.Thread == thread {
					sum += part.Arrive - part.Start - min(part.Arrive-part.Start, part.LockWait+part.OffCPU)
				}
			}
		}
	}
	return sum
}

// hoisted has a wait in a function that compilers put into its caller, and a constant that they put
// in front of the loop, with whatever line is near.
const hoisted = `#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static int done; static long sum[2];
static void wait_for(int want) {
	int spins = 0;
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < want)
		if (++spins > 100) {
			sched_yield();
			spins = 0;
		}
}
static long work(long n, long x) {
	for (long i = 0; i < n; i++) { x = x * 31 + i; __asm__ volatile("" : "+r"(x)); }
	return x;
}
static void *waiter(void *p) {
	int top = 0;
	for (int k = 0; k < 4; k++) {
		wait_for(k + 1);
		top += work(1000, k) != 0;
	}
	sum[1] = top;
	return 0;
}
static void *worker(void *p) {
	for (int k = 0; k < 4; k++) {
		sum[0] += work(200000, k) != 0;
		__atomic_store_n(&done, k + 1, __ATOMIC_RELEASE);
	}
	return 0;
}
int main(void) {
	pthread_t a, b;
	pthread_create(&a, 0, worker, 0); pthread_create(&b, 0, waiter, 0);
	pthread_join(a, 0); pthread_join(b, 0);
	printf("%ld %ld\n", sum[0], sum[1]);
}
`

// A wait stands in the loop that looks at what is waited for, whatever the compiler put around it.
func TestAWaitStandsWhereItLooks(t *testing.T) {
	lineOf := func(mark string) int32 { return int32(strings.Count(hoisted[:strings.Index(hoisted, mark)], "\n") + 1) }
	first, last := lineOf("while ("), lineOf("sched_yield();")
	for _, cc := range []string{"gcc -O0", "gcc -O2", "gcc -O3", "clang -O2"} {
		t.Run(strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			src, bin := filepath.Join(dir, "hoisted.c"), filepath.Join(dir, "hoisted")
			if err := os.WriteFile(src, []byte(hoisted), 0o600); err != nil {
				t.Fatal(err)
			}
			words := append(strings.Fields(cc), "-g", "-pthread", "-o", bin, src)
			if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", cc, err, text)
			}
			path, status, said, out := simulated(t, 4, bin)
			if status != 0 || out != "4 4\n" {
				t.Fatalf("status %d, printed %q: %s", status, out, said)
			}
			p, err := profile.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			tab, waits := p.Tables(), 0
			for _, e := range tab.Events {
				if tab.Kinds[e.Kind].Name != "spin-wait" {
					continue
				}
				waits++
				if len(e.Frames) == 0 || e.Frames[0].Line < first || e.Frames[0].Line > last {
					t.Errorf("a wait at %+v, want lines %d to %d", e.Frames, first, last)
				}
			}
			if waits == 0 {
				t.Error("no wait")
			}
		})
	}
}
