/* Six-step FFT over a square matrix: transposes and FFTs of rows, with barriers.
 *     fft [THREADS] [LOG2 OF THE SIDE] [ROUNDS]   about a billion instructions */
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int threads = 8, lg = 9, rounds = 12, side;
static double complex *x, *y, *root;
static pthread_barrier_t barrier;

static void fft_row(double complex *a)
{
	for (int i = 1, j = 0; i < side; i++) {
		int bit = side >> 1;
		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			double complex t = a[i];
			a[i] = a[j];
			a[j] = t;
		}
	}
	for (int len = 2; len <= side; len <<= 1)
		for (int i = 0; i < side; i += len)
			for (int k = 0; k < len / 2; k++) {
				double complex w = root[k * (side / len)], u = a[i + k], v = a[i + k + len / 2];
				double re = creal(v) * creal(w) - cimag(v) * cimag(w);
				double im = creal(v) * cimag(w) + cimag(v) * creal(w);
				a[i + k] = u + (re + im * I);
				a[i + k + len / 2] = u - (re + im * I);
			}
}

static void transpose(const double complex *from, double complex *to, int lo, int hi)
{
	for (int i = lo; i < hi; i++)
		for (int j = 0; j < side; j++)
			to[(size_t)i * side + j] = from[(size_t)j * side + i];
}

static void *worker(void *arg)
{
	int me = (int)(long)arg, lo = side * me / threads, hi = side * (me + 1) / threads;
	for (int r = 0; r < rounds; r++) {
		transpose(x, y, lo, hi);
		pthread_barrier_wait(&barrier);
		for (int i = lo; i < hi; i++)
			fft_row(y + (size_t)i * side);
		pthread_barrier_wait(&barrier);
		transpose(y, x, lo, hi);
		pthread_barrier_wait(&barrier);
		for (int i = lo; i < hi; i++) {
			fft_row(x + (size_t)i * side);
			for (int j = 0; j < side; j++)
				x[(size_t)i * side + j] /= side;
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		lg = atoi(argv[2]);
	if (argc > 3)
		rounds = atoi(argv[3]);
	side = 1 << lg;
	size_t n = (size_t)side * side;
	x = malloc(n * sizeof *x);
	y = malloc(n * sizeof *y);
	root = malloc((size_t)side * sizeof *root);
	for (size_t i = 0; i < n; i++)
		x[i] = (double)(i % 97) + (double)(i % 31) * I;
	for (int i = 0; i < side; i++)
		root[i] = cexp(-2 * acos(-1) * I * i / side);
	pthread_t t[64];
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += cabs(x[i]);
	printf("%.3f\n", sum);
	return 0;
}
