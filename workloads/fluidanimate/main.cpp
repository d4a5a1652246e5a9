#include <pthread.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
static const int C = 256;
static int P, np[C];
static double rho[C][40];
static pthread_mutex_t lk[C];
static pthread_barrier_t bar;
static void density(int id) {
	for (int c = id * C / P; c < (id + 1) * C / P; c++) {
		int o = (c + 1) % C;
		for (int i = 0; i < np[c]; i++) /* CAUSE */
			for (int j = 0; j < np[o]; j++) { /* CAUSE */
				double d = 0.1 * (i - j), r = 1 - d * d;
				if (r > 0) {
					pthread_mutex_lock(&lk[o]);
					rho[o][j] += r * r * r;
					pthread_mutex_unlock(&lk[o]);
					rho[c][i] += r;
				}
			}
	}
}
static void *worker(void *a) {
	for (int s = 0; s < 3; s++) {
		density((int)(long)a);
		pthread_barrier_wait(&bar); /* END */
	}
	return nullptr;
}
int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	for (int c = 0; c < C; c++) { np[c] = c < 32 ? 14 : 4; pthread_mutex_init(&lk[c], nullptr); }
	pthread_barrier_init(&bar, nullptr, P);
	std::vector<pthread_t> t(P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], nullptr, worker, (void *)i);
	for (int i = 0; i < P; i++) pthread_join(t[i], nullptr);
	printf("%.3f\n", rho[3][1]);
}
