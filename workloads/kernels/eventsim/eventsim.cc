// eventsim: discrete event simulation of independent cells with a priority queue
// each, in windows that end at a barrier. All threads have the same number of
// cells, the busy ones come last: more of their events fall into a window.
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <thread>
#include <vector>

namespace {

constexpr int WINDOWS = 4, CELLS = 64;
constexpr long HORIZON = 16000;

struct Event {
	long time;
	int call;
	bool operator<(const Event &o) const { return time > o.time; }
};

class Cell {
	std::priority_queue<Event> queue;
	unsigned long long seed;
	long gap;

	unsigned rnd()
	{
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		return seed >> 33;
	}

public:
	long served = 0, load = 0;

	Cell(int id, long gap) : seed(id * 7919 + 1), gap(gap)
	{
		for (int k = 0; k < 32; k++)
			queue.push({long(rnd() % (32 * gap)), k});
	}

	void run(long until)
	{
		while (queue.top().time < until) { // CAUSE
			Event e = queue.top();
			queue.pop();
			served++;
			load += e.time & 7;
			e.time += 16 * gap + rnd() % (32 * gap);
			queue.push(e);
		} // CAUSE
	}
};

} // namespace

int main(int argc, char **argv)
{
	int nthreads = argc > 1 ? atoi(argv[1]) : 16;
	int n = argc > 2 ? atoi(argv[2]) : CELLS;
	std::vector<Cell> cells;
	cells.reserve(n);
	for (int i = 0; i < n; i++)
		cells.emplace_back(i, i < n - n / 32 ? 40 : 4);
	std::barrier window(nthreads);
	auto worker = [&](int me) {
		for (int w = 1; w <= WINDOWS; w++) {
			for (int c = n / nthreads * me; c < n / nthreads * (me + 1); c++)
				cells[c].run(w * HORIZON);
			window.arrive_and_wait(); // END BARRIER
		}
	};
	std::vector<std::thread> pool;
	for (int t = 0; t < nthreads; t++)
		pool.emplace_back(worker, t);
	for (auto &t : pool)
		t.join();
	long served = 0, load = 0;
	for (const Cell &c : cells) {
		served += c.served;
		load += c.load;
	}
	std::printf("%ld events, load %ld\n", served, load);
	return 0;
}
