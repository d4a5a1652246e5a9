// ferret: similarity search. A query hashes to a bucket of candidates, which are
// ranked by distance. All threads answer the same number of queries, but those
// about popular images come first and fall into long buckets.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int DIM = 14, BUCKETS = 256, TOP = 4;

struct Image {
	float f[DIM];
	int bucket;
};

struct Hit {
	float dist;
	int image;
};

class Index {
public:
	std::vector<Image> images;
	std::vector<int> bucket[BUCKETS];

	void add(const Image &im)
	{
		bucket[im.bucket].push_back(images.size());
		images.push_back(im);
	}

	// Ranks the candidates of the query's bucket and returns the best distance.
	float search(const Image &q) const
	{
		Hit top[TOP];
		for (Hit &h : top)
			h = {1e30f, -1};
		for (int c : bucket[q.bucket]) { // CAUSE
			float d = distance(q, images[c]);
			if (d < top[TOP - 1].dist)
				insert(top, {d, c});
		}
		return top[0].dist;
	}

private:
	static float distance(const Image &a, const Image &b)
	{
		float s = 0;
		for (int k = 0; k < DIM; k++)
			s += (a.f[k] - b.f[k]) * (a.f[k] - b.f[k]);
		return s;
	}

	static void insert(Hit *top, Hit h)
	{
		int k = TOP - 1;
		while (k > 0 && top[k - 1].dist > h.dist) {
			top[k] = top[k - 1];
			k--;
		}
		top[k] = h;
	}
};

struct Lcg {
	unsigned s;
	float operator()()
	{
		s = s * 1664525 + 1013904223;
		return (s >> 8) / 16777216.0f;
	}
};

// A long serial part: features come from a histogram over the image's pixels.
Image extract(Lcg &rnd, int bucket)
{
	Image im{};
	im.bucket = bucket;
	for (int p = 0; p < 64; p++) {
		float v = rnd();
		im.f[int(v * DIM)] += 1.0f / 64;
	}
	return im;
}

void load(Index &ix, std::vector<Image> &queries, int n)
{
	Lcg rnd{97};
	for (int i = 0; i < n; i++)
		ix.add(extract(rnd, i < n / 2 ? i % 8 : i % BUCKETS));
	int nq = n / 2;
	for (int i = 0; i < nq; i++)
		queries.push_back(extract(rnd, i < nq / 32 ? i % 8 : 8 + i % (BUCKETS - 8)));
}

} // namespace

int main(int argc, char **argv)
{
	int nthreads = argc > 1 ? atoi(argv[1]) : 16;
	Index ix;
	std::vector<Image> queries;
	load(ix, queries, argc > 2 ? 1 << atoi(argv[2]) : 1 << 13);
	std::vector<float> best(queries.size());
	std::vector<std::thread> pool;
	for (int t = 0; t < nthreads; t++)
		pool.emplace_back([&, t] {
			size_t per = queries.size() / nthreads;
			for (size_t i = per * t; i < per * (t + 1); i++)
				best[i] = ix.search(queries[i]);
		});
	for (auto &t : pool)
		t.join(); // END
	double sum = 0;
	for (float b : best)
		sum += b;
	std::printf("%zu queries, %.6f\n", best.size(), sum);
	return 0;
}
