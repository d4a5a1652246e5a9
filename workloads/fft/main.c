#include <pthread.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define R 72
#define L 64
static double xr[R][L], xi[R][L], yr[L][R];
static int P;
static pthread_barrier_t bar;
static void fft1d(double *re, double *im) {
	for (int h = 1; h < L; h *= 2)
		for (int i = 0; i < L; i += 2 * h)
			for (int j = i; j < i + h; j++) {
				double wr = 0.7, wi = 0.3;
				double tr = re[j+h]*wr - im[j+h]*wi, ti = re[j+h]*wi + im[j+h]*wr;
				re[j+h] = re[j] - tr; im[j+h] = im[j] - ti;
				re[j] += tr; im[j] += ti;
			}
}
static void rows(int id) {
	int per = R / P, first = id * per, last = first + per;
	if (id == P - 1)
		last = R; /* the rest */
	for (int i = first; i < last; i++) /* CAUSE */
		fft1d(xr[i], xi[i]);
}
static void transpose(int id) {
	for (int i = id * L / P; i < (id + 1) * L / P; i++)
		for (int j = 0; j < R; j++)
			yr[i][j] = xr[j][i];
}
static void *worker(void *a) {
	long id = (long)a;
	for (int k = 0; k < 3; k++) {
		rows(id);
		pthread_barrier_wait(&bar); /* END */
		transpose(id);
		pthread_barrier_wait(&bar);
	}
	return 0;
}
int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	P = P == 8 ? 7 : P;
	pthread_t t[256];
	for (int i = 0; i < R; i++) for (int j = 0; j < L; j++) xr[i][j] = i + j;
	pthread_barrier_init(&bar, 0, P);
	for (long i = 1; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
	worker(0);
	for (int i = 1; i < P; i++) pthread_join(t[i], 0);
	printf("%g\n", yr[3][5]);
}
