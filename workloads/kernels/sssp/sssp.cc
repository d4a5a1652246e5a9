// sssp: shortest paths by rounds of pulling (Bellman-Ford), on a graph in which
// every vertex has the same number of edges, vertices in equal ranges per thread,
// std::barrier between the rounds. Balanced.
#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int DEGREE = 16;

struct Edge {
	int from, weight;
};

struct Graph {
	int n;
	std::vector<Edge> in;
	std::vector<int> dist, next;

	explicit Graph(int n) : n(n), in(size_t(n) * DEGREE), dist(n, 1 << 28), next(n, 1 << 28) {}
};

// The edge list is text, written and read back: the long serial part.
std::string edge_list(int n)
{
	std::string text;
	unsigned s = 19;
	for (int v = 0; v < n; v++)
		for (int k = 0; k < DEGREE; k++) {
			s = s * 1664525 + 1013904223;
			int from = k < 2 ? (v + n - 1 - k) % n : (s >> 8) % n;
			text += std::to_string(from);
			text += ' ';
			text += std::to_string(1 + (s >> 26));
			text += '\n';
		}
	return text;
}

void load(Graph &g)
{
	std::string text = edge_list(g.n);
	const char *p = text.c_str();
	for (Edge &e : g.in) {
		e.from = std::strtol(p, const_cast<char **>(&p), 10);
		e.weight = std::strtol(p, const_cast<char **>(&p), 10);
	}
}

void pull(const Graph &g, int lo, int hi, std::vector<int> &out)
{
	for (int v = lo; v < hi; v++) {
		int best = g.dist[v];
		const Edge *e = &g.in[size_t(v) * DEGREE];
		for (int k = 0; k < DEGREE; k++)
			best = std::min(best, g.dist[e[k].from] + e[k].weight);
		out[v] = best;
	}
}

} // namespace

int main(int argc, char **argv)
{
	int nthreads = argc > 1 ? atoi(argv[1]) : 16;
	Graph g(argc > 2 ? 1 << atoi(argv[2]) : 1 << 13);
	load(g);
	g.dist[0] = g.next[0] = 0;
	std::barrier swap_dist(nthreads, [&]() noexcept { g.dist.swap(g.next); });
	auto worker = [&](int me) {
		int lo = g.n / nthreads * me, hi = g.n / nthreads * (me + 1);
		for (int round = 0; round < 60; round++) {
			pull(g, lo, hi, g.next);
			swap_dist.arrive_and_wait(); // END BARRIER
		}
	};
	std::vector<std::thread> pool;
	for (int t = 0; t < nthreads; t++)
		pool.emplace_back(worker, t);
	for (auto &t : pool)
		t.join();
	long sum = 0;
	for (int d : g.dist)
		sum += d;
	std::printf("%d vertices, sum of distances %ld\n", g.n, sum);
	return 0;
}
