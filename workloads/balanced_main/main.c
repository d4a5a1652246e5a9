#include <pthread.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define N 2048
static float s[N], out[N];
static int P;
static float price(float x) { float k = 1 / (1 + 0.23f * x); return x * (0.3f * k - 0.35f * k * k + 1.7f * k * k * k) * expf(-0.5f * x * x); }
static void *worker(void *a) {
	int id = (long)a;
	for (int r = 0; r < 4; r++)
		for (int i = id * (N / P); i < (id + 1) * (N / P); i++)
			out[i] = price(s[i]);
	return 0;
}
int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[256];
	for (int i = 0; i < N; i++) s[i] = i * 0.001f;
	for (long i = 0; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
	for (int i = 0; i < P; i++) pthread_join(t[i], 0);
	printf("%g\n", out[100]);
}
