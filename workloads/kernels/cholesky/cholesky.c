/*
 * cholesky: left-looking sparse factorisation by level sets. The columns of one
 * level are independent and dealt out evenly; after nested dissection the
 * separators' columns come last in each level and have many more entries, so
 * their owners update longer. Barrier: sense reversing, hand-written.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define LEVELS 6

struct barrier {
	volatile int sense;
	int left, n;
};

static int nthreads = 16, percol = 2048, n;
static int *ptr, *row;
static double *val, *diag;
static struct barrier bar;

static void wait_all(struct barrier *b, int *mine)
{
	int s = *mine = !*mine;
	if (__sync_sub_and_fetch(&b->left, 1) == 0) { /* BARRIER */
		b->left = b->n;
		__sync_synchronize();
		b->sense = s; /* BARRIER */
		return;
	}
	while (b->sense != s) /* BARRIER */
		sched_yield(); /* BARRIER */
}

static void load(void)
{
	unsigned s = 5;
	n = LEVELS * percol;
	ptr = malloc((n + 1) * sizeof *ptr);
	diag = malloc(n * sizeof *diag);
	int nz = 0;
	for (int j = 0; j < n; j++) {
		int in = j % percol;
		ptr[j] = nz;
		nz += j < percol ? 0 : in < percol * 15 / 16 ? 60 : 600;
		diag[j] = 4 + j % 3;
	}
	ptr[n] = nz;
	row = malloc((nz + 1) * sizeof *row);
	val = malloc((nz + 1) * sizeof *val);
	for (int j = percol; j < n; j++)
		for (int p = ptr[j]; p < ptr[j + 1]; p++) {
			s = s * 1664525 + 1013904223;
			row[p] = (s >> 8) % (j / percol * percol);
			val[p] = (double)(s >> 8) / (1 << 24);
		}
}

static void column(int j)
{
	double d = diag[j];
	for (int p = ptr[j]; p < ptr[j + 1]; p++) { /* CAUSE */
		double l = val[p] / diag[row[p]];
		d += 1e-6 * l * l;
		val[p] = l;
	}
	diag[j] = sqrt(d);
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int mine = 0;
	for (int l = 0; l < LEVELS; l++) {
		int base = l * percol;
		for (int j = base + percol / nthreads * me; j < base + percol / nthreads * (me + 1); j++)
			column(j);
		wait_all(&bar, &mine); /* END BARRIER */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	double sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		percol = atoi(argv[2]);
	load();
	bar.n = bar.left = nthreads;
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int j = 0; j < n; j++)
		sum += diag[j];
	printf("%d columns, %d entries, %.5f\n", n, ptr[n], sum);
	return 0;
}
