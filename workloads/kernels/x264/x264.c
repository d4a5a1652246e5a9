/*
 * x264: motion search, rows of macroblocks per thread, by a diamond that moves as
 * long as it finds something better. In the still part of the picture the first
 * look is the best; in the last rows the camera pans and the diamond walks.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MB 8
#define COLS 32
#define PAD 32
#define FRAMES 36

struct vec {
	int x, y;
};

static int nthreads = 16, rows = 64;
static int width, height;
static unsigned char *cur, *ref;
static struct vec *mv;
static pthread_barrier_t bar;

static void load(void)
{
	width = COLS * MB + 2 * PAD;
	height = rows * MB + 2 * PAD;
	cur = malloc(width * height);
	ref = malloc(width * height);
	mv = calloc(rows * COLS, sizeof *mv);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			/* smooth texture, so that the way downhill is monotonous */
			ref[y * width + x] = (x % 128 < 64 ? x % 64 : 63 - x % 64) * 2 +
					     (y % 128 < 64 ? y % 64 : 63 - y % 64) * 2;
		}
	int pan = PAD + (rows - rows / 32) * MB;
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			int sx = y < pan ? x : x + 13 < width ? x + 13 : width - 1;
			cur[y * width + x] = ref[y * width + sx];
		}
}

static int sad(const unsigned char *a, const unsigned char *b)
{
	int s = 0;
	for (int y = 0; y < MB; y++)
		for (int x = 0; x < MB; x++)
			s += abs(a[y * width + x] - b[y * width + x]);
	return s;
}

static struct vec search(int by, int bx)
{
	static const struct vec step[4] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
	int at = (PAD + by * MB) * width + PAD + bx * MB;
	struct vec v = {0, 0};
	int best = sad(cur + at, ref + at), moved;
	do {
		struct vec from = v;
		moved = 0;
		for (int k = 0; k < 4; k++) {
			struct vec t = {from.x + step[k].x, from.y + step[k].y};
			int cost = sad(cur + at, ref + at + t.y * width + t.x);
			if (cost < best) {
				best = cost;
				v = t;
				moved = 1;
			}
		}
	} while (moved && v.x * v.x + v.y * v.y < 24 * 24); /* CAUSE */
	return v;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int f = 0; f < FRAMES; f++) {
		for (int y = rows * me / nthreads; y < rows * (me + 1) / nthreads; y++)
			for (int x = 0; x < COLS; x++)
				mv[y * COLS + x] = search(y, x);
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	int sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		rows = atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < rows * COLS; i++)
		sum += abs(mv[i].x) + abs(mv[i].y);
	printf("motion %d\n", sum);
	return 0;
}
