// The same with the library of C++.
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

static unsigned sink[8][16];

int main()
{
	std::barrier bar(8);
	std::vector<std::thread> threads;
	for (int id = 0; id < 8; id++)
		threads.emplace_back([id, &bar] {
			for (int k = 0; k < 6; k++) {
				for (int i = 0; i < 2000; i++)
					sink[id][0] = sink[id][0] * 1664525u + i;
#ifdef ONE
				if (id == 0)
#endif
					std::this_thread::sleep_for(std::chrono::milliseconds(1)); /* HERE */
				bar.arrive_and_wait();
			}
		});
	for (auto &t : threads)
		t.join();
}
