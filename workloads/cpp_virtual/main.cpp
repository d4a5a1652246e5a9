// Shapes behind virtual calls; one kind is dear. Threads are joined.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

struct Shape {
	virtual ~Shape() = default;
	virtual double area(double x) const = 0;
};

struct Square : Shape {
	double area(double x) const override { return x * x; }
};

struct Blob : Shape {
	double area(double x) const override {
		double s = 0;
		for (int i = 0; i < 300; i++)
			s += x / (i + 1);
		return s;
	}
};

static double out[1024];

static void measure(const std::vector<std::unique_ptr<Shape>> &all, int id) {
	for (int round = 0; round < 3; round++)
		for (auto &s : all)
			out[id] += s->area(round + 1); // CAUSE
}

int main(int argc, char **argv) {
	int p = argc > 1 ? std::atoi(argv[1]) : 8;
	std::vector<std::vector<std::unique_ptr<Shape>>> work(p);
	for (int id = 0; id < p; id++)
		for (int i = 0; i < 600; i++)
			if (i % 12 < id * 5 % 12)
				work[id].push_back(std::make_unique<Blob>());
			else
				work[id].push_back(std::make_unique<Square>());
	std::vector<std::thread> threads;
	for (int id = 0; id < p; id++)
		threads.emplace_back(measure, std::cref(work[id]), id);
	for (auto &t : threads)
		t.join(); // END
	std::printf("%g\n", out[0]);
}
