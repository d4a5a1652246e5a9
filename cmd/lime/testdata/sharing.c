/* Lines that threads share falsely, and with -DPAD the same without: sharing KERNEL SECONDS (of CPU time). Compiles as C and as C++. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef PAD
#define LINE __attribute__((aligned(64)))
#else
#define LINE
#endif
enum { T = 2, N = 32 };
static double seconds;
static int over(long i) { return i % 4096 == 0 && clock() > seconds * CLOCKS_PER_SEC; }

/* The sums of a linear regression, one structure a thread. */
static struct LINE sum { long sx, sy, sxx, sxy; } sums[T] __attribute__((aligned(64)));
static void *regression(void *x) {
	volatile struct sum *s = &sums[(long)x];
	for (long i = 1; !over(i); i++) {
		s->sx += i; /* REGRESSION */
		s->sy += 2 * i; s->sxx += i * i; s->sxy += 2 * i * i;
	}
	return 0;
}

/* Counters of the threads' own. */
static struct LINE counter { long n; } counters[T] __attribute__((aligned(64)));
static void *count(void *x) {
	volatile long *n = &counters[(long)x].n;
	for (long i = 1; !over(i); i++) ++*n; /* COUNT */
	return 0;
}

static void take(volatile int *l) {
	while (__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}
static void give(volatile int *l) { __atomic_store_n(l, 0, __ATOMIC_RELEASE); }

/* A hash table whose locks lie beside each other; every thread has buckets of its own. */
static struct LINE bucket { volatile int lock; volatile long n; } buckets[N] __attribute__((aligned(64)));
static void *hash(void *x) {
	for (long i = 1; !over(i); i++) {
		struct bucket *b = &buckets[i % (N / T) * T + (long)x];
		take(&b->lock); /* HASH */
		b->n++;
		give(&b->lock);
	}
	return 0;
}

/* A list whose nodes have spin locks; every thread works on nodes of its own. */
static struct LINE node { volatile int lock; volatile long key; struct node *next; } nodes[N] __attribute__((aligned(64)));
static void *list(void *x) {
	struct node *first = &nodes[(long)x], *n = first;
	for (long i = 1; !over(i); i++) {
		take(&n->lock); /* LIST */
		n->key++;
		give(&n->lock);
		if (!(n = n->next)) n = first;
	}
	return 0;
}

/* One counter for all: the same bytes, which no padding would help. */
static void *common(void *x) {
	for (long i = 1; !over(i); i++) __atomic_fetch_add(&counters[0].n, 1, __ATOMIC_RELAXED);
	return x;
}

/* A line that one thread fills and the other one reads, backwards: the same bytes, too. */
static volatile long message[8] __attribute__((aligned(64)));
static volatile long turn;
static void *handing(void *x) {
	long me = (long)x, k = 0;
	for (long i = 1; !over(i); i++) {
		if (turn % 2 != me) continue;
		for (int w = 0; w < 8; w++) me ? (k += message[7 - w]) : (message[w] = i);
		turn++;
	}
	return (void *)k;
}

int main(int argc, char **argv) {
	static const struct { const char *name; void *(*run)(void *); } kernels[] = {
		{"regression", regression}, {"count", count}, {"hash", hash}, {"list", list}, {"common", common}, {"handing", handing}};
	pthread_t t[T];
	if (argc != 3) return 2;
	seconds = atof(argv[2]);
	for (int i = 0; i + T < N; i++) nodes[i].next = &nodes[i + T];
	for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
		if (strcmp(argv[1], kernels[k].name)) continue;
		for (long i = 0; i < T; i++) pthread_create(&t[i], 0, kernels[k].run, (void *)i);
		for (int i = 0; i < T; i++) pthread_join(t[i], 0);
		return 0;
	}
	return 2;
}
