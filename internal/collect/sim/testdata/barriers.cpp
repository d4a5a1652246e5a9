// Threads that wait for one another in a loop, by barriers of all kinds: barriers THREADS ROUNDS WORK SPREAD.
// KIND says what the barrier is, FORM how it stands in the program: CALL, a function; INLINE, in the function
// that works; APART, in two functions, as main takes part in a copy of its own, and the barrier is on its stack;
// TWO, in two functions that all threads come to in turn.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <linux/futex.h>
#include <memory>
#include <mutex>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define CALL 0
#define INLINE 1
#define APART 2
#define TWO 3
#if FORM == CALL
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION inline __attribute__((always_inline))
#endif

enum { STD, LATCH, ATOMIC, COND, FUTEX, LOOK, SENSE, EPOCH, TICKETS, YIELDS, TREE, TOURNEY, DISSEM };

static const int most = 32;
static int threads, rounds, work, spread;

static inline void relax() { __builtin_ia32_pause(); }
static inline void sleep_while(std::atomic<int> &word, int value) { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, 0, 0, 0); }
static inline void wake_all(std::atomic<int> &word) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1 << 30, 0, 0, 0); }

struct alignas(64) Flag {
	std::atomic<int> value{0};
};

struct Barrier {
	std::barrier<> library;
	std::vector<std::unique_ptr<std::latch>> latches;
	std::mutex mutex;
	std::condition_variable cond;
	std::atomic<int> arrived{0}, epoch{0};
	Flag flags[8][most], child[most], down[most];
	int count = 0, generation = 0;

	Barrier() : library(threads)
	{
		if (KIND == LATCH)
			for (int r = 0; r < rounds; r++)
				latches.push_back(std::make_unique<std::latch>(threads));
	}

	FUNCTION void wait(int id, int round)
	{
		int now = epoch.load(std::memory_order_relaxed);
		if constexpr (KIND == STD) {
			library.arrive_and_wait();
		} else if constexpr (KIND == LATCH) {
			latches[round]->arrive_and_wait();
		} else if constexpr (KIND == COND) {
			std::unique_lock<std::mutex> lock(mutex);
			int mine = generation;
			if (++count == threads) {
				count = 0, generation++;
				cond.notify_all();
			} else {
				while (mine == generation)
					cond.wait(lock);
			}
		} else if constexpr (KIND == TICKETS) { // counts on, and is never set back
			arrived.fetch_add(1);
			while (arrived.load(std::memory_order_acquire) < (round + 1) * threads)
				relax();
		} else if constexpr (KIND == TREE) { // up a tree of children, down by the parents' flags
			for (int c = 2 * id + 1; c <= 2 * id + 2 && c < threads; c++)
				while (child[c].value.load(std::memory_order_acquire) != round + 1)
					relax();
			child[id].value.store(round + 1, std::memory_order_release);
			if (id > 0)
				while (down[id].value.load(std::memory_order_acquire) != round + 1)
					relax();
			for (int c = 2 * id + 1; c <= 2 * id + 2 && c < threads; c++)
				down[c].value.store(round + 1, std::memory_order_release);
		} else if constexpr (KIND == TOURNEY) { // losers wait for the champion's word
			for (int k = 0, d = 1; d < threads; k++, d *= 2) {
				if (id % (2 * d) != 0) {
					flags[k][id - d].value.store(round + 1, std::memory_order_release);
					while (epoch.load(std::memory_order_acquire) != round + 1)
						relax();
					return;
				}
				if (id + d < threads)
					while (flags[k][id].value.load(std::memory_order_acquire) != round + 1)
						relax();
			}
			epoch.store(round + 1, std::memory_order_release);
		} else if constexpr (KIND == DISSEM) {
			for (int k = 0, d = 1; d < threads; k++, d *= 2) {
				flags[k][(id + d) % threads].value.store(round + 1, std::memory_order_release);
				while (flags[k][id].value.load(std::memory_order_acquire) < round + 1)
					relax();
			}
		} else if (arrived.fetch_add(1) == threads - 1) {
			arrived.store(0);
			epoch.store(now + 1);
			if constexpr (KIND == ATOMIC)
				epoch.notify_all();
			if constexpr (KIND == FUTEX || KIND == LOOK)
				wake_all(epoch);
		} else if constexpr (KIND == ATOMIC) {
			epoch.wait(now);
		} else {
			for (int looks = 0; epoch.load(std::memory_order_acquire) == now; looks++)
				if (KIND == YIELDS)
					sched_yield();
				else if (KIND == FUTEX || KIND == LOOK && looks > 100)
					sleep_while(epoch, now);
				else
					relax();
		}
	}
};

// amount is what a thread does in a round: all the same, a percent apart, many percent apart, one
// of them more than the others, or by chance.
static long amount(int id, int round)
{
	unsigned chance = (id * 7919u + round * 104729u + 12345u) * 2654435761u >> 16;
	switch (spread) {
	case 1:
		return work + work / 100 * id;
	case 2:
		return work + work / 4 * (id % 4);
	case 3:
		return id == round % threads ? 2 * work : work;
	case 4:
		return work / 2 + chance % work;
	}
	return work;
}

__attribute__((noinline)) static void compute(long n)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
}

static inline __attribute__((always_inline)) void step(Barrier &b, int id, int round)
{
	compute(amount(id, round));
	b.wait(id, round); // END
}

__attribute__((noinline)) static void even_step(Barrier &b, int id, int round) { step(b, id, round); }
__attribute__((noinline)) static void odd_step(Barrier &b, int id, int round) { step(b, id, round); __asm__ volatile(""); }

static inline __attribute__((always_inline)) void all_rounds(Barrier &b, int id)
{
	for (int r = 0; r < rounds; r++)
		if (FORM != TWO)
			step(b, id, r);
		else if (r % 2)
			odd_step(b, id, r);
		else
			even_step(b, id, r);
}

int main(int, char **argv)
{
	threads = atoi(argv[1]), rounds = atoi(argv[2]), work = atoi(argv[3]), spread = atoi(argv[4]);
	Barrier b;
	std::vector<std::thread> list;
	for (int id = FORM == APART; id < threads; id++)
		list.emplace_back([&b, id] { all_rounds(b, id); });
	if (FORM == APART)
		all_rounds(b, 0);
	for (auto &t : list)
		t.join();
	puts("done");
}
