// Locks of many kinds that a program may build itself, and two of a library's. Threads do the same:
// so many times they take the lock, hold it for a while, give it back, and do something else.
// usage: exclude THREADS ROUNDS HOLD OUTSIDE (in rounds of two instructions); prints each thread's time
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define TICKET 1
#define TICKET_PAUSE 2
#define TICKET_YIELD 3
#define TICKET_PATIENT 4
#define ARRAY 5
#define MCS 6
#define CLH 7
#define TAS 8
#define TTAS 9
#define CAS 10
#define BACKOFF 11
#define FUTEX 12
#define WRITERS 13
#define SEQUENCE 14
#define SEMAPHORE 15
#define BITS 16
#define RING 17
#define PETERSON 18
#define MUTEX 19
#define SPINLOCK 20
#define TAS_YIELD 21
#define CAS_YIELD 22
#define MOST 64
#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define STORE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELEASE)
#define ADD(x, v) __atomic_fetch_add(&(x), v, __ATOMIC_ACQ_REL)
#define SWAP(x, v) __atomic_exchange_n(&(x), v, __ATOMIC_ACQ_REL)
#define PAUSE() __builtin_ia32_pause()
static int cas(unsigned *p, unsigned from, unsigned to) { return __atomic_compare_exchange_n(p, &from, to, 0, 5, 5); }
static __thread int me;

