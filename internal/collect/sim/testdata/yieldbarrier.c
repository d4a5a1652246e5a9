#include "common.h"
#include <sched.h>
#include <stdatomic.h>
static atomic_int count, round_;

__attribute__((noinline)) static void barrier(void) {
	int r = atomic_load(&round_);
	if (atomic_fetch_add(&count, 1) == P - 1) {
		atomic_store(&count, 0);
		atomic_fetch_add(&round_, 1);
	} else {
		while (atomic_load(&round_) == r)
			sched_yield();
	}
}

static void *worker(void *arg) {
	for (int k = 0; k < 5; k++) {
		work((long)arg, 10000 + 4000 * (long)arg);
		barrier(); /* END */
	}
	return NULL;
}

int main(void) { return run_all(); }
