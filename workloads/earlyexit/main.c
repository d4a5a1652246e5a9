/* Every thread searches rows for a mark; where it stands differs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define W 2000
#define ROWS 30
static int P;
static unsigned char *row[1024][ROWS];
static long found[1024];

static void *worker(void *arg) {
	long id = (long)arg;
	for (int r = 0; r < ROWS; r++) {
		unsigned h = 0;
		for (int i = 0; i < W; i++) {
			h = h * 33 + (unsigned)i;
			h ^= h >> 7;
			if (row[id][r][i]) /* CAUSE */
				break; /* CAUSE */
		}
		found[id] += h;
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	for (int t = 0; t < P; t++)
		for (int r = 0; r < ROWS; r++) {
			row[t][r] = calloc(W, 1);
			row[t][r][(t * 577 + 100) % W] = 1;
		}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL); /* END */
	printf("%ld\n", found[0]);
	return 0;
}
