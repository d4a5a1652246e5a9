/*
 * histogram: colours of an image in private tables, which are then added up bin
 * by bin, the bins dealt out evenly. Barrier: a mutex and a condition. Balanced.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS 256
#define FRAMES 4

struct barrier {
	pthread_mutex_t m;
	pthread_cond_t c;
	int n, in;
	unsigned long gen;
};

static int nthreads = 16, npix = 1 << 20;
static uint8_t *pix;
static uint32_t (*priv)[3][BINS], total[3][BINS];
static struct barrier bar = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

static void barrier(struct barrier *b)
{
	pthread_mutex_lock(&b->m); /* BARRIER */
	unsigned long gen = b->gen;
	if (++b->in == b->n) {
		b->gen++;
		b->in = 0;
		pthread_cond_broadcast(&b->c); /* BARRIER */
	}
	while (gen == b->gen) /* BARRIER */
		pthread_cond_wait(&b->c, &b->m); /* BARRIER */
	pthread_mutex_unlock(&b->m); /* BARRIER */
}

/* The picture is a run-length coded file, which is decoded serially. */
static void load(void)
{
	uint32_t s = 9;
	pix = malloc((size_t)npix * 3);
	priv = calloc(nthreads, sizeof *priv);
	for (size_t i = 0; i < (size_t)npix * 3;) {
		s = s * 1664525 + 1013904223;
		size_t run = 1 + (s >> 28);
		uint8_t v = s >> 16;
		for (size_t k = 0; k < run && i < (size_t)npix * 3; k++)
			pix[i++] = v + k;
	}
}

static void count(uint32_t (*h)[BINS], size_t lo, size_t hi)
{
	for (size_t i = lo; i < hi; i++) {
		h[0][pix[3 * i]]++;
		h[1][pix[3 * i + 1]]++;
		h[2][pix[3 * i + 2]]++;
	}
}

static void add_up(int lo, int hi)
{
	for (int c = 0; c < 3; c++)
		for (int b = lo; b < hi; b++) {
			uint32_t sum = 0;
			for (int t = 0; t < nthreads; t++)
				sum += priv[t][c][b];
			total[c][b] = sum;
		}
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int frame = 0; frame < FRAMES; frame++) {
		count(priv[me], (size_t)npix / nthreads * me, (size_t)npix / nthreads * (me + 1));
		barrier(&bar); /* END BARRIER */
		add_up(BINS / nthreads * me, BINS / nthreads * (me + 1));
		barrier(&bar); /* BARRIER */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	uint32_t top = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		npix = 1 << atoi(argv[2]);
	load();
	bar.n = nthreads;
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int c = 0; c < 3; c++)
		for (int b = 0; b < BINS; b++)
			if (total[c][b] > top)
				top = total[c][b];
	printf("fullest bin %u\n", top);
	return 0;
}
