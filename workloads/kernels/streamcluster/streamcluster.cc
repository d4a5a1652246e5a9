// streamcluster: gain of opening candidate centres. Every thread looks at the
// same number of points; a point that lies nearer to the candidate than to its
// centre is moved, which costs its weighted share in every coordinate. The
// stream is sorted by time and has drifted: the late points move, the early ones
// do not. The barrier is the program's own, of a mutex and a condition.
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <vector>

namespace {

constexpr int DIM = 8;

struct Point {
	float c[DIM], weight, cost;
	int centre;
};

class Barrier {
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	int n = 0, in = 0, gen = 0;

public:
	void size(int k) { n = k; }
	void wait()
	{
		pthread_mutex_lock(&m); // BARRIER
		int mine = gen;
		if (++in == n) {
			in = 0;
			gen++;
			pthread_cond_broadcast(&c); // BARRIER
		} else {
			while (mine == gen) // BARRIER
				pthread_cond_wait(&c, &m); // BARRIER
		}
		pthread_mutex_unlock(&m); // BARRIER
	}
};

int nthreads = 16;
std::vector<Point> points;
std::vector<Point> candidates;
std::vector<double> gain;
Barrier bar;

void load(int n)
{
	// the stream comes as text, one coordinate after another
	unsigned s = 77;
	std::string text;
	char buf[32];
	for (int i = 0; i < n; i++)
		for (int d = 0; d < DIM; d++) {
			s = s * 1664525 + 1013904223;
			double drift = i < n * 7 / 8 ? 0 : 4;
			snprintf(buf, sizeof buf, "%.4f ", drift + (s >> 8) / 16777216.0);
			text += buf;
		}
	const char *p = text.c_str();
	points.resize(n);
	for (Point &q : points) {
		q.cost = 0;
		for (float &x : q.c) {
			x = strtof(p, const_cast<char **>(&p));
			q.cost += (x - 0.5f) * (x - 0.5f);
		}
		q.weight = 1;
		q.centre = 0;
	}
	for (int k = 0; k < 192; k++) {
		Point c{};
		for (int d = 0; d < DIM; d++)
			c.c[d] = 3.8f + 0.06f * ((k + d) % 16);
		candidates.push_back(c);
	}
}

float dist(const Point &a, const Point &b)
{
	float s = 0;
	for (int d = 0; d < DIM; d++)
		s += (a.c[d] - b.c[d]) * (a.c[d] - b.c[d]);
	return s;
}

double move(const Point &p, const Point &x, float d, float share[DIM])
{
	double g = 0;
	for (int round = 0; round < 4; round++)
		for (int k = 0; k < DIM; k++) {
			share[k] = 0.5f * share[k] + p.weight * (p.c[k] - x.c[k]) / (1 + d);
			g += share[k] * share[k];
		}
	return p.weight * (p.cost - d) + 1e-9 * g;
}

double pgain(const Point &x, int lo, int hi)
{
	double g = 0;
	float share[DIM] = {};
	for (int i = lo; i < hi; i++) {
		float d = dist(points[i], x);
		if (d < points[i].cost) // CAUSE
			g += move(points[i], x, d, share); // CAUSE
	}
	return g;
}

void *worker(void *arg)
{
	long me = (long)arg;
	int n = points.size();
	int lo = n / nthreads * me, hi = n / nthreads * (me + 1);
	for (const Point &x : candidates) {
		gain[me * 8] += pgain(x, lo, hi);
		bar.wait(); // END BARRIER
	}
	return nullptr;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc > 1)
		nthreads = atoi(argv[1]);
	load(argc > 2 ? atoi(argv[2]) : 2048);
	gain.assign(nthreads * 8, 0);
	bar.size(nthreads);
	std::vector<pthread_t> t(nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], nullptr, worker, (void *)i);
	worker(nullptr);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], nullptr);
	double sum = 0;
	for (int i = 0; i < nthreads; i++)
		sum += gain[i * 8];
	printf("gain %.3f\n", sum);
	return 0;
}
