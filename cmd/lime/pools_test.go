package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// poolWork is what a piece of work takes, in C and C++.
const poolWork = `
__attribute__((noinline)) static double some(long n) {
	double x = 1;
	for (long i = 0; i < n; i++) x = x * 0.999 + i;
	return x;
}
`

// condPool is a pool whose threads take numbers; main lets them begin and waits, four times. What main
// does besides stands behind.
const condPool = `
#include <pthread.h>
#include <stdio.h>
` + poolWork + `
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t todo = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int next, jobs, finished, stop;
static double sum;
static void *worker(void *a) {
	pthread_mutex_lock(&m);
	for (;;) {
		while (next == jobs && !stop) pthread_cond_wait(&todo, &m);
		if (next == jobs) break;
		next++;
		pthread_mutex_unlock(&m);
		double r = some(4000000);
		pthread_mutex_lock(&m);
		sum += r;
		if (++finished == jobs) pthread_cond_signal(&done);
	}
	pthread_mutex_unlock(&m);
	return a;
}
int main(void) {
	pthread_t t[4];
	double own = 0;
	for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, 0);
	for (int r = 0; r < 4; r++) {
		pthread_mutex_lock(&m);
		jobs += 12;
		pthread_cond_broadcast(&todo);
		pthread_mutex_unlock(&m);
		/* main's own */
		pthread_mutex_lock(&m);
		while (finished < jobs) pthread_cond_wait(&done, &m);
		pthread_mutex_unlock(&m);
	}
	pthread_mutex_lock(&m);
	stop = 1;
	pthread_cond_broadcast(&todo);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	printf("%g\n", sum + own);
}
`

// fedQueue is a queue of four places that main fills.
const fedQueue = `
#include <pthread.h>
#include <stdio.h>
` + poolWork + `
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t todo = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static long q[4];
static int n, h, stop;
static double sum;
static void *worker(void *a) {
	for (double s = 0;;) {
		pthread_mutex_lock(&m);
		while (!n && !stop) pthread_cond_wait(&todo, &m);
		if (!n) {
			sum += s;
			pthread_mutex_unlock(&m);
			return a;
		}
		long w = q[h];
		h = (h + 1) % 4;
		n--;
		pthread_cond_signal(&room);
		pthread_mutex_unlock(&m);
		s += some(w);
	}
}
int main(void) {
	pthread_t t[4];
	for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, 0);
	for (int r = 0; r < 48; r++) {
		pthread_mutex_lock(&m);
		while (n == 4) pthread_cond_wait(&room, &m);
		q[(h + n) % 4] = 4000000 + r;
		n++;
		pthread_cond_signal(&todo);
		pthread_mutex_unlock(&m);
	}
	pthread_mutex_lock(&m);
	stop = 1;
	pthread_cond_broadcast(&todo);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	printf("%g\n", sum);
}
`

// futurePool is a pool that is given tasks, and main gets their results one after the other.
const futurePool = `
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <vector>
` + poolWork + `
struct Pool {
	std::mutex m;
	std::condition_variable c;
	std::deque<std::packaged_task<double()>> q;
	bool stop = false;
	std::vector<std::thread> ts;
	Pool() { for (int i = 0; i < 4; i++) ts.emplace_back([this] { run(); }); }
	~Pool() {
		{ std::lock_guard<std::mutex> l(m); stop = true; }
		c.notify_all();
		for (auto &t : ts) t.join();
	}
	void run() {
		for (;;) {
			std::packaged_task<double()> t;
			{
				std::unique_lock<std::mutex> l(m);
				c.wait(l, [&] { return stop || !q.empty(); });
				if (q.empty()) return;
				t = std::move(q.front());
				q.pop_front();
			}
			t();
		}
	}
	std::future<double> submit(long n) {
		std::packaged_task<double()> t([n] { return some(n); });
		auto f = t.get_future();
		{ std::lock_guard<std::mutex> l(m); q.push_back(std::move(t)); }
		c.notify_one();
		return f;
	}
};
int main() {
	Pool p;
	double sum = 0;
	std::vector<std::future<double>> f;
	for (int i = 0; i < 48; i++) f.push_back(p.submit(4000000));
	for (auto &x : f) sum += x.get();
	printf("%g\n", sum);
}
`

