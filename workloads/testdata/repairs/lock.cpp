// Threads insert what they find into one map under one lock. Repaired: each into its own, which are
// put together at the end.
#include <map>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::map<unsigned, unsigned> found;

int main(int argc, char **)
{
	const unsigned n = 8;
	std::vector<std::thread> threads;
	for (unsigned me = 0; me < n; me++)
		threads.emplace_back([me, argc] {
			std::map<unsigned, unsigned> own;
			unsigned x = me + 1;
			for (int i = 0; i < 1200; i++) {
				for (int k = 0; k < 40; k++)
					x = x * 1664525u + 1013904223u;
				if (argc > 1) {
					own[x >> 27]++;
					continue;
				}
				std::lock_guard<std::mutex> held(lock); /* CAUSE */
				found[x >> 27]++;
			}
			std::lock_guard<std::mutex> held(lock);
			for (auto &[k, v] : own)
				found[k] += v;
		});
	for (auto &t : threads)
		t.join();
	return found.empty();
}
