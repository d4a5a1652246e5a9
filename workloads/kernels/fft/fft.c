/*
 * fft: one-dimensional FFT in six steps on a square matrix: transpose, row FFTs,
 * twiddle, transpose, row FFTs, transpose. Rows divide by the threads: balanced.
 */
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef double complex cplx;

static int nthreads = 16, rows = 128, lg = 7;
static cplx *a, *b, *root;
static pthread_barrier_t bar;

static void load(void)
{
	unsigned s = 12;
	a = malloc(sizeof(cplx) * rows * rows);
	b = malloc(sizeof(cplx) * rows * rows);
	root = malloc(sizeof(cplx) * rows * rows);
	for (int i = 0; i < rows * rows; i++) {
		s = s * 1664525 + 1013904223;
		a[i] = (double)(s >> 16) / 65536 - 0.5;
		double w = -2 * M_PI * i / ((double)rows * rows);
		root[i] = cos(w) + I * sin(w);
	}
}

static void transpose(cplx *to, const cplx *from, int lo, int hi)
{
	for (int jj = 0; jj < rows; jj += 8)
		for (int i = lo; i < hi; i++)
			for (int j = jj; j < jj + 8; j++)
				to[i * rows + j] = from[j * rows + i];
}

static void bit_reverse(cplx *x)
{
	for (int i = 0; i < rows; i++) {
		int j = 0;
		for (int k = 1, m = rows >> 1; k < rows; k <<= 1, m >>= 1)
			if (i & k)
				j |= m;
		if (j > i) {
			cplx t = x[i];
			x[i] = x[j];
			x[j] = t;
		}
	}
}

static void fft_row(cplx *x)
{
	bit_reverse(x);
	for (int len = 2; len <= rows; len <<= 1) {
		int step = rows / len * rows;
		for (int i = 0; i < rows; i += len)
			for (int k = 0; k < len / 2; k++) {
				cplx w = root[k * step], u = x[i + k], v = x[i + k + len / 2];
				double re = creal(v) * creal(w) - cimag(v) * cimag(w);
				double im = creal(v) * cimag(w) + cimag(v) * creal(w);
				x[i + k] = u + (re + I * im);
				x[i + k + len / 2] = u - (re + I * im);
			}
	}
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int lo = rows / nthreads * me, hi = rows / nthreads * (me + 1);
	transpose(b, a, lo, hi);
	pthread_barrier_wait(&bar);
	for (int i = lo; i < hi; i++) {
		fft_row(b + i * rows);
		for (int j = 0; j < rows; j++) {
			cplx w = root[(i * j) % (rows * rows)], v = b[i * rows + j];
			b[i * rows + j] = creal(v) * creal(w) - cimag(v) * cimag(w) +
					  I * (creal(v) * cimag(w) + cimag(v) * creal(w));
		}
	}
	pthread_barrier_wait(&bar);
	transpose(a, b, lo, hi);
	pthread_barrier_wait(&bar);
	for (int i = lo; i < hi; i++)
		fft_row(a + i * rows);
	pthread_barrier_wait(&bar); /* END */
	transpose(b, a, lo, hi);
	pthread_barrier_wait(&bar);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	double sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		lg = atoi(argv[2]);
	else
		lg = 8;
	rows = 1 << lg;
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < rows * rows; i++)
		sum += cabs(b[i]);
	printf("sum %.3f\n", sum);
	return 0;
}
