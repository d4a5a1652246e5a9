#include "common.h"
#include <semaphore.h>
static sem_t m, turn;
static int count;

__attribute__((noinline)) static void barrier(void) {
	sem_wait(&m);
	if (++count == P) {
		count = 0;
		for (int i = 0; i < P - 1; i++)
			sem_post(&turn);
		sem_post(&m);
	} else {
		sem_post(&m);
		sem_wait(&turn);
	}
}

static void *worker(void *arg) {
	for (int k = 0; k < 4; k++) {
		work((long)arg, 10000 + 4000 * (long)arg);
		barrier(); /* END */
	}
	return NULL;
}

int main(void) {
	sem_init(&m, 0, 1);
	sem_init(&turn, 0, 0);
	return run_all();
}
