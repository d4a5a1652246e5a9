/*
 * spmv: sparse matrix times vector in CSR form, OpenMP, rows dealt out in equal
 * blocks. The matrix comes from a mesh with a refined corner: its last rows have
 * ten times the entries of the others.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20

static int n = 16384;
static int *rowptr, *col;
static double *val, *x, *y;

static char *put(char *p, int v, char after)
{
	char digit[12];
	int k = 0;
	do
		digit[k++] = '0' + v % 10;
	while ((v /= 10));
	while (k)
		*p++ = digit[--k];
	*p++ = after;
	return p;
}

static int get(char **p)
{
	int v = 0;
	for (; **p >= '0'; ++*p)
		v = v * 10 + (**p - '0');
	++*p;
	return v;
}

/* Matrix-market text: "row col value" lines, parsed into CSR. */
static void load(void)
{
	unsigned s = 13;
	int nnz = 0;
	for (int i = 0; i < n; i++)
		nnz += i < n - n / 32 ? 5 : 50;
	char *text = malloc((size_t)nnz * 32 + 1), *p = text;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < (i < n - n / 32 ? 5 : 50); k++) {
			s = s * 1664525 + 1013904223;
			p = put(p, i, ' ');
			p = put(p, (s >> 8) % n, ' ');
			p = put(p, 1 + (s >> 28), '\n');
		}
	rowptr = calloc(n + 1, sizeof *rowptr);
	col = malloc(nnz * sizeof *col);
	val = malloc(nnz * sizeof *val);
	char *end = p;
	int at = 0;
	for (p = text; p < end; at++) {
		int r = get(&p);
		col[at] = get(&p);
		val[at] = 0.01 * get(&p);
		rowptr[r + 1] = at + 1;
	}
	free(text);
	x = malloc(n * sizeof *x);
	y = malloc(n * sizeof *y);
	for (int i = 0; i < n; i++)
		x[i] = 1.0;
}

static double row_product(int i)
{
	double sum = 0;
	for (int k = rowptr[i]; k < rowptr[i + 1]; k++) /* CAUSE */
		sum += val[k] * x[col[k]];
	return sum;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 16;
	if (argc > 2)
		n = atoi(argv[2]);
	load();
	omp_set_num_threads(threads);
	omp_set_dynamic(0);
	double norm = 0;
	for (int r = 0; r < ROUNDS; r++) {
#pragma omp parallel /* END */
		{
#pragma omp for schedule(static) /* END */
			for (int i = 0; i < n; i++) /* END */
				y[i] = row_product(i);
#pragma omp for schedule(static) /* END */
			for (int i = 0; i < n; i++)
				x[i] = 0.5 * x[i] + 0.1 * y[i];
		}
	}
	for (int i = 0; i < n; i++)
		norm += x[i] * x[i];
	printf("norm %.6f\n", sqrt(norm));
	return 0;
}
