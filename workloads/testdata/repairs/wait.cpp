// One thread in four writes a checkpoint and sleeps until the disk has settled; the others wait for
// it at the barrier. Repaired: it does not sleep.
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

static unsigned sink[8][16];

int main(int argc, char **)
{
	std::barrier bar(8);
	std::vector<std::thread> threads;
	for (int me = 0; me < 8; me++)
		threads.emplace_back([me, argc, &bar] {
			for (int step = 0; step < 12; step++) {
				for (int i = 0; i < 15000; i++)
					sink[me][0] = sink[me][0] * 1664525u + i;
				if (me % 4 == 1 && argc < 2) /* CAUSE */
					std::this_thread::sleep_for(std::chrono::microseconds(200)); /* CAUSE */
				bar.arrive_and_wait();
			}
		});
	for (auto &t : threads)
		t.join();
}
