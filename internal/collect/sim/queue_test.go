package sim_test

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// queuedHead and queuedKind are a program in which four threads wait at nodes, in one way after another:
// WAIT is what a thread does before its work, and DONE what it does behind it. What belongs to the Kth
// way has that in its name.
const (
	queuedHead = `
#include <pthread.h>
#include <sched.h>
typedef struct node { struct node *next; char apart[120]; long wait; } node;
static volatile long sums[5][16];
#define V(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define PUT(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELEASE)
#define SWAP(x, v) __atomic_exchange_n(&(x), v, __ATOMIC_ACQ_REL)
#define CAS(x, old, v) __atomic_compare_exchange_n(&(x), &(old), v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#define PAUSE __builtin_ia32_pause()
static void __attribute__((noinline)) work(long me, long n) { for (long i = 0; i < n; i++) sums[me][0] += i; }
`
	queuedKind = `
static node *tail_K, nodes_K[8], first_K;
static INLINED node *swapped_K(node *n) {
	node *p = V(tail_K);
	while (!CAS(tail_K, p, n)) ;
	return p;
}
static INLINED void listed_K(node *n, node *p) {
	if (p) { PUT(p->next, n); while (V(n->wait)) PAUSE; }
}
static INLINED void last_K(node *n) {
	node *me = n;
	if (!V(n->next)) {
		if (CAS(tail_K, me, 0)) return;
		while (!V(n->next)) PAUSE;
	}
	PUT(n->next->wait, 0);
}
static void *body_K(void *p) {
	long me = (long)p;
	node *n = &nodes_K[me], *before = 0;
	for (int i = 0; i < 20; i++) {
		WAIT
		work(me, 4000);
		DONE
		work(me, 400 + 140 * me);
	}
	return before;
}
static void *serverK(void *p) {
	for (int k = 0; k < 80;) {
		while (!V(tail_K)) PAUSE;
		node *next, *n = SWAP(tail_K, 0);
		for (; n; n = next) { next = V(n->next); work(4, 1500); PUT(n->wait, 0); k++; }
	}
	return p;
}
static void run_K(void) {
	pthread_t t[5];
	tail_K = FIRST;
	for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, body_K, (void *)i);
	if (SERVED) pthread_create(&t[4], 0, serverK, 0);
	for (int i = 0; i < 4 + SERVED; i++) pthread_join(t[i], 0);
}
`
)

// queueKinds are locks made of nodes, and what looks like one.
var queueKinds = []struct {
	name, wait, done string
	lock             bool
}{
	{"Mellor-Crummey and Scott", "PUT(n->next, 0); PUT(n->wait, 1); listed_K(n, SWAP(tail_K, n));", "last_K(n);", true},
	{"the same on the stack", "node on = {0, {0}, 1}; listed_K(&on, SWAP(tail_K, &on));", "last_K(&on);", true},
	{"by comparison", "PUT(n->next, 0); PUT(n->wait, 1); listed_K(n, swapped_K(n));", "last_K(n);", true},
	{"stores exchange, and it yields", "SWAP(n->next, 0); SWAP(n->wait, 1); before = SWAP(tail_K, n);" +
		" if (before) { SWAP(before->next, n); while (V(n->wait)) sched_yield(); }", "last_K(n);", true},
	{"Craig, Landin and Hagersten", "PUT(n->wait, 1); before = SWAP(tail_K, n); while (V(before->wait)) PAUSE;",
		"PUT(n->wait, 0); n = before;", true},
	// Flags handed around a ring.
	{"ring", "while (V(n->wait) <= i && (i || me)) PAUSE;", "PUT(nodes_K[(me + 1) % 4].wait, i + 1 + (me == 3));", false},
	// The same, and it is noted who came last.
	{"ring with a note", "SWAP(tail_K, n); while (V(n->wait) <= i && (i || me)) PAUSE;",
		"PUT(nodes_K[(me + 1) % 4].wait, i + 1 + (me == 3));", false},
	// A place in a row is taken, and worked for before it is waited at.
	{"in a row", "PUT(n->wait, 1); before = SWAP(tail_K, n); work(me, 4000); while (V(before->wait)) PAUSE;",
		"PUT(n->wait, 0); n = before;", false},
	// Another thread lets go on who have put their nodes there.
	{"served", "PUT(n->wait, 1); before = V(tail_K); do PUT(n->next, before); while (!CAS(tail_K, before, n));" +
		" while (V(n->wait)) PAUSE;", "", false},
}

