/* Barriers of flags: a tournament (TREE), or arrival in a tree of four and departure in one of two. */
#include "common.h"
#include <stdatomic.h>

enum { ROUNDS = 8 };

#ifdef TREE
static struct { _Alignas(64) atomic_int flag; } up[4][P], down[P];

__attribute__((noinline)) static void barrier(int id, int sense) {
	int k = 0, d = 1;
	for (; d < P; k++, d *= 2) {
		if (id & d) {
			atomic_store_explicit(&up[k][id - d].flag, sense, memory_order_release);
			while (atomic_load_explicit(&down[id].flag, memory_order_acquire) != sense)
				;
			break;
		}
		while (atomic_load_explicit(&up[k][id].flag, memory_order_acquire) != sense)
			;
	}
	for (d /= 2; d > 0; d /= 2)
		atomic_store_explicit(&down[id + d].flag, sense, memory_order_release);
}
#else
static struct { _Alignas(64) atomic_char child[4]; atomic_int go; } node[P];

__attribute__((noinline)) static void barrier(int id, int sense) {
	for (int i = 0; i < 4; i++)
		if (4 * id + i + 1 < P)
			while (atomic_load_explicit(&node[id].child[i], memory_order_acquire) != sense)
				;
	if (id > 0) {
		atomic_store_explicit(&node[(id - 1) / 4].child[(id - 1) % 4], sense, memory_order_release);
		while (atomic_load_explicit(&node[id].go, memory_order_acquire) != sense)
			;
	}
	for (int i = 1; i <= 2; i++)
		if (2 * id + i < P)
			atomic_store_explicit(&node[2 * id + i].go, sense, memory_order_release);
}
#endif

static void *worker(void *arg) {
	long id = (long)arg;
	for (int sense = 1; sense <= ROUNDS; sense++) {
		work(id, WORK);
		barrier((int)id, sense); /* END */
	}
	return NULL;
}

int main(void) { return run_all(); }
