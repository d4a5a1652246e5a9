// Threads that work with something of which a few of them at a time have one, made in many ways, and
// without it: holders KIND THREADS HOLDERS ROUNDS WITH WITHOUT. Prints how often one had it.
#include <atomic>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/futex.h>
#include <mutex>
#include <semaphore.h>
#include <semaphore>
#include <sys/syscall.h>
#include <thread>
#include <threads.h>
#include <unistd.h>
#include <vector>

#define INLINE inline __attribute__((always_inline))

static INLINE void futex(std::atomic<int> &word, int op, int value)
{
	syscall(SYS_futex, &word, op | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

struct Semaphore {
	std::counting_semaphore<64> s;
	explicit Semaphore(int n) : s(n) {}
	INLINE void get() { s.acquire(); }
	INLINE void put() { s.release(); }
};

struct Binary {
	std::binary_semaphore s;
	explicit Binary(int n) : s(n) {}
	INLINE void get() { s.acquire(); }
	INLINE void put() { s.release(); }
};

struct Posix {
	sem_t s;
	explicit Posix(int n) { sem_init(&s, 0, n); }
	INLINE void get() { sem_wait(&s); }
	INLINE void put() { sem_post(&s); }
};

struct Waits { // std::atomic's own wait
	std::atomic<int> left;
	explicit Waits(int n) : left(n) {}
	INLINE void get()
	{
		for (int n = left.load();;)
			if (n == 0) {
				left.wait(0);
				n = left.load();
			} else if (left.compare_exchange_weak(n, n - 1))
				return;
	}
	INLINE void put()
	{
		left.fetch_add(1);
		left.notify_one();
	}
};

struct Word { // the same by hand
	std::atomic<int> left;
	explicit Word(int n) : left(n) {}
	INLINE void get()
	{
		for (int n = left.load();;)
			if (n == 0) {
				futex(left, FUTEX_WAIT, 0);
				n = left.load();
			} else if (left.compare_exchange_weak(n, n - 1))
				return;
	}
	INLINE void put()
	{
		left.fetch_add(1);
		futex(left, FUTEX_WAKE, 1);
	}
};

struct Events { // whoever waits is told of each event, and looks
	std::atomic<int> left, events{0};
	explicit Events(int n) : left(n) {}
	INLINE bool take()
	{
		int n = left.load();
		while (n > 0)
			if (left.compare_exchange_weak(n, n - 1))
				return true;
		return false;
	}
	INLINE void get()
	{
		while (!take()) {
			int seen = events.load();
			if (take())
				return;
			futex(events, FUTEX_WAIT, seen);
		}
	}
	INLINE void put()
	{
		left.fetch_add(1);
		events.fetch_add(1);
		futex(events, FUTEX_WAKE, INT_MAX);
	}
};

struct Three { // free, held, held and waited for
	std::atomic<int> state{0};
	explicit Three(int) {}
	INLINE void get()
	{
		int c = 0;
		if (state.compare_exchange_strong(c, 1))
			return;
		while (state.exchange(2) != 0)
			futex(state, FUTEX_WAIT, 2);
	}
	INLINE void put()
	{
		if (state.exchange(0) == 2)
			futex(state, FUTEX_WAKE, 1);
	}
};

struct Condition {
	std::mutex m;
	std::condition_variable c;
	int left;
	explicit Condition(int n) : left(n) {}
	INLINE void get()
	{
		std::unique_lock<std::mutex> l(m);
		while (left == 0)
			c.wait(l);
		left--;
	}
	INLINE void put()
	{
		std::lock_guard<std::mutex> l(m);
		left++;
		c.notify_one();
	}
};

struct C11 {
	mtx_t m;
	cnd_t c;
	int left;
	explicit C11(int n) : left(n)
	{
		mtx_init(&m, mtx_plain);
		cnd_init(&c);
	}
	INLINE void get()
	{
		mtx_lock(&m);
		while (left == 0)
			cnd_wait(&c, &m);
		left--;
		mtx_unlock(&m);
	}
	INLINE void put()
	{
		mtx_lock(&m);
		left++;
		mtx_unlock(&m);
		cnd_signal(&c);
	}
};

static unsigned work(unsigned x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}

template <class T> static int all(char **argv)
{
	int threads = atoi(argv[2]), rounds = atoi(argv[4]), with = atoi(argv[5]), without = atoi(argv[6]);
	T shared(atoi(argv[3]));
	std::atomic<unsigned> sum{0};
	std::atomic<int> had{0};
	std::vector<std::thread> list;
	for (int t = 0; t < threads; t++)
		list.emplace_back([&, t] {
			unsigned x = t;
			for (int r = 0; r < rounds; r++) {
				shared.get(); // HERE
				x = work(x, with);
				shared.put();
				x = work(x, without);
				had++;
			}
			sum += x;
		});
	for (auto &t : list)
		t.join();
	printf("%d\n", had.load());
	return sum == 1;
}

int main(int, char **argv)
{
	struct {
		const char *name;
		int (*run)(char **);
	} kinds[] = {{"semaphore", all<Semaphore>}, {"binary", all<Binary>}, {"posix", all<Posix>}, {"waits", all<Waits>}, {"word", all<Word>},
		{"events", all<Events>}, {"three", all<Three>}, {"condition", all<Condition>}, {"c11", all<C11>}};
	for (auto &k : kinds)
		if (!strcmp(argv[1], k.name))
			return k.run(argv);
	return 2;
}
