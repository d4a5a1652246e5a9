/* Readers who wait for a writer, all at once, have come to no barrier. */
#include "common.h"
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t bar;

static void *worker(void *arg) {
	for (int k = 0; k < 12; k++) {
		if (arg == NULL) {
			pthread_rwlock_wrlock(&lock);
			work(0, 30000);
		} else {
			pthread_rwlock_rdlock(&lock); /* END2 */
			work((long)arg, 1000);
		}
		pthread_rwlock_unlock(&lock);
		if (k % 4 == 3)
			pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(void) {
	pthread_barrier_init(&bar, NULL, P);
	return run_all();
}