// asyncs are four threads at a time, whose results main gets.
const asyncs = `
#include <cstdio>
#include <future>
#include <vector>
` + poolWork + `
int main() {
	double sum = 0;
	for (int r = 0; r < 4; r++) {
		std::vector<std::future<double>> f;
		for (int i = 0; i < 4; i++) f.push_back(std::async(std::launch::async, some, 12000000L));
		for (auto &x : f) sum += x.get();
	}
	printf("%g\n", sum);
}
`

// resultChannel are threads that send what they have done through a channel to main.
const resultChannel = `
use std::sync::{atomic::{AtomicUsize, Ordering::Relaxed}, mpsc, Arc};
use std::thread;
#[inline(never)]
fn some(n: u64) -> f64 { let mut x = 1.0; for i in 0..n { x = std::hint::black_box(x * 0.999 + i as f64); } x }
fn main() {
	let (tx, rx) = mpsc::channel();
	let next = Arc::new(AtomicUsize::new(0));
	let mut all = vec![];
	for _ in 0..4 {
		let (tx, next) = (tx.clone(), next.clone());
		all.push(thread::spawn(move || while next.fetch_add(1, Relaxed) < 48 { tx.send(some(4_000_000)).unwrap(); }));
	}
	drop(tx);
	let mut sum = 0.0;
	for r in rx { sum += r; }
	for h in all { h.join().unwrap(); }
	println!("{}", sum);
}
`

// poolCores records a program, and says for how many cores it accounts.
func poolCores(t *testing.T, name, source string) int {
	t.Helper()
	dir := t.TempDir()
	src, prog := filepath.Join(dir, name), filepath.Join(dir, "p")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	compile := map[string][]string{
		".c":   {"gcc", "-O2", "-g", "-pthread", "-o", prog, src},
		".cpp": {"g++", "-std=c++17", "-O2", "-g", "-pthread", "-o", prog, src},
		".rs":  {"rustc", "-A", "warnings", "-O", "-g", "-o", prog, src},
	}[filepath.Ext(name)]
	testenv.Tool(t, compile[0])
	if msg, err := exec.Command(compile[0], compile[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compile[0], err, msg)
	}
	if code, _, stderr := run(t, dir, "", "record", "-o", "p.lime", "--", prog); code != 0 {
		t.Fatalf("lime record: %d: %s", code, stderr)
	}
	_, text, stderr := run(t, dir, "", "report", "--json", "p.lime")
	var r struct {
		Whole struct{ Width int }
		Notes []struct{ Code string }
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	for _, n := range r.Notes {
		switch n.Code {
		case "no-samples":
			testenv.Skip(t, testenv.NoSampling)
		case "no-hooks":
			testenv.Skip(t, testenv.NoTracing)
		}
	}
	return r.Whole.Width
}

// Main that lets a pool's threads begin, feeds their queue, or waits for their results is no core more
// than they; main that works beside them is.
func TestPoolsNeedNoCoreForMain(t *testing.T) {
	for _, row := range []struct {
		name, source string
		cores        int
	}{
		{"conditions.c", condPool, 4},
		{"queue.c", fedQueue, 4},
		{"works.c", strings.Replace(condPool, "/* main's own */", "own += some(14000000);", 1), 5},
	} {
		if got := poolCores(t, row.name, row.source); got != row.cores {
			t.Errorf("%s: %d cores, want %d", row.name, got, row.cores)
		}
	}
}

// The same of results that main gets from futures, and from a channel.
func TestResultsNeedNoCoreForMain(t *testing.T) {
	for _, row := range []struct{ name, source string }{{"pool.cpp", futurePool}, {"async.cpp", asyncs}, {"channel.rs", resultChannel}} {
		if got := poolCores(t, row.name, row.source); got != 4 {
			t.Errorf("%s: %d cores, want 4", row.name, got)
		}
	}
}
