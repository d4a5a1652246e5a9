package native

import (
	"fmt"
	"testing"

	"lime/internal/profile"
)

// rounds of work between meetings, whose pieces are taken from a counter, or are each thread's own: how
// they meet, who does which piece, and how long one takes is told by the arguments.
const rounds = `
#include <climits>
#include <cstdlib>
#include <thread>
#include <vector>
#include <atomic>
#include <barrier>
#include <mutex>
#include <condition_variable>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
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
// All but the last sleep in the first round, and give their cores away in all others. Not even a hook
// sees when they come: the loop has a variable on the stack.
__attribute__((noinline)) void meet_yielding() {
	volatile int mine = round_no;
	if (++come == all) {
		come = 0; next = 0; round_no = mine + 1;
		syscall(SYS_futex, &round_no, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
		return;
	}
	if (mine == 0) syscall(SYS_futex, &round_no, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	while (round_no == mine) { __builtin_ia32_pause(); sched_yield(); }
}
static std::barrier bar(all, []() noexcept { next = 0; });
__attribute__((noinline)) void meet_standard() { bar.arrive_and_wait(); }
int main(int, char **arg) {
	char how = arg[1][0];
	bool shared = arg[2][0] == 's', moves = arg[2][0] == 'm';
	long most = atol(arg[3]), least = atol(arg[4]);
	std::vector<std::thread> ts;
	for (int me = 0; me < all; me++) ts.emplace_back([=] {
		for (int r = 0; r < 10; r++) {
			int n = 0;
			for (int k; (k = shared ? (int)next++ : me + n * all) < pieces; n++)
				out[64 * me] = out[64 * me] + some(shared || me == (moves ? r %% all : 0) ? most : least);
			switch (how) {
			case 'a': meet_asleep(); break;
			case 'w': meet_awake(); break;
			case 'y': meet_yielding(); break;
			default: meet_standard();
			}
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
	prog := buildWith(t, "g++", fmt.Sprintf(rounds, n), "-x", "c++", "-std=c++20")
	for _, row := range []struct {
		meet, whose, most, least string
		dealt                    bool
	}{
		{"asleep", "shared", "2000", "", true},
		{"waking", "shared", "2000", "", true},
		{"standard", "shared", "2000", "", true},
		{"yielding", "shared", "2000", "", true},
		{"asleep", "own", "10000", "1000", false},
		{"yielding", "moves", "10000", "100", false},
	} {
		t.Run(row.meet+"/"+row.whose, func(t *testing.T) {
			p, _ := record(t, Options{Command: []string{prog, row.meet, row.whose, row.most, row.least}})
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
