#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>
#include <map>
static long collatz(long n) {
	long steps = 0;
	while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; } /* CAUSE */
	return steps;
}
static long part(long a, long b) {
	long s = 0;
	for (long i = a; i < b; i++) /* CAUSE */
		s += collatz(i);
	return s;
}
int main(int argc, char **argv) {
	int P = argc > 1 ? atoi(argv[1]) : 8;
	std::vector<std::future<long>> f;
	long a = 1;
	for (int i = 0; i < P; i++) {
		long n = i == P / 2 ? 400 : 100;
		f.push_back(std::async(std::launch::async, part, a, a + n));
		a += n;
	}
	long s = 0;
	for (auto &x : f) s += x.get(); /* END */
	printf("%ld\n", s);
}
