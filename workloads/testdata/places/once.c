// What OpenMP has one thread do while the others wait: "once 0 SHAPE".
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t step(uint64_t x) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x; }
static uint64_t v[8000];

static __attribute__((noinline)) uint64_t busy(uint64_t x, int n) {
	uint64_t s = 0;
	for (int i = 0; i < n; i++)
		s += x = step(x);
	return s;
}

static int compare(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
	int shape = argc > 2 ? atoi(argv[2]) : 1;
	uint64_t sum = 0, one = 0;
	for (int k = 0; k < 3; k++) {
#pragma omp parallel reduction(+ : sum)
		{
#pragma omp for
			for (int i = 0; i < 64; i++)
				sum += busy(i + 1, 1000);
			switch (shape) {
			case 1:
#pragma omp single
			{
				uint64_t x = 7;
				for (int i = 0; i < 60000; i++) // HERE1
					one += x = step(x); // HERE1
			}
				break;
			case 2:
#pragma omp single
			{
				uint64_t x = k + 1;
				for (int i = 0; i < 8000; i++)
					v[i] = x = step(x);
				qsort(v, 8000, 8, compare); // HERE2
			}
				break;
			case 3:
#pragma omp master
			{
				one += busy(3, 60000); // HERE3
			}
#pragma omp barrier
				break;
			case 4:
#pragma omp single nowait
			{
				one += busy(3, 60000); // HERE4
			}
			}
		}
	}
	printf("%d\n", (int)((sum ^ one) & 1));
}
