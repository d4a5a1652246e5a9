// Exceptions in and across threads, thread-local destructors, futures.
#include <cmath>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Guard {
	int *n;
	~Guard() { ++*n; }
};
static int deep(int n, int *unwound) {
	Guard g{unwound};
	if (n == 0)
		throw std::runtime_error("deep");
	return deep(n - 1, unwound) + 1;
}

int main() {
	std::vector<std::thread> threads;
	int caught[4] = {}, unwound[4] = {};
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&, i] {
			for (int k = 0; k < 50; k++)
				try {
					deep(k % 7 + i, &unwound[i]);
				} catch (const std::exception &e) {
					caught[i] += std::string(e.what()).size();
				}
		});
	for (auto &t : threads)
		t.join();
	std::cout << caught[0] + caught[3] << " " << unwound[1] << " " << unwound[2] << "\n";
	auto f = std::async(std::launch::async, []() -> int { throw std::logic_error("across"); });
	try {
		f.get();
	} catch (const std::logic_error &e) {
		std::cout << e.what() << "\n";
	}
	long double x = 1;
	for (int i = 0; i < 30; i++)
		x = std::sqrt(x + i);
	std::cout << x << std::endl;
	int none = 0;
	deep(2, &none); // nobody catches this
}
