#include "common.h"
#include <stdatomic.h>
static _Atomic int flag[2][P][3];

__attribute__((noinline)) static void barrier(int id, int *parity, int *sense) {
	for (int r = 0; r < 3; r++) {
		atomic_store(&flag[*parity][(id + (1 << r)) % P][r], *sense);
		while (atomic_load(&flag[*parity][id][r]) != *sense)
			__builtin_ia32_pause();
	}
	if (*parity)
		*sense = !*sense;
	*parity = 1 - *parity;
}

static void *worker(void *arg) {
	int parity = 0, sense = 1;
	for (int k = 0; k < 6; k++) {
		work((long)arg, 10000 + 4000 * (long)arg);
		barrier((int)(long)arg, &parity, &sense); /* END */
	}
	return NULL;
}

int main(void) { return run_all(); }
