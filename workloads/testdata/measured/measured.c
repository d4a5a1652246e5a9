/* Programs that measure what they do: each thread logs, piece by piece, how long it had a core for
   its own work, for work under a lock, and how long it slept. KEY=VALUE arguments say which. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8, PIECES = 1 << 16 };
typedef struct { long own, under, slept, turn; } piece;

static const char *kind = "phases", *meeting = "pthread", *locking = "mutex";
static long threads = 4, rounds = 20, us = 2000, rate = 535, who = 1, factor = 100, hold = 50, serial, nap, spread = 100;
static piece logs[MOST][PIECES];
static long count[MOST];
static struct { double sum; char apart[120]; } out[MOST];

static long clock_ns(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long ran(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/* step works for some microsecond, on one machine or another: how long it was is measured. */
__attribute__((noinline)) static void step(long me) {
	double s = out[me].sum;
	for (long k = rate; k > 0; k--) s = s * 0.999 + k;
	out[me].sum = s;
}

static piece *next(long me, long turn) {
	piece *p = &logs[me][count[me] < PIECES - 1 ? count[me]++ : PIECES - 1];
	p->turn = turn;
	return p;
}

static void doze(long micros) {
	struct timespec t = {micros / 1000000, micros % 1000000 * 1000};
	nanosleep(&t, 0); /* SLEEP */
}

/* Ways to meet. */
static pthread_barrier_t barrier;
static atomic_int arrived, generation;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;

static void futex_meet(void) {
	int g = atomic_load(&generation);
	if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
		atomic_store(&arrived, 0);
		atomic_fetch_add(&generation, 1);
		syscall(SYS_futex, &generation, FUTEX_WAKE_PRIVATE, 1 << 30, 0, 0, 0);
		return;
	}
	while (atomic_load(&generation) == g) syscall(SYS_futex, &generation, FUTEX_WAIT_PRIVATE, g, 0, 0, 0);
}

static void spin_meet(void) {
	int g = atomic_load(&generation);
	if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
		atomic_store(&arrived, 0);
		atomic_fetch_add(&generation, 1);
		return;
	}
	while (atomic_load(&generation) == g) sched_yield();
}

static void cond_meet(void) {
	pthread_mutex_lock(&guard);
	int g = generation;
	if (++arrived == threads) {
		arrived = 0;
		generation = g + 1;
		pthread_cond_broadcast(&all_here);
	} else
		while (generation == g) pthread_cond_wait(&all_here, &guard);
	pthread_mutex_unlock(&guard);
}

static void meet(void) {
	switch (*meeting) {
	case 'p': pthread_barrier_wait(&barrier); break;
	case 'f': futex_meet(); break;
	case 's': spin_meet(); break;
	default: cond_meet();
	}
}

/* phases: all work, one perhaps more, or it sleeps, and meet; a first thread may work alone before. */
static long share(long me) { return me == who ? us * factor / 100 : us; }

static void alone(long me, long round) {
	long from = ran();
	for (long n = serial; n > 0; n--) step(me); /* ALONE */
	next(me, 2 * round)->own = ran() - from;
}

static void *phases(void *a) {
	long me = (long)a;
	meet();
	for (long r = 0; r < rounds; r++) {
		if (serial) {
			if (me == 0) alone(me, r); /* ALONE */
			else next(me, 2 * r);
			meet(); /* MEET FIRST */
		}
		long from = ran();
		for (long n = share(me); n > 0; n--) /* UNEVEN */
			step(me); /* UNEVEN */
		piece *p = next(me, 2 * r + 1);
		p->own = ran() - from;
		if (nap && me == who) {
			from = clock_ns(CLOCK_MONOTONIC);
			doze(nap); /* SLEEP */
			p->slept = clock_ns(CLOCK_MONOTONIC) - from;
		}
		meet(); /* MEET */
	}
	return 0;
}

/* locked: all work, part of it under one lock. */
static atomic_int ticket, served;

static void take(void) {
	if (*locking == 'm') {
		pthread_mutex_lock(&guard); /* LOCK */
		return;
	}
	int mine = atomic_fetch_add(&ticket, 1);
	while (atomic_load(&served) != mine) sched_yield(); /* LOCK */
}

static void give(void) {
	if (*locking == 'm') pthread_mutex_unlock(&guard); /* LOCK */
	else atomic_fetch_add(&served, 1);
}

static void *locked(void *a) {
	long me = (long)a, inside = us * hold / 100;
	meet();
	for (long r = 0; r < rounds; r++) {
		long from = ran();
		for (long n = us - inside; n > 0; n--) step(me);
		piece *p = next(me, r);
		p->own = ran() - from;
		take(); /* LOCK */
		from = ran();
		for (long n = inside; n > 0; n--) step(me); /* LOCK */
		p->under = ran() - from;
		give(); /* LOCK */
	}
	return 0;
}

