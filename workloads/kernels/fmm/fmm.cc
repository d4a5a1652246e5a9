// fmm: near field of an adaptive two-dimensional fast multipole method. A leaf
// holds up to MAXLEAF particles; every thread owns the same number of leaves.
// Leaves of the sparse part hold few particles, those of the dense part many, so
// what differs is how many particle pairs a leaf and its neighbours have.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

struct Particle {
	double x, y, q;
	double phi;
};

struct Leaf {
	std::vector<Particle> p;
	std::complex<double> mp[8];
	std::vector<int> near;
};

struct Lcg {
	unsigned long long s = 7;
	double operator()()
	{
		s = s * 6364136223846793005ULL + 1442695040888963407ULL;
		return double(s >> 33) / 2147483648.0;
	}
};

constexpr int SIDE = 32;
std::vector<Leaf> leaves(SIDE * SIDE);

// Particles per leaf grow with the row: the last rows lie in the dense disc.
void load(int scale)
{
	Lcg rnd;
	for (int j = 0; j < SIDE; j++)
		for (int i = 0; i < SIDE; i++) {
			Leaf &l = leaves[j * SIDE + i];
			int n = scale * (j < 24 ? 4 : 4 + 2 * (j - 23));
			for (int k = 0; k < n; k++)
				l.p.push_back({i + rnd(), j + rnd(), rnd() - 0.5, 0});
			for (int dj = -1; dj <= 1; dj++)
				for (int di = -1; di <= 1; di++) {
					int a = (i + di + SIDE) % SIDE, b = (j + dj + SIDE) % SIDE;
					l.near.push_back(b * SIDE + a);
				}
		}
}

// Moments about the leaf's centre: the upward pass, done by the loader.
void moments()
{
	for (int b = 0; b < SIDE * SIDE; b++) {
		std::complex<double> c(b % SIDE + 0.5, b / SIDE + 0.5);
		for (const Particle &p : leaves[b].p) {
			std::complex<double> z = std::complex<double>(p.x, p.y) - c, w = 1;
			for (auto &m : leaves[b].mp) {
				m += p.q * w;
				w *= z;
			}
		}
	}
}

double direct(Leaf &dst, const Leaf &src)
{
	double sum = 0;
	for (Particle &p : dst.p) { /* CAUSE */
		double phi = 0;
		for (const Particle &s : src.p) { /* CAUSE */
			double dx = p.x - s.x, dy = p.y - s.y;
			phi += s.q / std::sqrt(dx * dx + dy * dy + 1e-6);
		}
		p.phi += phi;
		sum += phi;
	}
	return sum;
}

void near_field(int lo, int hi, double *out)
{
	double sum = 0;
	for (int b = lo; b < hi; b++)
		for (int n : leaves[b].near)
			sum += direct(leaves[b], leaves[n]);
	*out = sum;
}

} // namespace

int main(int argc, char **argv)
{
	int nthreads = argc > 1 ? atoi(argv[1]) : 16;
	load(argc > 2 ? atoi(argv[2]) : 2);
	moments();
	std::vector<double> part(nthreads * 8);
	std::vector<std::thread> pool;
	for (int t = 0; t < nthreads; t++)
		pool.emplace_back(near_field, SIDE * SIDE * t / nthreads,
				  SIDE * SIDE * (t + 1) / nthreads, &part[t * 8]);
	for (auto &t : pool)
		t.join(); // END
	double sum = 0;
	for (int t = 0; t < nthreads; t++)
		sum += part[t * 8];
	std::printf("potential %.6f, first moment %.6f\n", sum, leaves[0].mp[1].real());
	return 0;
}
