package hook

// The programs that lime attaches to while it is killed say x when they run, then do the same work again and again and look whether it comes to the same, until
// their input ends; they say done and end with status 7.

const victimC = `
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static pthread_barrier_t bar;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop, last;
static volatile long ticks, shared;
static double lanes[4] = {1, 2, 3, 4};
static void on(int s) { ticks++; }
static uint64_t piece(void) { /* integers, vectors, and flags that live across instructions */
	uint64_t h = 1469598103934665603u;
	double a[4], m[4] = {1.0000001, 1.0000002, 1.0000003, 1.0000004};
	for (int i = 0; i < 4; i++) a[i] = lanes[i];
	for (int i = 0; i < 4000; i++) {
		h = (h ^ i) * 1099511628211u + __builtin_popcountl(h);
		for (int k = 0; k < 4; k++) a[k] = a[k] * m[k] + 1e-9;
	}
	for (int i = 0; i < 4; i++) h ^= (uint64_t)(a[i] * 1e12);
	return h;
}
static void *work(void *arg) {
	uint64_t want = *(uint64_t *)arg;
	for (;;) {
		if (piece() != want) { fprintf(stderr, "wrong sum\n"); _exit(3); }
		pthread_mutex_lock(&mu);
		shared++;
		pthread_mutex_unlock(&mu);
		if (pthread_barrier_wait(&bar) == PTHREAD_BARRIER_SERIAL_THREAD) last = stop;
		pthread_barrier_wait(&bar);
		if (last) return arg;
	}
}
static void *nap(void *arg) {
	while (!stop) {
		struct timespec t = {0, 3000000};
		if (nanosleep(&t, 0)) { fprintf(stderr, "sleep: %d\n", errno); _exit(4); }
	}
	return arg;
}
int main(void) {
	static uint64_t want;
	pthread_t t[3];
	char c;
	sigset_t set;
	struct sigaction sa = {.sa_handler = on, .sa_flags = SA_RESTART};
	struct itimerval it = {{0, 2000}, {0, 2000}};
	want = piece();
	sigaction(SIGALRM, &sa, 0);
	pthread_barrier_init(&bar, 0, 2);
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, &want);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, 0);
	pthread_create(&t[2], 0, nap, 0);
	setitimer(ITIMER_REAL, &it, 0);
	if (write(1, "x", 1) != 1) return 1;
	ssize_t n = read(0, &c, 1);
	if (n != 0) { fprintf(stderr, "read: %ld, %d\n", (long)n, errno); return 2; }
	stop = 1;
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	if (shared % 2 != 0) return 5;
	if (write(1, "done", 4) != 4) return 1;
	return 7;
}
`

// All threads wait in system calls: for a time, for input, for each other.
const victimAsleep = `
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile int stop;
static int pipes[2];
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t bar;
static void fail(const char *what, long got) { fprintf(stderr, "%s: %ld, %d\n", what, got, errno); _exit(3); }
static long since(struct timespec *a) {
	struct timespec b;
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (b.tv_sec - a->tv_sec) * 1000000000l + b.tv_nsec - a->tv_nsec;
}
static void *nap(void *arg) {
	while (!stop) {
		struct timespec a, t = {0, 30000000};
		clock_gettime(CLOCK_MONOTONIC, &a);
		int r = nanosleep(&t, 0);
		if (r || since(&a) < 30000000) fail("nanosleep", r);
	}
	return arg;
}
static void *wait_poll(void *arg) {
	while (!stop) { int r = poll(0, 0, 30); if (r) fail("poll", r); }
	return arg;
}
static void *wait_cond(void *arg) {
	while (!stop) {
		struct timespec t;
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += 30000000;
		if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
		pthread_mutex_lock(&mu);
		int r = pthread_cond_timedwait(&cv, &mu, &t);
		pthread_mutex_unlock(&mu);
		if (r != ETIMEDOUT) fail("cond_timedwait", r);
	}
	return arg;
}
static void *wait_pipe(void *arg) {
	char c;
	ssize_t r = read(pipes[0], &c, 1);
	if (r != 1) fail("pipe", r);
	pthread_barrier_wait(&bar);
	return arg;
}
int main(void) {
	void *(*work[])(void *) = {nap, wait_poll, wait_cond, wait_pipe};
	pthread_t t[4];
	char c;
	if (pipe(pipes)) return 1;
	pthread_barrier_init(&bar, 0, 2);
	for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work[i], 0);
	usleep(1000);
	if (write(1, "x", 1) != 1) return 1;
	ssize_t n = read(0, &c, 1);
	if (n != 0) fail("read", n);
	stop = 1;
	if (write(pipes[1], "x", 1) != 1) return 1;
	pthread_barrier_wait(&bar);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	if (write(1, "done", 4) != 4) return 1;
	return 7;
}
`

