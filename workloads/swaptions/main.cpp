#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <vector>
static int P, nSwaptions;
static std::vector<double> result;
static double simulate(int sw) {
	double sum = 0;
	for (int trial = 0; trial < 200; trial++) {
		double path = 1;
		for (int step = 0; step < 11; step++) path = path * 1.01 + sw * 1e-3;
		sum += path;
	}
	return sum;
}
static void *worker(void *arg) {
	int tid = *(int *)arg;
	int chunk = nSwaptions / P, beg = tid * chunk, end = (tid + 1) * chunk;
	if (tid == P - 1) end = nSwaptions;
	for (int i = beg; i < end; i++) /* CAUSE */
		result[i] = simulate(i);
	return nullptr;
}
int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	nSwaptions = 2 * P + P / 2;
	result.resize(nSwaptions);
	std::vector<int> ids(P);
	std::vector<pthread_t> t(P);
	for (int i = 0; i < P; i++) { ids[i] = i; pthread_create(&t[i], nullptr, worker, &ids[i]); }
	for (int i = 0; i < P; i++)
		pthread_join(t[i], nullptr); /* END */
	printf("%g\n", result[3]);
}
