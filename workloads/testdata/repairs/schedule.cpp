// Numbers are tested for being prime in ranges; large ones take longer. Repaired: every eighth one.
#include <thread>
#include <vector>

static bool prime(unsigned n)
{
	for (unsigned d = 3; d * d <= n; d += 2) /* CAUSE */
		if (n % d == 0) /* CAUSE */
			return false;
	return true;
}

int main(int argc, char **)
{
	const unsigned all = 64000, n = 8;
	std::vector<unsigned> found(16 * n);
	std::vector<std::thread> threads;
	for (unsigned me = 0; me < n; me++)
		threads.emplace_back([=, &found] {
			unsigned from = me * (all / n), to = from + all / n, step = 1;
			if (argc > 1)
				from = me, to = all, step = n;
			for (unsigned x = from; x < to; x += step) /* CAUSE */
				found[16 * me] += prime(2 * x + 3); /* CAUSE */
		});
	for (auto &t : threads)
		t.join();
	return found[0] == 0;
}