// queuedProgram is the whole program.
func queuedProgram(inlined string) string {
	text, runs := queuedHead, ""
	for i, k := range queueKinds {
		first, served := "0", "0"
		if strings.Contains(k.wait, "(before->wait)) ") {
			first = "&first_K"
		}
		if k.name == "served" {
			served = "1"
		}
		kind := strings.NewReplacer("WAIT", k.wait, "DONE", k.done, "FIRST", first, "SERVED", served, "INLINED", inlined).Replace(queuedKind)
		text += strings.NewReplacer("_K", "_"+strconv.Itoa(i), "serverK", "server"+strconv.Itoa(i)).Replace(kind)
		runs += fmt.Sprintf(" run_%d();", i)
	}
	return text + "int main(void) {" + runs + " }\n"
}

// TestQueuesAreLocks has threads wait at nodes of a queue. Where they come into it by an exchange, and
// who stands in front lets the next one go, that is a lock, whatever the compiler makes of it; where
// they go on in an order of the program's own, or another thread lets them, they wait for others' work.
func TestQueuesAreLocks(t *testing.T) {
	for compiler, inlined := range map[string]string{
		"gcc -O2":   "__attribute__((always_inline)) inline",
		"clang -O0": "__attribute__((noinline))",
	} {
		t.Run(compiler, func(t *testing.T) {
			t.Parallel()
			bin := compileText(t, queuedProgram(inlined), compiler+" -g -w -pthread -no-pie")
			path, status, said := simulate(t, 5, bin)
			if status != 0 {
				t.Fatal(status, said)
			}
			waits := spunIn(t, path, bin)
			for i, k := range queueKinds {
				w := waits[strconv.Itoa(i)]
				if all := w[0] + w[1]; all == 0 || k.lock && 10*w[1] < 9*all || !k.lock && w[1] > 0 {
					t.Errorf("%s: waited for others' work and for locks for %d", k.name, w)
				}
			}
		})
	}
}

// spunIn is for how long threads waited for others' work, and for locks, in functions by the ends of
// their names.
func spunIn(t *testing.T, path, bin string) map[string][2]uint64 {
	t.Helper()
	waits := map[string][2]uint64{}
	symbols := functionsOf(t, bin)
	for kind, list := range spunAt(t, path) {
		for _, w := range list {
			for _, s := range symbols {
				if _, end, named := strings.Cut(s.Name, "_"); named && w.at-s.Value < s.Size {
					sum := waits[end]
					sum[kind] += w.units
					waits[end] = sum
				}
			}
		}
	}
	return waits
}

// functionsOf lists the functions of a program.
func functionsOf(t *testing.T, bin string) (list []elf.Symbol) {
	t.Helper()
	file, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(symbols, func(s elf.Symbol) bool { return elf.ST_TYPE(s.Info) != elf.STT_FUNC })
}

// atomicQueue is a lock of C++'s atomics, whose every function is called where nothing is optimised.
const atomicQueue = `
#include <atomic>
#include <thread>
static volatile long sums[4][16];
static void work(long me, long n) { for (long i = 0; i < n; i++) sums[me][0] = sums[me][0] + i; }
struct node { std::atomic<node *> next{nullptr}; std::atomic<bool> wait{true}; };
static std::atomic<node *> tail;
void lock(node &n) {
	node *p = tail.exchange(&n);
	if (p) { p->next = &n; while (n.wait) std::this_thread::yield(); }
}
void unlock(node &n) {
	node *s = n.next, *me = &n;
	if (!s && tail.compare_exchange_strong(me, nullptr)) return;
	while (!(s = n.next)) ;
	s->wait = false;
}
static void body(long me) {
	for (int i = 0; i < 20; i++) {
		{ node n; lock(n); work(me, 3000); unlock(n); }
		work(me, 300 + 100 * me);
	}
}
int main() {
	std::thread t[4];
	for (long i = 0; i < 4; i++) t[i] = std::thread(body, i);
	for (auto &x : t) x.join();
}
`

// What is compiled into a program from its language's library is the program's own lock, and where it
// calls that is where it waits.
func TestQueuesOfAtomicsAreLocks(t *testing.T) {
	bin := compileText(t, atomicQueue, "g++ -x c++ -std=c++20 -O0 -g -pthread -no-pie")
	path, status, said := simulate(t, 4, bin)
	if status != 0 {
		t.Fatal(status, said)
	}
	for _, s := range functionsOf(t, bin) {
		if s.Name != "_Z4lockR4node" {
			continue
		}
		var all, own uint64
		for kind, list := range spunAt(t, path) {
			for _, w := range list {
				if all += w.units; kind == 1 && w.at-s.Value < s.Size {
					own += w.units
				}
			}
		}
		if all == 0 || 10*own < 9*all {
			t.Errorf("waited for %d, for the lock where it is taken for %d", all, own)
		}
	}
}
