/* Threads that come and go in waves, the main thread working beside them. */
#include "common.h"

static void *worker(void *arg) {
	work((long)arg, 10000 + 4000 * (long)arg);
	return NULL;
}

int main(void) {
	for (int wave = 0; wave < 3; wave++) {
		pthread_t t[P];
		for (long i = 1; i < P; i++)
			pthread_create(&t[i], NULL, worker, (void *)i);
		work(0, 20000);
		for (int i = 1; i < P; i++)
			pthread_join(t[i], NULL); /* END */
	}
	return 0;
}
