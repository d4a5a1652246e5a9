/*
 * hotspot: temperature of a chip, five-point stencil over rows in OpenMP with a
 * static schedule. Power and floor plan are read as text. Balanced.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLS 512
#define ROUNDS 12

static int rows = 256;
static float *temp, *next, *power;

static char *power_map(void)
{
	unsigned s = 41;
	char *text = malloc((size_t)rows * COLS * 6 + 1), *p = text;
	for (int i = 0; i < rows * COLS; i++) {
		s = s * 1664525 + 1013904223;
		unsigned v = s >> 20;
		*p++ = '0' + v / 1000 % 10;
		*p++ = '.';
		*p++ = '0' + v / 100 % 10;
		*p++ = '0' + v / 10 % 10;
		*p++ = ' ';
	}
	*p = 0;
	return text;
}

static void load(void)
{
	temp = calloc((size_t)(rows + 2) * COLS, sizeof *temp);
	next = calloc((size_t)(rows + 2) * COLS, sizeof *next);
	power = calloc((size_t)(rows + 2) * COLS, sizeof *power);
	char *text = power_map(), *p = text;
	for (int i = 0; i < rows * COLS; i++) {
		float whole = 0, scale = 1;
		while (*p != ' ') {
			if (*p == '.')
				scale = 0.1f;
			else if (scale == 1)
				whole = whole * 10 + (*p - '0');
			else {
				whole += (*p - '0') * scale;
				scale *= 0.1f;
			}
			p++;
		}
		p++;
		power[COLS + i] = whole;
		temp[COLS + i] = 80;
	}
	free(text);
}

static void row(const float *t, float *out, const float *pw)
{
	for (int j = 1; j < COLS - 1; j++) {
		float around = t[j - 1] + t[j + 1] + t[j - COLS] + t[j + COLS] - 4 * t[j];
		out[j] = t[j] + 0.05f * (pw[j] + 0.2f * around + 0.01f * (80 - t[j]));
	}
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 16;
	if (argc > 2)
		rows = atoi(argv[2]);
	load();
	omp_set_dynamic(0);
	omp_set_num_threads(threads);
	for (int r = 0; r < ROUNDS; r++) {
#pragma omp parallel for schedule(static) /* END */
		for (int i = 1; i <= rows; i++) /* END */
			row(temp + i * COLS, next + i * COLS, power + i * COLS);
		float *t = temp;
		temp = next;
		next = t;
	}
	double sum = 0;
	for (int i = 0; i < rows * COLS; i++)
		sum += temp[COLS + i];
	printf("mean %.4f\n", sum / ((double)rows * COLS));
	return 0;
}
