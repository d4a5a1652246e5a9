/*
 * nw: Needleman-Wunsch alignment as a wavefront of blocks. On the way in and out
 * a diagonal has too few blocks for all threads, and in the middle no multiple of
 * them: some threads compute one block more than others.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define B 64
#define GAP 4

static int nthreads = 16, nblk = 20;
static int len, *score;
static char *s1, *s2;
static pthread_barrier_t bar;

static void load(void)
{
	unsigned s = 3;
	len = nblk * B;
	s1 = malloc(len);
	s2 = malloc(len);
	score = malloc(sizeof(int) * (len + 1) * (len + 1));
	for (int i = 0; i < len; i++) {
		s = s * 1664525 + 1013904223;
		s1[i] = "ACGT"[s >> 30];
		s2[i] = (s >> 16 & 7) ? s1[i] : "ACGT"[s >> 28 & 3];
	}
	for (int i = 0; i <= len; i++)
		score[i] = score[i * (len + 1)] = -i * GAP;
}

static int max3(int a, int b, int c)
{
	int m = a > b ? a : b;
	return m > c ? m : c;
}

static void block(int bi, int bj)
{
	int w = len + 1;
	for (int i = bi * B + 1; i <= (bi + 1) * B; i++)
		for (int j = bj * B + 1; j <= (bj + 1) * B; j++) {
			int hit = s1[i - 1] == s2[j - 1] ? 5 : -3;
			score[i * w + j] = max3(score[(i - 1) * w + j - 1] + hit,
						score[(i - 1) * w + j] - GAP,
						score[i * w + j - 1] - GAP);
		}
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int d = 0; d < 2 * nblk - 1; d++) {
		int first = d < nblk ? 0 : d - nblk + 1;
		int last = d < nblk ? d : nblk - 1;
		for (int b = first + me; b <= last; b += nthreads) /* CAUSE */
			block(b, d - b);
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		nblk = atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	printf("score %d\n", score[(len + 1) * (len + 1) - 1]);
	return 0;
}
