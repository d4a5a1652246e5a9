// Two threads that take two locks in opposite order.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *p) {
	pthread_mutex_lock(&b);
	usleep(1000);
	pthread_mutex_lock(&a);
	return 0;
}
int main(void) {
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	pthread_mutex_lock(&a);
	usleep(1000);
	pthread_mutex_lock(&b);
	return 0;
}
