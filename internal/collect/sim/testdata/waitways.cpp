// One thread works for long and then lets the others go, which wait for it meanwhile in the way
// that the first argument names; the second one is how many threads there are.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

static const long all = 8000000, little = 100000;
static std::atomic<long> sum;

__attribute__((noinline)) static long work(long n) {
	long x = 1;
	for (long i = 0; i < n / 4; i++) {
		x = x * 31 + i;
		__asm__ volatile("" : "+r"(x));
	}
	sum += x & 1;
	return x;
}

static std::once_flag once;
static std::mutex mutex;
static std::shared_mutex shared;
static std::condition_variable cond;
static bool ready;
static std::latch latch(1);
static std::atomic<int> flag, holds;
static std::counting_semaphore<64> permits(0);
static std::promise<long> promise;
static std::shared_future<long> future = promise.get_future().share();

static void signal_ready() {
	std::lock_guard<std::mutex> l(mutex);
	ready = true;
	cond.notify_all();
}
static long table() {
	static long made = work(all);
	return made;
}
static void await_flag() {
	while (!flag) std::this_thread::yield();
}

// meet is what thread me does: it works first and lets the others go, or waits.
static void meet(const std::string &way, int me, int n) {
	bool first = me == 0;
	if (way == "call_once") {
		std::call_once(once, work, all);
	} else if (way == "static local") {
		table();
	} else if (way == "condition") {
		if (first) return work(all), signal_ready();
		std::unique_lock<std::mutex> l(mutex);
		cond.wait(l, [] { return ready; });
	} else if (way == "condition with a timeout") {
		if (first) return work(all), signal_ready();
		std::unique_lock<std::mutex> l(mutex);
		while (!ready) cond.wait_for(l, std::chrono::milliseconds(2));
	} else if (way == "latch") {
		if (first) return work(all), latch.count_down();
		latch.wait();
	} else if (way == "atomic wait") {
		if (first) return work(all), flag = 1, flag.notify_all();
		flag.wait(0);
	} else if (way == "semaphore") {
		if (first) return work(all), permits.release(n - 1);
		permits.acquire();
	} else if (way == "future") {
		if (first) return promise.set_value(work(all));
		future.get();
	} else if (way == "async in a closure") {
		if (first) work(all);
		else [] { std::async(std::launch::async, [] { future.get(); }).get(); }();
		if (first) promise.set_value(1);
	} else if (way == "mutex") {
		if (!first) await_flag();
		std::lock_guard<std::mutex> l(mutex);
		if (first) flag = 1, work(all);
	} else if (way == "shared mutex") {
		if (!first) {
			await_flag();
			std::shared_lock<std::shared_mutex> l(shared);
			return;
		}
		std::lock_guard<std::shared_mutex> l(shared);
		flag = 1, work(all);
	} else if (way == "yields") {
		if (first) return work(all), (void)(flag = 1);
		await_flag();
	}
}

int main(int, char **argv) {
	int n = atoi(argv[2]);
	std::vector<std::thread> threads;
	for (int i = 0; i < n; i++)
		threads.emplace_back([=] {
			meet(argv[1], i, n);
			work(little);
		});
	for (auto &t : threads) t.join();
	return puts("done") < 0;
}
