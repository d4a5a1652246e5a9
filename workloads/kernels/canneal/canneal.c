/*
 * canneal: simulated annealing of a netlist's placement. Every thread owns a
 * contiguous range of elements and proposes the same number of swaps among them
 * at each temperature; costs are judged by the places of the last temperature.
 * The clock and reset nets come first in the file: elements of the first range
 * have many more neighbours, so their swaps cost more.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TEMPS 4

struct place {
	int x, y;
};

struct element {
	int fan;
	int *net;
};

static int nthreads = 16, n = 8192, moves = 40960;
static struct element *el;
static struct place *now, *next;
static long accepted[64 * 8];
static pthread_barrier_t bar;

static unsigned rnd(unsigned long long *s)
{
	*s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
	return *s >> 33;
}

static void load(void)
{
	unsigned long long s = 3;
	el = calloc(n, sizeof *el);
	now = calloc(n, sizeof *now);
	next = calloc(n, sizeof *next);
	for (int i = 0; i < n; i++) {
		el[i].fan = i < n / 32 ? 48 : 6;
		el[i].net = malloc(el[i].fan * sizeof(int));
		for (int k = 0; k < el[i].fan; k++)
			el[i].net[k] = rnd(&s) % n;
		now[i].x = i % 128;
		now[i].y = i / 128;
	}
	for (int i = n - 1; i > 0; i--) {
		int j = rnd(&s) % (i + 1);
		struct place t = now[i];
		now[i] = now[j];
		now[j] = t;
	}
	for (int i = 0; i < n; i++)
		next[i] = now[i];
}

static int wire(const struct element *e, struct place at)
{
	int sum = 0;
	for (int k = 0; k < e->fan; k++) { /* CAUSE */
		struct place p = now[e->net[k]];
		sum += abs(p.x - at.x) + abs(p.y - at.y);
	}
	return sum;
}

static void anneal(long me, double temp, unsigned long long *s)
{
	int lo = n / nthreads * me, span = n / nthreads;
	for (int k = 0; k < moves / nthreads; k++) {
		int a = lo + rnd(s) % span, b = lo + rnd(s) % span;
		int delta = wire(&el[a], next[b]) - wire(&el[a], next[a]) +
			    wire(&el[b], next[a]) - wire(&el[b], next[b]);
		if (delta < 0 || rnd(s) % 4096 < 4096 * exp(-delta / temp)) {
			struct place t = next[a];
			next[a] = next[b];
			next[b] = t;
			accepted[me * 8]++;
		}
	}
}

static void *worker(void *arg)
{
	long me = (long)arg;
	unsigned long long s = 1000 + me;
	double temp = 200;
	for (int step = 0; step < TEMPS; step++, temp /= 1.5) {
		anneal(me, temp, &s);
		pthread_barrier_wait(&bar); /* END */
		for (int i = n / nthreads * me; i < n / nthreads * (me + 1); i++)
			now[i] = next[i];
		pthread_barrier_wait(&bar);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long sum = 0, cost = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		moves = atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < nthreads; i++)
		sum += accepted[i * 8];
	for (int i = 0; i < n; i++)
		cost += wire(&el[i], now[i]);
	printf("%ld swaps, cost %ld\n", sum, cost);
	return 0;
}
