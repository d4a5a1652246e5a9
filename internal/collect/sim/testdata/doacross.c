// Rows whose first part waits for that of the row before (doacross), their second part for nobody.
#include <stdio.h>

#define ROWS 24

static volatile long sink[ROWS];

static void spend(int row, long n)
{
	long x = row;
	for (long i = 0; i < n; i++)
		x = x * 31 + i;
	sink[row] = x;
}

int main(void)
{
	#pragma omp parallel for ordered(1) schedule(static, 1)
	for (int row = 0; row < ROWS; row++) {
		#pragma omp ordered depend(sink: row - 1) /* HERE */
		spend(row, 20000);
		#pragma omp ordered depend(source)
		spend(row, 10000);
	}
	return puts("done") < 0;
}
