/*
 * srad: speckle reducing diffusion, OpenMP. The two sweeps over the image are
 * balanced; the statistics of the whole image before them are computed by the
 * master while the team waits.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define COLS 256
#define ROUNDS 6

static int rows = 256;
static float *img, *coef;
static float q0;

static void load(void)
{
	unsigned s = 61;
	img = malloc(sizeof(float) * rows * COLS);
	coef = malloc(sizeof(float) * rows * COLS);
	for (int i = 0; i < rows * COLS; i++) {
		s = s * 1664525 + 1013904223;
		img[i] = 1.0f + (float)(s >> 8) / (1 << 24);
	}
}

static float statistics(void)
{
	double sum = 0, sum2 = 0;
	for (int i = 0; i < rows * COLS; i++) {
		sum += img[i];
		sum2 += (double)img[i] * img[i];
	}
	double mean = sum / (rows * COLS);
	double var = sum2 / (rows * COLS) - mean * mean;
	return var / (mean * mean);
}

static void coefficients(int i)
{
	const float *r = img + i * COLS;
	const float *up = img + (i + rows - 1) % rows * COLS, *dn = img + (i + 1) % rows * COLS;
	for (int j = 0; j < COLS; j++) {
		float c = r[j];
		float w = r[(j + COLS - 1) & (COLS - 1)] - c, e = r[(j + 1) & (COLS - 1)] - c;
		float n = up[j] - c, s = dn[j] - c;
		float g2 = (w * w + e * e + n * n + s * s) / (c * c);
		float l = (w + e + n + s) / c;
		float den = 1 + 0.25f * l;
		float q = (0.5f * g2 - 0.0625f * l * l) / (den * den);
		coef[i * COLS + j] = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
	}
}

static void diffuse(int i)
{
	float *r = img + i * COLS;
	const float *c = coef + i * COLS, *cd = coef + (i + 1) % rows * COLS;
	for (int j = 0; j < COLS; j++)
		r[j] += 0.01f * (c[j] + cd[j]) * (1.5f - r[j]);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 16;
	if (argc > 2)
		rows = atoi(argv[2]);
	load();
	omp_set_dynamic(0);
	omp_set_num_threads(threads);
#pragma omp parallel
	for (int r = 0; r < ROUNDS; r++) {
#pragma omp master /* CAUSE */
		q0 = statistics(); /* CAUSE */
#pragma omp barrier /* END */
#pragma omp for schedule(static)
		for (int i = 0; i < rows; i++)
			coefficients(i);
#pragma omp for schedule(static)
		for (int i = 0; i < rows; i++)
			diffuse(i);
	}
	double sum = 0;
	for (int i = 0; i < rows * COLS; i++)
		sum += img[i];
	printf("mean %.5f, q0 %.5f\n", sum / (rows * COLS), q0);
	return 0;
}
