#include "common.h"
static volatile int sense;
static int count;

__attribute__((noinline)) static void barrier(int *mine) {
	*mine = !*mine;
	if (__sync_add_and_fetch(&count, 1) == P) {
		count = 0;
		__sync_synchronize();
		sense = *mine;
	} else {
		while (sense != *mine)
			;
	}
}

static void *worker(void *arg) {
	int mine = 0;
	for (int k = 0; k < 5; k++) {
		work((long)arg, 10000 + 4000 * (long)arg);
		barrier(&mine); /* END */
		work((long)arg, 5000);
		barrier(&mine); /* END2 */
	}
	return NULL;
}

int main(void) { return run_all(); }
