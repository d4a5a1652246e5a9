// Exceptions thrown in threads, caught there, and carried to the main thread.
#include <cstdio>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

static int deep(int n, int bad)
{
	std::string guard(static_cast<size_t>(n) + 1, 'x');
	if (n == bad)
		throw std::runtime_error("at " + std::to_string(n));
	return n == 0 ? 0 : deep(n - 1, bad) + static_cast<int>(guard.size() % 3);
}

int main()
{
	std::vector<std::future<int>> all;
	for (int i = 0; i < 8; i++)
		all.push_back(std::async(std::launch::async, [i] {
			int sum = 0;
			for (int k = 0; k < 50; k++) {
				try {
					sum += deep(40, k % (i + 2) ? -1 : k);
				} catch (const std::exception &) {
					sum -= 1;
				}
			}
			return i % 3 == 2 ? deep(30, i) : sum;
		}));
	for (auto &f : all) {
		try {
			std::printf("%d\n", f.get());
		} catch (const std::exception &e) {
			std::printf("caught %s\n", e.what());
		}
	}
	return 3;
}
