package native

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// meetings have threads do even work and meet, again and again; it prints their processor time.
const meetings = `
#include <barrier>
#include <ctime>
#include <cstdio>
#include <thread>
#include <vector>
static volatile long sink[64 * 8];
static void work(int me) { for (int i = 0; i < 40000; i++) sink[me * 8] = sink[me * 8] + i; }
int main() {
	const int n = %d;
	std::barrier<> all(n);
	std::vector<std::thread> list;
	for (int me = 0; me < n; me++)
		list.emplace_back([&, me] { for (int r = 0; r < 3000; r++) { work(me); all.arrive_and_wait(); } });
	for (auto &t : list) t.join();
	printf("%%ld\n", (long)(1e9 * clock() / CLOCKS_PER_SEC));
}
`

// TestABarrierThatSpinsIsNoWaitForWork has more threads than cores meet at the barrier of C++'s
// library, whose code is compiled into the program: it spins, and gives its core away, before it
// sleeps. That is the barrier's wait, and none for what others do, of which a tenth of the time was
// told to be one. The run is long enough for what is told before the barrier is known, and for the
// luck of few samples, to be small in it on a quick processor, too.
func TestABarrierThatSpinsIsNoWaitForWork(t *testing.T) {
	needs(t, needSamples, needTracing)
	program := buildWith(t, "g++", fmt.Sprintf(meetings, 4*runtime.NumCPU()), "-x", "c++", "-std=c++20")
	var out strings.Builder
	p, _ := record(t, Options{Command: []string{program}, Stdout: &out})
	var all float64
	if _, err := fmt.Sscan(out.String(), &all); err != nil || all == 0 {
		t.Fatalf("%q: %v", out.String(), err)
	}
	costs, _ := offCosts(p)
	t.Logf("%.3f of the time, %v", costs[kindWork]/all, costs)
	if costs[kindWork] > 0.05*all {
		t.Errorf("%.0f ns of %.0f are waiting for others' work; by kind %v", costs[kindWork], all, costs)
	}
}