/* shared: pieces go to whoever comes first; their sizes differ by a spread. */
static atomic_long dealt;

static long size_of(long k) { return us + us * (spread - 100) / 100 * ((k * 2654435761UL >> 7) % 1000) / 1000; }

static void *shared(void *a) {
	long me = (long)a, k;
	meet();
	while ((k = atomic_fetch_add(&dealt, 1)) < rounds * threads) {
		long from = ran();
		for (long n = size_of(k); n > 0; n--) step(me);
		next(me, k)->own = ran() - from;
	}
	return 0;
}

/* stages: each thread does its part of an item and hands it on through a queue of four. */
typedef struct {
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	long held;
} queue;
static queue queues[MOST];

static void put(queue *q) {
	pthread_mutex_lock(&q->lock);
	while (q->held == 4) pthread_cond_wait(&q->room, &q->lock); /* FULL */
	q->held++;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
}

static void get(queue *q) {
	pthread_mutex_lock(&q->lock);
	while (q->held == 0) pthread_cond_wait(&q->more, &q->lock); /* EMPTY */
	q->held--;
	pthread_cond_signal(&q->room);
	pthread_mutex_unlock(&q->lock);
}

static void *stages(void *a) {
	long me = (long)a;
	meet();
	for (long r = 0; r < rounds; r++) {
		if (me > 0) get(&queues[me]); /* EMPTY */
		long from = ran();
		for (long n = share(me); n > 0; n--) /* UNEVEN */
			step(me); /* UNEVEN */
		next(me, r)->own = ran() - from;
		if (me + 1 < threads) put(&queues[me + 1]); /* FULL */
	}
	return 0;
}

/* region: OpenMP's, with serial work in between; static or dynamic shares. */
#ifdef _OPENMP
#include <omp.h>
static void region(void) {
	omp_set_num_threads(threads);
	for (long r = 0; r < rounds; r++) {
		if (serial) alone(0, r);
#pragma omp parallel /* REGION */
		{
			long me = omp_get_thread_num();
			if (*meeting == 'd') {
				long from = ran();
#pragma omp for schedule(dynamic) nowait
				for (long k = 0; k < threads * 8; k++)
					for (long n = size_of(k) / 8; n > 0; n--) step(me);
				next(me, 2 * r + 1)->own = ran() - from;
			} else {
				long from = ran();
				for (long n = share(me); n > 0; n--) /* UNEVEN */
					step(me); /* UNEVEN */
				next(me, 2 * r + 1)->own = ran() - from;
			}
		}
	}
}
#endif

static void together(void *(*work)(void *)) {
	pthread_t t[MOST];
	pthread_barrier_init(&barrier, 0, threads);
	for (int i = 0; i < MOST; i++) {
		pthread_mutex_init(&queues[i].lock, 0);
		pthread_cond_init(&queues[i].more, 0);
		pthread_cond_init(&queues[i].room, 0);
	}
	for (long i = 0; i < threads; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (long i = 0; i < threads; i++) pthread_join(t[i], 0);
}

static void options(int argc, char **argv) {
	struct { const char *name; long *number; const char **word; } known[] = {
		{"kind", 0, &kind}, {"meeting", 0, &meeting}, {"locking", 0, &locking}, {"threads", &threads, 0}, {"rounds", &rounds, 0},
		{"us", &us, 0}, {"rate", &rate, 0}, {"who", &who, 0}, {"factor", &factor, 0}, {"hold", &hold, 0}, {"serial", &serial, 0},
		{"nap", &nap, 0}, {"spread", &spread, 0}};
	for (int i = 1; i < argc; i++)
		for (unsigned k = 0; k < sizeof known / sizeof *known; k++) {
			size_t n = strlen(known[k].name);
			if (strncmp(argv[i], known[k].name, n) || argv[i][n] != '=') continue;
			if (known[k].word) *known[k].word = argv[i] + n + 1;
			else *known[k].number = atol(argv[i] + n + 1);
		}
}

/* tell writes the time that the process ran, and of each thread how many pieces it has, and those. */
static int tell(void) {
	long all = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	size_t n = fwrite(&all, sizeof all, 1, stdout);
	for (long i = 0; i < threads; i++) {
		n += fwrite(&count[i], sizeof *count, 1, stdout);
		n += fwrite(logs[i], sizeof(piece), count[i], stdout);
	}
	return n == 0;
}

int main(int argc, char **argv) {
	options(argc, argv);
	if (!strcmp(kind, "phases")) together(phases);
	else if (!strcmp(kind, "locked")) together(locked);
	else if (!strcmp(kind, "shared")) together(shared);
	else if (!strcmp(kind, "stages")) together(stages);
#ifdef _OPENMP
	else region();
#endif
	return tell();
}
