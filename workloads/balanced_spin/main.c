#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#define N 130
static double g[N][N];
static int P;
static atomic_int count, sense;
static _Thread_local int local;
static void barrier(void) {
	local = !local;
	if (atomic_fetch_add(&count, 1) == P - 1) {
		atomic_store(&count, 0);
		atomic_store(&sense, local);
	} else
		while (atomic_load(&sense) != local)
			;
}
static void relax(int id, int color) {
	int first = 1 + id * (128 / P), last = 1 + (id + 1) * (128 / P);
	for (int i = first; i < last; i++)
		for (int j = 1 + (i + color) % 2; j < N - 1; j += 2)
			g[i][j] = 0.25 * (g[i-1][j] + g[i+1][j] + g[i][j-1] + g[i][j+1]);
}
static void *worker(void *a) {
	int id = (long)a;
	for (int k = 0; k < 6; k++) {
		relax(id, 0);
		barrier();
		relax(id, 1);
		barrier();
	}
	return 0;
}
int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;

	pthread_t t[256];
	for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) g[i][j] = i ^ j;
	for (long i = 1; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
	worker(0);
	for (int i = 1; i < P; i++) pthread_join(t[i], 0);
	printf("%g\n", g[3][5]);
}
