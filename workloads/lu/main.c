/* Blocked LU factorisation without pivoting. Block (I, J) belongs to thread
 * (I + J) % P, which deals the blocks of the shrinking trailing matrix out
 * unevenly. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define B 8
static int P, NB, N;
static double *a;
static pthread_barrier_t bar;

static double *block(int i, int j) { return a + ((long)i * NB + j) * B * B; }

static void factor(double *d) {
	for (int k = 0; k < B; k++)
		for (int i = k + 1; i < B; i++) {
			d[i * B + k] /= d[k * B + k];
			for (int j = k + 1; j < B; j++)
				d[i * B + j] -= d[i * B + k] * d[k * B + j];
		}
}

static void row(double *r, const double *d) {
	for (int k = 0; k < B; k++)
		for (int i = k + 1; i < B; i++)
			for (int j = 0; j < B; j++)
				r[i * B + j] -= d[i * B + k] * r[k * B + j];
}

static void column(double *c, const double *d) {
	for (int i = 0; i < B; i++)
		for (int k = 0; k < B; k++) {
			c[i * B + k] /= d[k * B + k];
			for (int j = k + 1; j < B; j++)
				c[i * B + j] -= c[i * B + k] * d[k * B + j];
		}
}

static void update(double *x, const double *c, const double *r) {
	for (int i = 0; i < B; i++)
		for (int k = 0; k < B; k++)
			for (int j = 0; j < B; j++)
				x[i * B + j] -= c[i * B + k] * r[k * B + j];
}

static int owner(int i, int j) { return (i + j) % P; }

static void *worker(void *arg) {
	int id = (int)(long)arg;
	for (int k = 0; k < NB; k++) {
		if (owner(k, k) == id)
			factor(block(k, k));
		pthread_barrier_wait(&bar);
		for (int i = k + 1; i < NB; i++) {
			if (owner(i, k) == id)
				column(block(i, k), block(k, k));
			if (owner(k, i) == id)
				row(block(k, i), block(k, k));
		}
		pthread_barrier_wait(&bar);
		for (int i = k + 1; i < NB; i++)
			for (int j = k + 1; j < NB; j++)
				if (owner(i, j) == id) /* CAUSE */
					update(block(i, j), block(i, k), block(k, j));
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	NB = argc > 2 ? atoi(argv[2]) : 20;
	N = NB * B;
	a = malloc(sizeof *a * N * N);
	for (long i = 0; i < (long)N * N; i++)
		a[i] = (double)(i * 7919 % 1000) / 1000;
	for (int i = 0; i < NB; i++)
		for (int k = 0; k < B; k++)
			block(i, i)[k * B + k] += N;
	pthread_barrier_init(&bar, NULL, P);
	pthread_t *t = malloc(sizeof *t * P);
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	double sum = 0;
	for (long i = 0; i < (long)N * N; i++)
		sum += a[i];
	printf("%.6f\n", sum);
	return 0;
}
