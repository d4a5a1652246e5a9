/* Points of an image sequence, dealt out by number: they do not divide by the threads. The loop's test gets the place of what was inlined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { POINTS = 51, PIXELS = 256 };
static float templ[POINTS][PIXELS], out[POINTS][PIXELS];
static void kernel(int p, int frame) {
	for (int k = 0; k < 24; k++)
		for (int i = 0; i < PIXELS - k; i++)
			out[p][i] += templ[p][i] * templ[p][i + k] * (frame + 1);
	memcpy(templ[p], out[p], 64);
}
int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 8;
	for (int p = 0; p < POINTS; p++)
		for (int i = 0; i < PIXELS; i++) templ[p][i] = (p + i) % 9 * .01f;
	for (int f = 0; f < 4; f++) { /* END: gcc gives the region the line before its directive */
#pragma omp parallel for num_threads(n) schedule(static)
		for (int p = 0; p < POINTS; p++) /* CAUSE */
			kernel(p, f); /* CAUSE: the loop around it */
	}
	printf("%g\n", out[3][3]);
}
