// Threads that make, ask and drop objects of several classes: virtual calls, maps, strings, the allocator.
//     objects [THREADS] [ROUNDS]
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};
struct Square : Shape {
	double a;
	explicit Square(double a) : a(a) {}
	double area() const override { return a * a; }
};
struct Ring : Shape {
	double r, inner;
	Ring(double r, double inner) : r(r), inner(inner) {}
	double area() const override { return 3.14159 * (r * r - inner * inner); }
};
struct Group : Shape {
	std::vector<std::unique_ptr<Shape>> parts;
	double area() const override {
		double sum = 0;
		for (auto &p : parts)
			sum += p->area();
		return sum;
	}
};

static double work(int id, int rounds) {
	std::map<std::string, double> by;
	for (int r = 0; r < rounds; r++) {
		Group g;
		for (int i = 0; i < 40; i++)
			if ((i + r + id) % 3)
				g.parts.push_back(std::make_unique<Square>(i));
			else
				g.parts.push_back(std::make_unique<Ring>(i, i / 2.0));
		by["shape " + std::to_string(r % 97)] += g.area();
	}
	double sum = 0;
	for (auto &[name, area] : by)
		sum += area + name.size();
	return sum;
}

int main(int argc, char **argv) {
	int threads = argc > 1 ? std::atoi(argv[1]) : 2, rounds = argc > 2 ? std::atoi(argv[2]) : 40000;
	std::vector<std::thread> all;
	std::vector<double> sums(threads);
	for (int i = 0; i < threads; i++)
		all.emplace_back([&, i] { sums[i] = work(i, rounds); });
	double sum = 0;
	for (int i = 0; i < threads; i++) {
		all[i].join();
		sum += sums[i];
	}
	std::printf("%g\n", sum);
}
