// Objects of two kinds, of which one takes longer; the last ranks have most of these.
#include <memory>
#include <mpi.h>
#include <vector>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

struct Shape {
	virtual ~Shape() = default;
	virtual void area() const = 0;
};
struct Simple : Shape {
	void area() const override { sink = sink + 1; }
};
struct Spline : Shape {
	void area() const override
	{
		for (int i = 0; i < 2000 * TIMES; i++)
			sink = sink + i;
	}
};

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	std::vector<std::unique_ptr<Shape>> shapes;
	for (int i = 0; i < 40; i++)
		if (i % 8 < 2 * rank)
			shapes.push_back(std::make_unique<Spline>());
		else
			shapes.push_back(std::make_unique<Simple>());
	for (int step = 0; step < 10; step++) {
		for (auto &s : shapes)
			s->area(); // CAUSE
		MPI_Barrier(MPI_COMM_WORLD); // END
	}
	MPI_Finalize();
}
