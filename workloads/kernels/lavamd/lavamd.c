/*
 * lavamd: particles in boxes of a cube without periodic boundaries. All boxes
 * hold the same number of particles, but those at the faces have 17 neighbours,
 * at the edges 11, instead of 26: inner slabs of boxes work longer.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 8
#define BOXES (SIDE * SIDE * SIDE)
#define PER 18

struct atom {
	float x, y, z, q;
};

static int nthreads = 16, repeat = 1;
static struct atom atoms[BOXES][PER];
static float force[BOXES][PER];
static int nnear[BOXES], near[BOXES][27];

static void load(void)
{
	unsigned s = 83;
	for (int b = 0; b < BOXES; b++) {
		int x = b % SIDE, y = b / SIDE % SIDE, z = b / SIDE / SIDE;
		for (int k = 0; k < PER; k++) {
			float v[4];
			for (int i = 0; i < 4; i++) {
				s = s * 1664525 + 1013904223;
				v[i] = (float)(s >> 8) / (1 << 24);
			}
			atoms[b][k] = (struct atom){x + v[0], y + v[1], z + v[2], v[3]};
		}
		for (int i = 0; i < 27; i++) {
			int a = x + i % 3 - 1, c = y + i / 3 % 3 - 1, d = z + i / 9 - 1;
			if (a >= 0 && a < SIDE && c >= 0 && c < SIDE && d >= 0 && d < SIDE)
				near[b][nnear[b]++] = (d * SIDE + c) * SIDE + a;
		}
	}
}

static void box_pair(int b, int o)
{
	for (int i = 0; i < PER; i++) {
		float sum = 0;
		for (int j = 0; j < PER; j++) {
			float dx = atoms[b][i].x - atoms[o][j].x;
			float dy = atoms[b][i].y - atoms[o][j].y;
			float dz = atoms[b][i].z - atoms[o][j].z;
			float u2 = 0.5f * (dx * dx + dy * dy + dz * dz);
			sum += atoms[o][j].q / (1 + u2 * (1 + u2));
		}
		force[b][i] += sum;
	}
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int r = 0; r < repeat; r++)
		for (int b = BOXES / nthreads * me; b < BOXES / nthreads * (me + 1); b++)
			for (int k = 0; k < nnear[b]; k++) /* CAUSE */
				box_pair(b, near[b][k]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	double sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		repeat = atoi(argv[2]);
	load();
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int b = 0; b < BOXES; b++)
		for (int k = 0; k < PER; k++)
			sum += force[b][k];
	printf("force %.4f\n", sum);
	return 0;
}
