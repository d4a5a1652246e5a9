#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define M 192
static double pos[M][3], f[M][3];
static pthread_mutex_t lk[M];
static pthread_barrier_t bar;
static int P;
static double dist(int i, int j) { double s = 0; for (int k = 0; k < 3; k++) { double d = pos[i][k] - pos[j][k]; s += d * d; } return s; }
static void interact(int i, int j, double r2, double *acc) {
	double e = 0;
	for (int k = 0; k < 40; k++) e += 1 / (r2 + k + 1);
	for (int k = 0; k < 3; k++) acc[k] += e * (pos[i][k] - pos[j][k]);
}
static void interf(int id) {
	for (int i = id * M / P; i < (id + 1) * M / P; i++) {
		double acc[3] = {0};
		for (int j = i + 1; j <= i + M / 2; j++) {
			double r2 = dist(i, j % M);
			if (r2 < 9) /* CAUSE */
				interact(i, j % M, r2, acc);
		}
		pthread_mutex_lock(&lk[i]);
		for (int k = 0; k < 3; k++) f[i][k] += acc[k];
		pthread_mutex_unlock(&lk[i]);
		int j = (i + 1) % M;
		pthread_mutex_lock(&lk[j]);
		for (int k = 0; k < 3; k++) f[j][k] -= acc[k];
		pthread_mutex_unlock(&lk[j]);
	}
}
static void *worker(void *a) {
	int id = (long)a;
	for (int s = 0; s < 3; s++) {
		interf(id);
		pthread_barrier_wait(&bar); /* END */
		for (int i = id * M / P; i < (id + 1) * M / P; i++)
			for (int k = 0; k < 3; k++) pos[i][k] += 1e-6 * f[i][k];
		pthread_barrier_wait(&bar);
	}
	return 0;
}
int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	srand(3);
	for (int i = 0; i < M; i++) { pthread_mutex_init(&lk[i], 0); for (int k = 0; k < 3; k++) pos[i][k] = (i < 40 ? 1.0 : 14.0) * rand() / RAND_MAX; }
	pthread_t t[256];
	pthread_barrier_init(&bar, 0, P);
	for (long i = 1; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
	worker(0);
	for (int i = 1; i < P; i++) pthread_join(t[i], 0);
	printf("%.3f\n", pos[3][1]);
}
