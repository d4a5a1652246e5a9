package native

import (
	"testing"

	"lime/internal/profile"
)

// Iterations of which each waits for the whole of the one before.
const chained = `
#include <stdio.h>
static volatile long sink;
int main(void)
{
	#pragma omp parallel num_threads(4)
	#pragma omp for ordered(1) schedule(static, 1)
	for (int row = 0; row < 150; row++) {
		#pragma omp ordered depend(sink: row - 1)
		for (long i = 0; i < 700000; i++)
			sink = sink * 31 + i;
		#pragma omp ordered depend(source)
	}
	return puts("done") < 0;
}
`

// Who waits for an iteration before waits for others' work, at the directive, though no hook tells of
// it and the runtime spins there: that is no work of the runtime's. While one works, the others wait;
// on a machine with fewer cores than threads, for as long as the one gets on.
func TestIterationsBeforeAreOthersWork(t *testing.T) {
	needs(t, needSamples, needTracing)
	for _, row := range []struct {
		cc    string
		least float64 // of the work; three times as much is true
	}{{"gcc", 1}, {"clang", 0}} { // libomp's gives its core away again and again, which is seen in part
		t.Run(row.cc, func(t *testing.T) {
			p, _ := record(t, Options{Command: []string{buildWith(t, row.cc, chained, "-O1", "-fopenmp")}})
			costs, _ := offCosts(p)
			worked := metricSum(p, "time")
			if costs[kindWork] <= row.least*worked || costs[kindLock] > 0.1*worked || costs[profile.KindOffCPU] > 0.1*worked {
				t.Errorf("%.0f ns of work; waits %v", worked, costs)
			}
			if noted(p, "own-spin") {
				t.Error("the runtime's waiting is told as a loop of the program's own")
			}
		})
	}
}
