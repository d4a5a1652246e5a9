// Threads that take permits of a semaphore: permits THREADS PERMITS ROUNDS. Prints how often one was taken.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <thread>
#include <vector>

static std::counting_semaphore<64> permits(0);
static std::atomic<int> taken;

static unsigned work(unsigned x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}

int main(int argc, char **argv)
{
	int threads = atoi(argv[1]), rounds = atoi(argv[3]);
	permits.release(atoi(argv[2]));
	std::atomic<unsigned> sum{0};
	std::vector<std::thread> list;
	for (int t = 0; t < threads; t++)
		list.emplace_back([&, t] {
			unsigned x = t;
			for (int r = 0; r < rounds; r++) {
				x = work(x, 1000);
				permits.acquire();
				x = work(x, 3000);
				permits.release();
				taken++;
			}
			sum += x;
		});
	for (auto &t : list)
		t.join();
	printf("%d\n", taken.load());
	return sum == 1;
}
