// As alone.c, behind templates, closures and containers.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
using namespace std;

static uint64_t step(uint64_t x) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x; }
static uint64_t sink;

__attribute__((noinline)) uint64_t alone(int shape) {
	uint64_t x = 88172645463325252ull, s = 0;
	switch (shape) {
	case 1: {
		vector<uint64_t> v(20000);
		for (auto &e : v)
			e = x = step(x);
		sort(v.begin(), v.end(), [](uint64_t a, uint64_t b) { return a >> 3 < b >> 3; }); // HERE1
		return v[7];
	}
	case 2: { // a closure behind a pointer and a call through it
		auto f = make_shared<function<uint64_t(int)>>([&](int n) {
			uint64_t t = 0;
			for (int i = 0; i < n; i++) // HERE2
				t += x = step(x); // HERE2
			return t;
		});
		for (int k = 0; k < 30; k++)
			s += (*f)(10000); // HERE2
		return s;
	}
	case 3: {
		unordered_map<string, uint64_t> m;
		for (int i = 0; i < 3000; i++) // HERE3
			m[to_string((x = step(x)) % 1000)] += i; // HERE3
		return m.size();
	}
	default: {
		map<uint64_t, string> m;
		for (int i = 0; i < 2500; i++) { // HERE4
			auto k = (x = step(x)) % 500;
			string t = to_string(k) + "-" + to_string(i); // HERE4
			reverse(t.begin(), t.end()); // HERE4
			m[k] = t; // HERE4
			s += m.begin()->second.size();
		}
		return s;
	}
	}
}

static void section() {
	vector<thread> t;
	vector<uint64_t> out(8);
	for (int k = 0; k < 8; k++)
		t.emplace_back([k, &out] {
			uint64_t x = k + 1, s = 0;
			for (int i = 0; i < 30000; i++)
				s += x = step(x);
			out[k] = s;
		});
	for (auto &h : t)
		h.join();
	for (auto o : out)
		sink += o;
}

int main(int argc, char **argv) {
	int place = argc > 2 ? atoi(argv[1]) : 1, shape = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 1; i <= 3; i++) {
		if (i == place)
			sink += alone(shape);
		if (i < 3)
			section();
	}
	printf("%d\n", (int)(sink & 1));
}
