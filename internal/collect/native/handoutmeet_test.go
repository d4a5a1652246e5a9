package native

import (
	"fmt"
	"testing"

	"lime/internal/profile"
)

// rounds of work between meetings, whose pieces are taken from a counter, or are each thread's own.
const rounds = `
#include <thread>
#include <vector>
#include <atomic>
#include <barrier>
#include <mutex>
#include <condition_variable>
#include <sched.h>
static const int all = %[1]d, pieces = 512 * all;
static std::atomic<int> next, come, round_no;
static volatile double out[64 * 64];
__attribute__((noinline)) static double some(long n) {
	double x = 1;
	for (long i = 0; i < n; i++) x = x * 0.999 + i;
	return x;
}
static std::mutex m;
static std::condition_variable cv;
static int here, turn;
__attribute__((noinline)) void meet_asleep() {
	std::unique_lock<std::mutex> l(m);
	int mine = turn;
	if (++here == all) { here = 0; turn++; next = 0; cv.notify_all(); }
	else cv.wait(l, [&] { return turn != mine; });
}
__attribute__((noinline)) void meet_awake() {
	int mine = round_no;
	if (++come == all) { come = 0; next = 0; round_no = mine + 1; return; }
	while (round_no == mine) sched_yield();
}
static std::barrier bar(all, []() noexcept { next = 0; });
__attribute__((noinline)) void meet_standard() { bar.arrive_and_wait(); }
int main() {
	std::vector<std::thread> ts;
	for (int me = 0; me < all; me++) ts.emplace_back([me] {
		for (int r = 0; r < 10; r++) {
			int n = 0;
			for (int k; (k = %[2]s) < pieces; n++) out[64 * me] = out[64 * me] + some(%[3]s);
			meet_%[4]s();
		}
	});
	for (auto &t : ts) t.join();
}
`

// Of work that goes to whoever comes first no imbalance is told where the threads meet at a barrier of
// the program's own, either, however they wait there; what is dealt out unevenly keeps its own. The
// first round is not known to be one yet, and counts.
func TestHandedOutBetweenMeetings(t *testing.T) {
	needs(t, needSamples, needTracing)
	n := 4 * cores()
	for _, row := range []struct {
		meet, next, work string
		dealt            bool
	}{
		{"asleep", "next++", "2000", true},
		{"awake", "next++", "2000", true},
		{"standard", "next++", "2000", true},
		{"asleep", "me + n * all", "me ? 1000 : 10000", false},
	} {
		t.Run(row.meet+"/"+row.next, func(t *testing.T) {
			source := fmt.Sprintf(rounds, n, row.next, row.work, row.meet)
			p, _ := record(t, Options{Command: []string{buildWith(t, "g++", source, "-x", "c++", "-std=c++20")}})
			var most, mean float64
			for id, s := range p.Tables().Sections {
				for in := range p.Instances(profile.SectionID(id)) {
					if s.Kind == profile.SectionBuilt {
						x, y := longest(in)
						most, mean = most+x, mean+y
					}
				}
			}
			// the longest has half more than the mean at most, or twice as much at least
			if most == 0 || row.dealt && 2*most > 3*mean || !row.dealt && most < 2*mean {
				t.Errorf("the longest parts have %.0f ns in all, the means %.0f", most, mean)
			}
		})
	}
}
