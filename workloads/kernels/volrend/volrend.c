/*
 * volrend: casts rays through a volume, scan lines dealt out in turns, all rays
 * of one length. After each frame thread 0 writes the image while the others
 * wait for the next frame.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 64
#define W 96
#define H 96
#define FRAMES 3

static int nthreads = 16;
static unsigned char vol[N][N][N];
static unsigned char image[H][W];
static long written;
static pthread_barrier_t bar;

static void load(void)
{
	for (int z = 0; z < N; z++)
		for (int y = 0; y < N; y++)
			for (int x = 0; x < N; x++) {
				int dx = x - N / 2, dy = y - N / 2, dz = z - N / 2;
				int r = dx * dx + dy * dy + dz * dz;
				vol[z][y][x] = r < N * N / 4 ? 255 - r * 255 / (N * N / 4) : 0;
			}
}

static unsigned char cast(int px, int py, int frame)
{
	float light = 0, left = 1;
	float x = px * (float)(N - 2) / W, y = py * (float)(N - 2) / H;
	float sx = 0.1f * frame / FRAMES, sy = 0.05f;
	for (int z = 0; z < N; z++) {
		int ix = (int)x & (N - 1), iy = (int)y & (N - 1);
		float fx = x - (int)x;
		float a = vol[z][iy][ix] * (1 - fx) + vol[z][iy][(ix + 1) & (N - 1)] * fx;
		a *= 1.0f / 2048;
		light += left * a * (z & 15);
		left *= 1 - a;
		x += sx;
		y += sy;
	}
	return light > 255 ? 255 : (unsigned char)light;
}

static void write_image(int frame)
{
	char name[64], line[W * 4 + 2];
	snprintf(name, sizeof name, "/dev/null");
	FILE *f = fopen(name, "w");
	if (!f)
		return;
	fprintf(f, "P2\n# frame %d\n%d %d\n255\n", frame, W, H);
	for (int y = 0; y < H; y++) {
		int k = 0;
		for (int x = 0; x < W; x++)
			k += sprintf(line + k, "%d ", image[y][x]);
		line[k++] = '\n';
		written += fwrite(line, 1, k, f);
	}
	fclose(f);
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int frame = 0; frame < FRAMES; frame++) {
		for (int y = me; y < H; y += nthreads)
			for (int x = 0; x < W; x++)
				image[y][x] = cast(x, y, frame);
		pthread_barrier_wait(&bar);
		if (me == 0) /* CAUSE */
			write_image(frame); /* CAUSE */
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	if (argc > 1)
		nthreads = atoi(argv[1]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	printf("%ld bytes written, centre %d\n", written, image[H / 2][W / 2]);
	return 0;
}
