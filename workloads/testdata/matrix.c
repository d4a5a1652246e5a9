/* A matrix product, and a walk at random through a table. */
#include <stdio.h>
#include <stdlib.h>
enum { N = 192 };
static double a[N][N], b[N][N], c[N][N];
static int order[1 << 16];
int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = i + j, b[i][j] = i - j;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				c[i][j] += a[i][k] * b[k][j];
	unsigned seed = 1, at = 0, sum = 0;
	for (int i = 0; i < 1 << 16; i++)
		order[i] = (seed = seed * 1664525 + 1013904223) >> 16;
	for (int i = 0; i < 1000000; i++)
		sum += at = (order[at] + i) & 0xffff;
	printf("%g %u\n", c[3][5], sum);
	return 0;
}
