// swaptions: Monte-Carlo pricing with a term structure model. The swaptions do
// not divide by the threads: the first ones price one more than the others.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int FACTORS = 3, TENORS = 11, TRIALS = 600;

struct Swaption {
	double strike, years;
	double yield[TENORS];
	double vol[FACTORS][TENORS];
	double mean, err;
};

class Rng {
	unsigned long long s;

public:
	explicit Rng(unsigned long long seed) : s(seed * 2654435761u + 1) {}
	double uniform()
	{
		s = s * 6364136223846793005ULL + 1442695040888963407ULL;
		return (double(s >> 33) + 0.5) / 2147483648.0;
	}
	// sum of four uniforms: the same work for every draw
	double normal()
	{
		return (uniform() + uniform() + uniform() + uniform() - 2) * std::sqrt(3.0);
	}
};

std::vector<Swaption> load(int n)
{
	Rng rnd(5);
	std::vector<Swaption> v(n);
	for (Swaption &s : v) {
		s.strike = 0.02 + 0.06 * rnd.uniform();
		s.years = 5;
		for (int i = 0; i < TENORS; i++) {
			s.yield[i] = 0.03 + 0.002 * i;
			for (int f = 0; f < FACTORS; f++)
				s.vol[f][i] = 0.01 * std::exp(-0.1 * f * i);
		}
	}
	return v;
}

double path(const Swaption &s, Rng &rnd)
{
	double fwd[TENORS];
	for (int i = 0; i < TENORS; i++)
		fwd[i] = s.yield[i];
	for (int t = 1; t < TENORS; t++) {
		double z[FACTORS];
		for (double &x : z)
			x = rnd.normal();
		for (int i = 0; i < TENORS; i++) {
			double shock = 0;
			for (int f = 0; f < FACTORS; f++)
				shock += s.vol[f][i] * z[f];
			fwd[i] += 0.0005 + shock * 0.3;
		}
	}
	double disc = 0, swap = 0;
	for (int i = 0; i < TENORS; i++) {
		disc += fwd[i] * 0.5;
		swap += (fwd[i] - s.strike) * (1 - disc);
	}
	return swap > 0 ? swap : 0;
}

void price(Swaption &s, int seed)
{
	Rng rnd(seed);
	double sum = 0, sq = 0;
	for (int k = 0; k < TRIALS; k++) {
		double p = path(s, rnd);
		sum += p;
		sq += p * p;
	}
	s.mean = sum / TRIALS;
	s.err = std::sqrt(std::fabs(sq / TRIALS - s.mean * s.mean) / TRIALS);
}

void worker(std::vector<Swaption> &all, int me, int nthreads)
{
	int n = all.size();
	for (int i = me; i < n; i += nthreads) /* CAUSE */
		price(all[i], i);
}

} // namespace

int main(int argc, char **argv)
{
	int nthreads = argc > 1 ? atoi(argv[1]) : 16;
	auto all = load(argc > 2 ? atoi(argv[2]) : 43);
	std::vector<std::thread> pool;
	for (int t = 0; t < nthreads; t++)
		pool.emplace_back(worker, std::ref(all), t, nthreads);
	for (auto &t : pool)
		t.join(); // END
	double sum = 0;
	for (auto &s : all)
		sum += s.mean;
	std::printf("%zu swaptions, %.8f\n", all.size(), sum);
	return 0;
}
