// Threads that take turns, and throw exceptions.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <unistd.h>
static std::mutex mu;
static std::condition_variable cv;
static std::atomic<bool> stop;
static long turn;
static uint64_t piece() {
	uint64_t h = 7;
	std::string s;
	for (int i = 0; i < 300; i++) { s += std::to_string(h % 1000 + i); h = h * 31 + s.size(); }
	for (char c : s) h = (h ^ c) * 1099511628211u;
	return h;
}
int main() {
	uint64_t want = piece();
	std::vector<std::thread> ts;
	for (long id = 0; id < 3; id++) ts.emplace_back([=] {
		for (;;) {
			try { if (piece() != want) _exit(3); throw id; } catch (long x) { if (x != id) _exit(4); }
			std::unique_lock<std::mutex> l(mu);
			cv.wait(l, [&] { return turn % 3 == id || stop; });
			turn++;
			cv.notify_all();
			if (stop) return;
		}
	});
	if (write(1, "x", 1) != 1) return 1;
	char c;
	if (read(0, &c, 1) != 0) return 2;
	stop = true;
	{ std::lock_guard<std::mutex> l(mu); cv.notify_all(); }
	for (auto &t : ts) t.join();
	return write(1, "done", 4) == 4 ? 7 : 1;
}
