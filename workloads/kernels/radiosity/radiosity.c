/*
 * radiosity: patches in a task queue under one mutex. Most tasks gather from 400
 * patches; the last one in the queue, the floor, from all of them many times
 * over, and whoever draws it works long after the queue has run dry.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct patch {
	float x, y, z, area, rad;
};

struct task {
	int patch, samples;
};

static int nthreads = 16, npatch = 4096;
static struct patch *p;
static struct task *queue;
static int head, tail;
static pthread_mutex_t qlock = PTHREAD_MUTEX_INITIALIZER;

static void load(void)
{
	unsigned s = 31;
	p = malloc(npatch * sizeof *p);
	queue = malloc(npatch * sizeof *queue);
	for (int i = 0; i < npatch; i++) {
		float v[4];
		for (int k = 0; k < 4; k++) {
			s = s * 1664525 + 1013904223;
			v[k] = (float)(s >> 8) / (1 << 24);
		}
		p[i] = (struct patch){v[0], v[1], v[2], 0.1f + v[3], v[0] * v[3]};
	}
	for (int i = 0; i < npatch / 2; i++)
		queue[tail++] = (struct task){i, 400};
	queue[tail++] = (struct task){npatch - 1, 400 * 400};
}

static int next_task(struct task *t)
{
	int got = 0;
	pthread_mutex_lock(&qlock); /* LOCK */
	if (head < tail) {
		*t = queue[head++];
		got = 1;
	}
	pthread_mutex_unlock(&qlock);
	return got;
}

static float gather(const struct patch *me, int samples)
{
	float sum = 0;
	for (int k = 0, j = 0; k < samples; k++) { /* CAUSE */
		const struct patch *o = &p[j];
		float dx = o->x - me->x, dy = o->y - me->y, dz = o->z - me->z;
		float r2 = dx * dx + dy * dy + dz * dz + 1e-3f;
		sum += o->rad * o->area / r2;
		j = (j + 7) & (npatch - 1);
	}
	return sum;
}

static void *worker(void *arg)
{
	struct task t;
	(void)arg;
	while (next_task(&t))
		p[t.patch].area += 1e-9f * gather(&p[t.patch], t.samples);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	float sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		npatch = 1 << atoi(argv[2]);
	load();
	for (int i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int i = 0; i < npatch; i++)
		sum += p[i].area;
	printf("%d tasks, %.3f\n", tail, sum);
	return 0;
}
