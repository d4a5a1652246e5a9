/* Work that is dealt out in chunks to whoever comes first: chunks SPELLING CHUNKS SIZE ROUNDS, where
   each chunk is SIZE items of equal work. */
#include <stdio.h>
#include <stdlib.h>

static volatile long sink, last;

static void item(void)
{
	long x = 1;
	for (int i = 0; i < 300; i++)
		x = x * 31 + i;
	sink = x;
}

static void loop(int n, int size)
{
#pragma omp parallel for schedule(dynamic, size) /* LOOP */
	for (int i = 0; i < n; i++) { /* LOOP */
		item(); /* LOOP */
		last = i; /* where GCC puts the call for the next chunk */
	}
}

static void apart(int n, int size)
{
#pragma omp parallel /* APART */
	{
#pragma omp for schedule(dynamic, size) nowait /* APART */
		for (int i = 0; i < n; i++) { /* APART */
			item(); /* APART */
			if (i % 64 == 0) {
#pragma omp critical
				last++;
			}
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	int n = atoi(argv[2]), size = atoi(argv[3]);
	for (int k = atoi(argv[4]); k > 0; k--) {
		if (argv[1][0] == 'l')
			loop(n * size, size);
		else
			apart(n * size, size);
	}
	return 0;
}
