/* Two groups of threads with a barrier each; the second group comes later. */
#include "common.h"
static pthread_barrier_t bar[2];

static void *worker(void *arg) {
	long id = (long)arg;
	for (int k = 0; k < 3; k++) {
		work(id, 10000 + 4000 * (int)(id % 4));
		if (id < 4)
			pthread_barrier_wait(&bar[0]); /* END */
		else
			pthread_barrier_wait(&bar[1]); /* END2 */
	}
	return NULL;
}

int main(void) {
	pthread_barrier_init(&bar[0], NULL, 4);
	pthread_barrier_init(&bar[1], NULL, 4);
	return run_all();
}