const victimCPP = `
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
`

const victimGo = `package main

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var stop atomic.Bool

func piece() (h uint64) {
	h = 7
	m := map[uint64]uint64{}
	for i := range uint64(300) {
		m[i] = h
		h = h*31 + i + uint64(float64(h%1000)*1.5)
	}
	for i := range uint64(300) {
		h ^= m[i] << (i % 7)
	}
	return h
}

func main() {
	want := piece()
	var all sync.WaitGroup
	ch := make(chan int)
	for range 4 {
		all.Go(func() {
			for !stop.Load() {
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						if piece() != want {
							os.Exit(3)
						}
					})
				}
				wg.Wait()
				select {
				case ch <- 1:
				case <-ch:
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	os.Stdout.WriteString("x")
	if n, _ := os.Stdin.Read(make([]byte, 1)); n != 0 {
		os.Exit(2)
	}
	stop.Store(true)
	all.Wait()
	os.Stdout.WriteString("done")
	os.Exit(7)
}
`

const victimRust = `
use std::io::{Read, Write};
use std::sync::{atomic::{AtomicBool, Ordering}, Arc, Barrier, Mutex};
static STOP: AtomicBool = AtomicBool::new(false);
fn piece() -> u64 {
    let mut h = 7u64;
    let v: Vec<f64> = (0..300).map(|i| i as f64 * 1.25).collect();
    for (i, x) in v.iter().enumerate() { h = h.wrapping_mul(31).wrapping_add((x.sqrt() * 1e6) as u64 ^ i as u64); }
    h
}
fn main() {
    let want = piece();
    let bar = Arc::new(Barrier::new(3));
    let end = Arc::new(Mutex::new(false));
    let ts: Vec<_> = (0..3).map(|_| { let (bar, end) = (bar.clone(), end.clone()); std::thread::spawn(move || loop {
        if piece() != want { std::process::exit(3); }
        if bar.wait().is_leader() { *end.lock().unwrap() = STOP.load(Ordering::SeqCst); }
        bar.wait();
        if *end.lock().unwrap() { return; }
    })}).collect();
    std::io::stdout().write_all(b"x").unwrap();
    std::io::stdout().flush().unwrap();
    let mut b = [0u8; 1];
    if std::io::stdin().read(&mut b).unwrap() != 0 { std::process::exit(2); }
    STOP.store(true, Ordering::SeqCst);
    for t in ts { t.join().unwrap(); }
    std::io::stdout().write_all(b"done").unwrap();
    std::io::stdout().flush().unwrap();
    std::process::exit(7);
}
`

// victims are the programs, and what builds them.
var victims = []struct {
	name, file, source string
	build              []string // the compiler, its options; all but C only in the long form
}{
	{"C", "v.c", victimC, []string{"gcc", "-O2", "-pthread"}},
	{"asleep", "v.c", victimAsleep, []string{"gcc", "-O2", "-pthread"}},
	{"static C", "v.c", victimC, []string{"gcc", "-O2", "-pthread", "-static"}},
	{"C++", "v.cc", victimCPP, []string{"g++", "-O2", "-pthread"}},
	{"Go", "v.go", victimGo, []string{"go", "build"}},
	{"Rust", "v.rs", victimRust, []string{"rustc", "-O"}},
}
