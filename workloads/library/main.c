/* Views of a data cube, of very different size, sorted by the C library: the line that has it sort is the cause. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int *tuples[256], view[256];
static size_t size[256];
static int order(const void *a, const void *b) {
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}
static void *worker(void *a) {
	int id = (long)a, *t = tuples[id];
	for (int r = 0; r < 3; r++) {
		for (int i = 0; i < 600; i++) t[i] = (i * 40503 + id * 7) & 0xffff;
		qsort(t, size[id], sizeof *t, order); /* CAUSE */
		for (int i = 1; i < 600; i++) view[id] += t[i] != t[i - 1];
	}
	return 0;
}
int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 8;
	for (int i = 0; i < n; i++) {
		size[i] = i % 4 == 1 ? 2500 : 700;
		tuples[i] = malloc(size[i] * sizeof(int));
		for (size_t k = 0; k < size[i]; k++) tuples[i][k] = (k * 2654435761u + i) >> 8;
	}
	pthread_t t[256];
	for (long i = 0; i < n; i++) pthread_create(&t[i], 0, worker, (void *)i);
	for (int i = 0; i < n; i++) pthread_join(t[i], 0); /* END */
	printf("%d\n", view[1]);
}
