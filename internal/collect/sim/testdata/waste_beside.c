/* Threads with planted waste, each on lines of its own or by turns on the same: what it is by name. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, WORDS = 2048, ROUNDS = 3, TURNS = 4000 };

static struct { long w[WORDS]; } __attribute__((aligned(64))) mine[THREADS];
static long table[WORDS] __attribute__((aligned(64)));
static long sums[THREADS][8] __attribute__((aligned(64)));
static long box[8] __attribute__((aligned(64)));
static volatile long full __attribute__((aligned(64)));
static const char *what;

static __attribute__((noinline)) void set(long *a, long v) {
	for (long i = 0; i < WORDS; i++)
		((volatile long *)a)[i] = v + i; /* SET */
}

static __attribute__((noinline)) long use(long *a) {
	long s = 0;
	for (long i = 0; i < WORDS; i++)
		s += ((volatile long *)a)[i]; /* USE */
	return s;
}

static void *worker(void *arg) {
	long k = (long)arg, *a = mine[k].w, s = 0;
	for (long r = 0; r < ROUNDS; r++) {
		if (!strcmp(what, "silent")) /* but for the first round */
			set(a, 1), s += use(a);
		else if (!strcmp(what, "loads")) /* what all threads load, but for the first round */
			s += use(table);
		else if (!strcmp(what, "mixed")) /* of two stores the first, and of two loads the second */
			set(a, 2 * r + 1), set(a, 2 * r + 2), s += use(a) + use(a);
		else /* none: what is stored is loaded once */
			set(a, r + 1), s += use(a);
	}
	sums[k][0] = s;
	return 0;
}

/* What one thread puts into a box the other takes out: no store is dead. */
static void *taker(void *arg) {
	long s = 0;
	for (long t = 0; t < TURNS; t++) {
		while (!full)
			sched_yield();
		for (int i = 0; i < 8; i++)
			s += ((volatile long *)box)[i];
		full = 0;
	}
	sums[0][0] = s;
	return arg;
}

static void put(void) {
	for (long t = 0; t < TURNS; t++) {
		while (full)
			sched_yield();
		for (int i = 0; i < 8; i++)
			((volatile long *)box)[i] = t;
		full = 1;
	}
}

int main(int argc, char **argv) {
	pthread_t th[THREADS];
	what = argv[1];
	if (!strcmp(what, "turns")) {
		pthread_create(th, 0, taker, 0);
		put();
		pthread_join(th[0], 0);
		return argc < 2;
	}
	set(table, 1);
	for (long k = 0; k < THREADS; k++)
		pthread_create(th + k, 0, worker, (void *)k);
	for (int k = 0; k < THREADS; k++)
		pthread_join(th[k], 0);
	return argc < 2;
}
