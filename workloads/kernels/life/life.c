/*
 * life: Conway's game on tiles. A tile that did not change, nor any of its
 * neighbours, is skipped; rows of tiles per thread. The board is still but for a
 * soup in the last rows.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T 8
#define TX 32
#define TY 64
#define W (TX * T)
#define H (TY * T)
#define ROUNDS 24

static int nthreads = 16;
static unsigned char board[2][H][W];
static unsigned char active[2][TY][TX];
static pthread_barrier_t bar;

/* The soup is thrown; the rest of the board is blocks, which never change. */
static void load(int soup)
{
	unsigned s = 113;
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			s = s * 1664525 + 1013904223;
			int still = (x & 7) >= 3 && (x & 7) < 5 && (y & 7) >= 3 && (y & 7) < 5;
			int busy = y / T >= TY - soup;
			board[0][y][x] = busy ? (int)(s >> 31) : still;
		}
	memcpy(board[1], board[0], sizeof board[0]);
	memset(active, 0, sizeof active);
	memset(active[0][TY - soup], 1, (size_t)soup * TX);
}

static int is_active(int now, int ty, int tx)
{
	int any = 0;
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			any |= active[now][(ty + dy + TY) % TY][(tx + dx + TX) % TX];
	return any;
}

static int step_tile(int now, int ty, int tx)
{
	int changed = 0;
	for (int y = ty * T; y < (ty + 1) * T; y++)
		for (int x = tx * T; x < (tx + 1) * T; x++) {
			const unsigned char *a = board[now][(y + H - 1) % H];
			const unsigned char *b = board[now][y], *c = board[now][(y + 1) % H];
			int l = (x + W - 1) % W, r = (x + 1) % W;
			int n = a[l] + a[x] + a[r] + b[l] + b[r] + c[l] + c[x] + c[r];
			int live = (n == 3) | ((n == 2) & b[x]);
			changed |= live ^ b[x];
			board[!now][y][x] = live;
		}
	return changed;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int g = 0; g < ROUNDS; g++) {
		int now = g & 1;
		for (int ty = TY / nthreads * me; ty < TY / nthreads * (me + 1); ty++)
			for (int tx = 0; tx < TX; tx++) {
				active[!now][ty][tx] = 0;
				if (is_active(now, ty, tx)) /* CAUSE */
					active[!now][ty][tx] = step_tile(now, ty, tx); /* CAUSE */
			}
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long alive = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	load(argc > 2 ? atoi(argv[2]) : 2);
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			alive += board[0][y][x];
	printf("%ld alive\n", alive);
	return 0;
}
