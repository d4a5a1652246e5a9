// Rows of a sparse matrix in tasks of TBB, 64 rows each; those of the last task are long.
#include <cstdio>
#include <cstdlib>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <vector>

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 8, n = 64 * threads;
	tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
	std::vector<std::vector<double>> rows(n);
	for (int i = 0; i < n; i++)
		rows[i].assign(i >= n - 64 ? 1000 : 100, 1.5);
	std::vector<double> out(n);
	for (int step = 0; step < 3; step++)
		tbb::parallel_for(tbb::blocked_range<int>(0, n, 64), [&](const tbb::blocked_range<int> &r) { // END
			for (int i = r.begin(); i != r.end(); i++) {
				double sum = 0;
				for (double x : rows[i]) // CAUSE
					sum += x * x + sum * .5; // CAUSE
				out[i] = sum;
			}
		}, tbb::simple_partitioner());
	printf("%g\n", out[3]);
}
