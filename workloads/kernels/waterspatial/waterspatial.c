/*
 * waterspatial: molecules in boxes, every box with the same number of them. In
 * the frozen half the molecules of neighbouring boxes lie within the cutoff, in
 * the other half they rarely do; only within it the expensive part is computed.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 64
#define PER 8
#define CUT2 0.5f
#define STEPS 2

struct mol {
	float x, y, fx, fy;
};

static int nthreads = 16;
static struct mol box[SIDE][SIDE][PER];
static pthread_barrier_t bar;

static float uniform(unsigned *s)
{
	*s = *s * 1664525 + 1013904223;
	return (float)(*s >> 8) / (1 << 24);
}

static void load(int warm)
{
	unsigned s = 55;
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			for (int k = 0; k < PER; k++) {
				float w = i < SIDE / 8 ? 0.1f : 6.0f;
				box[i][j][k].x = w * uniform(&s);
				box[i][j][k].y = w * uniform(&s);
			}
	/* equilibrate: a long warm-up by the main thread */
	for (int r = 0; r < warm; r++)
		for (int i = 0; i < SIDE; i++)
			for (int j = 0; j < SIDE; j++)
				for (int k = 0; k < PER; k++) {
					struct mol *a = &box[i][j][k], *b = &box[i][j][(k + 1) % PER];
					a->fx = 0.5f * (a->fx + a->x - b->x);
					a->fy = 0.5f * (a->fy + a->y - b->y);
				}
}

static void pair_force(struct mol *a, const struct mol *b, float dx, float dy, float r2)
{
	float r = sqrtf(r2 + 0.01f), e = 0;
	for (int k = 1; k <= 6; k++)
		e = e * 0.5f + b->x / (r * k) - b->y / (r + k);
	a->fx += e * dx;
	a->fy += e * dy;
}

static void forces(int i, int j)
{
	for (int di = -1; di <= 1; di++)
		for (int p = 0; p < PER; p++)
			for (int q = 0; q < PER; q++) {
				struct mol *a = &box[i][j][p];
				const struct mol *b = &box[(i + di) & (SIDE - 1)][(j + 1) & (SIDE - 1)][q];
				float dx = a->x - b->x, dy = a->y - b->y;
				float r2 = dx * dx + dy * dy;
				if (r2 < CUT2) /* CAUSE */
					pair_force(a, b, dx, dy, r2); /* CAUSE */
			}
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int lo = SIDE * me / nthreads, hi = SIDE * (me + 1) / nthreads;
	for (int s = 0; s < STEPS; s++) {
		for (int i = lo; i < hi; i++)
			for (int j = 0; j < SIDE; j++)
				forces(i, j);
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	float sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	load(argc > 2 ? atoi(argv[2]) : 60);
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			sum += box[i][j][0].fx;
	printf("force %.4g\n", sum);
	return 0;
}