#if KIND == TICKET || KIND == TICKET_PAUSE || KIND == TICKET_YIELD || KIND == TICKET_PATIENT
static struct { unsigned next; char pad[60]; unsigned serving; char pad2[60]; } l;
static void take(void) {
	unsigned my = ADD(l.next, 1), spins = 0;
	while (LOAD(l.serving) != my) {
#if KIND == TICKET_PAUSE
		PAUSE();
#elif KIND == TICKET_YIELD
		sched_yield();
#elif KIND == TICKET_PATIENT
		if (++spins > 50) { sched_yield(); spins = 0; }
#endif
	}
}
static void give(void) { STORE(l.serving, l.serving + 1); }
#elif KIND == ARRAY
static struct { unsigned free; char pad[60]; } slot[MOST] = {{1}};
static unsigned tail; static __thread unsigned my;
static void take(void) { my = ADD(tail, 1) % MOST; while (!LOAD(slot[my].free)) PAUSE(); }
static void give(void) { STORE(slot[my].free, 0); STORE(slot[(my + 1) % MOST].free, 1); }
#elif KIND == MCS
struct node { struct node *next; unsigned wait; char pad[48]; };
static struct node nodes[MOST], *tail;
static void take(void) {
	struct node *n = &nodes[me], *before;
	n->next = 0; n->wait = 1;
	if ((before = SWAP(tail, n))) { STORE(before->next, n); while (LOAD(n->wait)) PAUSE(); }
}
static void give(void) {
	struct node *n = &nodes[me], *x = n;
	if (!LOAD(n->next)) {
		if (__atomic_compare_exchange_n(&tail, &x, (struct node *)0, 0, 5, 5)) return;
		while (!LOAD(n->next)) PAUSE();
	}
	STORE(n->next->wait, 0);
}
#elif KIND == CLH
struct node { unsigned busy; char pad[60]; };
static struct node nodes[MOST + 1], *tail = &nodes[MOST];
static __thread struct node *mine, *before;
static void take(void) { if (!mine) mine = &nodes[me]; mine->busy = 1; before = SWAP(tail, mine); while (LOAD(before->busy)) ; }
static void give(void) { struct node *n = mine; mine = before; STORE(n->busy, 0); }
#elif KIND == TAS
static unsigned l;
static void take(void) { while (SWAP(l, 1)) ; }
static void give(void) { STORE(l, 0); }
#elif KIND == TTAS
static unsigned l;
static void take(void) { while (SWAP(l, 1)) while (LOAD(l)) PAUSE(); }
static void give(void) { STORE(l, 0); }
#elif KIND == CAS
static unsigned l;
static void take(void) { while (!cas(&l, 0, 1)) PAUSE(); }
static void give(void) { STORE(l, 0); }
#elif KIND == TAS_YIELD
static unsigned l;
static void take(void) { while (SWAP(l, 1)) sched_yield(); }
static void give(void) { STORE(l, 0); }
#elif KIND == CAS_YIELD
static unsigned l;
static void take(void) { for (unsigned n = 0; !cas(&l, 0, 1);) if (++n % 64 == 0) sched_yield(); else PAUSE(); }
static void give(void) { STORE(l, 0); }
#elif KIND == BACKOFF
static unsigned l;
static void take(void) { for (int d = 1; SWAP(l, 1); d = d < 64 ? 2 * d : d) for (int i = 0; i < d; i++) PAUSE(); }
static void give(void) { STORE(l, 0); }
#elif KIND == FUTEX
static unsigned l;
static void take(void) {
	if (cas(&l, 0, 1)) return;
	while (SWAP(l, 2)) syscall(SYS_futex, &l, 128, 2, 0, 0, 0);
}
static void give(void) { if (SWAP(l, 0) == 2) syscall(SYS_futex, &l, 129, 1, 0, 0, 0); }
#elif KIND == WRITERS
static unsigned l; // readers in the low bits
static void take(void) { for (;;) { unsigned v = LOAD(l); if (!v && cas(&l, 0, 1u << 31)) return; PAUSE(); } }
static void give(void) { __atomic_fetch_and(&l, ~(1u << 31), __ATOMIC_RELEASE); }
#elif KIND == SEQUENCE
static unsigned seq; static volatile long data[2];
static void take(void) { for (;;) { unsigned v = LOAD(seq); if (!(v & 1) && cas(&seq, v, v + 1)) break; PAUSE(); } data[0]++; }
static void give(void) { data[1]++; ADD(seq, 1); }
#elif KIND == SEMAPHORE
static int left = 1;
static void take(void) { for (;;) { int v = LOAD(left); if (v > 0 && cas((unsigned *)&left, v, v - 1)) return; sched_yield(); } }
static void give(void) { ADD(left, 1); }
#elif KIND == BITS
static unsigned long l; // the lock is a bit of a word
static void take(void) { while (__atomic_fetch_or(&l, 8, 5) & 8) while (LOAD(l) & 8) PAUSE(); }
static void give(void) { __atomic_fetch_and(&l, ~8ul, 5); }
#elif KIND == RING // a token in a bounded queue of Vyukov's
struct cell { unsigned long seq; long item; char pad[48]; };
static struct cell cell[4] = {{1, 7}, {1}, {2}, {3}};
static unsigned long head = 0, tail = 1;
static __thread long token;
static void take(void) {
	for (;;) {
		unsigned long h = __atomic_load_n(&head, 0); struct cell *c = &cell[h & 3];
		long d = (long)LOAD(c->seq) - (long)(h + 1);
		if (d == 0 && __atomic_compare_exchange_n(&head, &h, h + 1, 0, 0, 0)) { token = c->item; STORE(c->seq, h + 4); return; }
		PAUSE();
	}
}
static void give(void) {
	unsigned long t = tail++; struct cell *c = &cell[t & 3];
	while (LOAD(c->seq) != t) PAUSE();
	c->item = token; STORE(c->seq, t + 1);
}
#elif KIND == PETERSON // a tournament of two
static volatile unsigned want[2], turn;
static void take(void) {
	want[me] = 1; turn = !me; __sync_synchronize();
	while (want[!me] && turn == (unsigned)!me) ;
}
static void give(void) { __sync_synchronize(); want[me] = 0; }
#elif KIND == MUTEX // of a library
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static void take(void) { pthread_mutex_lock(&l); }
static void give(void) { pthread_mutex_unlock(&l); }
#elif KIND == SPINLOCK // of a library; free: 1
static pthread_spinlock_t l = 1;
static void take(void) { pthread_spin_lock(&l); }
static void give(void) { pthread_spin_unlock(&l); }
#endif

static long rounds, hold, outside, took[MOST]; static volatile long shared; static pthread_barrier_t bar;
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static void __attribute__((noinline)) busy(long n) { for (; n > 0; n--) __asm__ volatile(""); }
static void *worker(void *p) {
	me = (int)(long)p;
	pthread_barrier_wait(&bar);
	long t = now();
	for (long i = 0; i < rounds; i++) {
		take();
		shared++;
		busy(hold);
		give();
#ifdef TWICE // another place that takes the same lock
		busy(outside / 2);
		take();
		shared++;
		busy(hold);
		give();
#endif
		busy(outside);
	}
	took[me] = now() - t;
	return 0;
}
int main(int c, char **v) {
	long P = atoi(v[1]); pthread_t t[MOST];
	rounds = atol(v[2]); hold = atol(v[3]); outside = atol(v[4]);
	pthread_barrier_init(&bar, 0, P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
	for (long i = 0; i < P; i++) pthread_join(t[i], 0);
	printf("%ld", shared);
	for (int i = 0; i < P; i++) printf(" %ld", took[i]);
	printf("\n");
}
