#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static volatile int first, second;

static void *other(void *arg) {
	pthread_mutex_lock(&b);
	second = 1;
	while (!first)
		;
	pthread_mutex_lock(&a);
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	pthread_mutex_lock(&a);
	first = 1;
	while (!second)
		;
	pthread_mutex_lock(&b);
	return 0;
}
