// Threads of C++ that meet at a std::barrier.
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static double out[1024];

static double sweep(double x, int n) {
	for (int i = 0; i < n; i++) // CAUSE
		x = x * 0.999 + i;
	return x;
}

int main(int argc, char **argv) {
	int p = argc > 1 ? std::atoi(argv[1]) : 8;
	std::barrier bar(p);
	std::vector<std::thread> threads;
	for (int id = 0; id < p; id++)
		threads.emplace_back([&bar, id] {
			for (int round = 0; round < 5; round++) {
				out[id] = sweep(out[id], 2000 + id * 7 % 10 * 2000);
				bar.arrive_and_wait(); // END
			}
		});
	for (auto &t : threads)
		t.join();
	std::printf("%g\n", out[0]);
}
