// A tree of tasks, one for each node, whose inner ones wait for theirs.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static long count(int depth, unsigned key)
{
	if (depth == 0)
		return 1;
	long sum[3] = {0};
	for (int i = 0; i < 3; i++) {
		unsigned k = key * 31 + i;
		if ((k >> 3) % 5 == 0)
			continue;
		#pragma omp task shared(sum) firstprivate(k, i)
		sum[i] = count(depth - 1, k);
	}
	#pragma omp taskwait
	return sum[0] + sum[1] + sum[2];
}

int main(int argc, char **argv)
{
	long leaves = 0;
	#pragma omp parallel
	#pragma omp single
	leaves = count(atoi(argv[1]), 7);
	printf("%ld\n", leaves > 0);
	return 0;
}
