// usage: hot THREADS STACK BUFFER ARENA ROUNDS (sizes in KB)
// Threads of a given stack size, each of which uses a buffer on its stack and one in its arena again and again. Together they fit
// into its core's second-level cache by far, so that it is the same where they lie.
#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t bar;
static size_t on_stack, in_arena;
static int rounds;

static void *work(void *arg)
{
	volatile char *s = __builtin_alloca(on_stack), *h = malloc(in_arena);
	for (int r = 0; r < rounds; r++) {
		for (size_t i = 0; i < on_stack; i += 64)
			s[i]++;
		for (size_t i = 0; i < in_arena; i += 64)
			h[i]++;
		if (r == 0)
			pthread_barrier_wait(&bar);
	}
	pthread_barrier_wait(&bar);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[256];
	pthread_attr_t a;
	int n = atoi(argv[1]);
	on_stack = atol(argv[3]) << 10, in_arena = atol(argv[4]) << 10, rounds = atoi(argv[5]);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, atol(argv[2]) << 10);
	pthread_barrier_init(&bar, 0, n);
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], &a, work, 0);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
}
