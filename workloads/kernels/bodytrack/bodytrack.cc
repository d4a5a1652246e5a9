// bodytrack: annealed particle filter. Particles are sorted by their weight of the
// last frame; the likelihood of a particle adds up edge errors and gives up as
// soon as they are worse than any that could survive. The good particles at the
// front are measured to the end, the others only at a few points.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int POINTS = 256, SIZE = 256, LAYERS = 3;

struct Particle {
	float angle, scale, dx, dy;
	float weight, error;
};

std::vector<float> edge_map(SIZE * SIZE);
std::vector<Particle> particles;

struct Lcg {
	unsigned s = 23;
	float operator()()
	{
		s = s * 1664525 + 1013904223;
		return (s >> 8) / 16777216.0f;
	}
};

// The edge map is blurred many times: the long serial part of a frame.
void make_edges(int blur)
{
	std::vector<float> tmp(SIZE * SIZE);
	for (int y = 0; y < SIZE; y++)
		for (int x = 0; x < SIZE; x++) {
			float r = std::hypot(x - SIZE / 2.0f, y - SIZE / 2.0f);
			edge_map[y * SIZE + x] = std::fabs(r - 60) < 3 ? 1 : 0;
		}
	for (int k = 0; k < blur; k++) {
		for (int i = SIZE + 1; i < SIZE * (SIZE - 1) - 1; i++)
			tmp[i] = 0.2f * (edge_map[i] + edge_map[i - 1] + edge_map[i + 1] +
					 edge_map[i - SIZE] + edge_map[i + SIZE]);
		edge_map.swap(tmp);
	}
}

void load(int n)
{
	Lcg rnd;
	make_edges(12);
	particles.resize(n);
	for (Particle &p : particles) {
		p.angle = 6.28f * rnd();
		p.weight = rnd();
		float off = p.weight > 0.9375f ? 0.5f : 40;
		p.scale = 60;
		p.dx = off * (1 + rnd());
		p.dy = off * (1 + rnd());
		p.error = 0;
	}
	std::sort(particles.begin(), particles.end(),
		  [](const Particle &a, const Particle &b) { return a.weight > b.weight; });
}

float likelihood(const Particle &p, float limit)
{
	float err = 0, c = std::cos(p.angle), s = std::sin(p.angle);
	const float rc = std::cos(6.2831853f / POINTS), rs = std::sin(6.2831853f / POINTS);
	for (int k = 0; k < POINTS; k++) { // CAUSE
		int x = int(SIZE / 2 + p.dx + p.scale * c) & (SIZE - 1);
		int y = int(SIZE / 2 + p.dy + p.scale * s) & (SIZE - 1);
		float d = 1 - edge_map[y * SIZE + x];
		err += d * d;
		if (err > limit) // CAUSE
			return limit; // CAUSE
		float t = c * rc - s * rs;
		s = c * rs + s * rc;
		c = t;
	}
	return err;
}

} // namespace

int main(int argc, char **argv)
{
	int nthreads = argc > 1 ? atoi(argv[1]) : 16;
	load(argc > 2 ? 1 << atoi(argv[2]) : 1 << 13);
	std::barrier step(nthreads);
	auto worker = [&](int me) {
		int n = particles.size();
		int lo = n / nthreads * me, hi = n / nthreads * (me + 1);
		for (int layer = 0; layer < LAYERS; layer++) {
			for (int i = lo; i < hi; i++)
				particles[i].error = likelihood(particles[i], 20);
			step.arrive_and_wait(); // END BARRIER
			for (int i = lo; i < hi; i++)
				particles[i].scale += 0.01f;
			step.arrive_and_wait(); // BARRIER
		}
	};
	std::vector<std::thread> pool;
	for (int t = 0; t < nthreads; t++)
		pool.emplace_back(worker, t);
	for (auto &t : pool)
		t.join();
	double sum = 0;
	for (auto &p : particles)
		sum += p.error;
	std::printf("error %.4f\n", sum);
	return 0;
}
