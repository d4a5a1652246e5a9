/* Red-black relaxation with C11 threads; in every fourth step thread 0 alone sums the energy up. The compiler copies its call of the barrier. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <threads.h>
enum { N = 258 };
static double g[N][N], err;
static int parties, count;
static unsigned generation;
static mtx_t m;
static cnd_t cv;
static char line[256];
static void barrier(void) {
	mtx_lock(&m);
	unsigned mine = generation;
	if (++count == parties) { count = 0; generation++; cnd_broadcast(&cv); }
	else while (mine == generation) cnd_wait(&cv, &m);
	mtx_unlock(&m);
}
static double relax(int lo, int hi, int color) {
	double e = 0;
	for (int i = lo; i < hi; i++)
		for (int j = 1 + ((i + color) & 1); j < N - 1; j += 2) {
			double o = g[i][j];
			g[i][j] = .25 * (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1]);
			e += fabs(g[i][j] - o);
		}
	return e;
}
static double energy(void) {
	double s = 0;
	for (int i = 1; i < N - 1; i++)
		for (int j = 1; j < N - 1; j++) s += g[i][j] * g[i][j];
	return s;
}
static int worker(void *a) {
	int id = (int)(long)a, lo = 1 + id * (N - 2) / parties, hi = 1 + (id + 1) * (N - 2) / parties;
	for (int s = 0; s < 12; s++) {
		double e = relax(lo, hi, 0);
		barrier();
		e += relax(lo, hi, 1);
		mtx_lock(&m);
		err += e;
		mtx_unlock(&m);
		if (id == 0 && s % 4 == 3) /* CAUSE */
			snprintf(line, sizeof line, "%d %d", s, energy() > 0); /* others still write: no more of it is the same every time */
		barrier(); /* END */
	}
	return 0;
}
int main(int argc, char **argv) {
	parties = argc > 1 ? atoi(argv[1]) : 8;
	mtx_init(&m, mtx_plain);
	cnd_init(&cv);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) g[i][j] = (i * 7 + j * 3) % 11;
	thrd_t t[256];
	for (long i = 0; i < parties; i++) thrd_create(&t[i], worker, (void *)i);
	for (int i = 0; i < parties; i++) thrd_join(t[i], 0);
	puts(line);
}
