// As given.rs, behind std::function, std::thread and std::invoke.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>
using namespace std;

static uint64_t step(uint64_t x) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x; }
__attribute__((noinline)) static uint64_t busy(uint64_t x, int n) {
	for (int i = 0; i < n; i++)
		x = step(x);
	return x;
}

struct Worker {
	uint64_t out = 0;
	void few(int n) { out = busy(3, n); }
	void many(int n) { out = busy(5, 7 * n); } // HERE2
};

int main(int argc, char **argv) {
	int shape = argc > 2 ? atoi(argv[2]) : 1;
	vector<thread> t;
	vector<uint64_t> out(8);
	vector<Worker> w(8);
	switch (shape) {
	case 1: // three threads, each with a closure of its own
		t.emplace_back([&] { out[0] = busy(1, 9000); });
		t.emplace_back([&] { out[1] = busy(2, 90000); }); // HERE1
		t.emplace_back([&] { out[2] = busy(3, 9000); });
		break;
	case 2: // members through std::invoke
		for (int k = 0; k < 8; k++)
			t.emplace_back(k == 5 ? &Worker::many : &Worker::few, &w[k], 9000);
		break;
	default: { // functions in shared pointers
		auto few = make_shared<function<void(int)>>([&](int k) { out[k] = busy(k, 9000); });
		auto many = make_shared<function<void(int)>>([&](int k) { out[k] = busy(k, 90000); }); // HERE3
		for (int k = 0; k < 8; k++) {
			auto f = k == 2 ? many : few;
			t.emplace_back([f, k] { (*f)(k); }); // HERE3
		}
	}
	}
	for (auto &h : t)
		h.join();
	uint64_t s = 0;
	for (auto o : out)
		s ^= o;
	for (auto &x : w)
		s ^= x.out;
	printf("%d\n", (int)(s & 1));
}
