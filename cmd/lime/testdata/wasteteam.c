/* Two threads that do the same but for this: in every second part one of them stores all again before anybody has read it. wasteteam PARTS ROUNDS */
#include <pthread.h>
#include <stdlib.h>
enum { N = 4000 };
static volatile long mine[2][N] __attribute__((aligned(4096)));
static volatile long sums[2][8] __attribute__((aligned(64)));
static pthread_barrier_t wall;
static long parts, rounds;
static __attribute__((noinline)) void set(volatile long *a, long v) {
	for (long i = 0; i < N; i++) a[i] = v + i; /* SET */
}
static __attribute__((noinline)) void use(volatile long *a, volatile long *sum) {
	long s = 0;
	for (long i = 0; i < N; i++) s += a[i];
	*sum = s;
}
static void *work(void *arg) {
	long me = (long)arg, v = 0;
	for (long p = 0; p < parts; p++) {
		for (long r = 0; r < rounds / 4; r++) set(mine[me], v++), use(mine[me], sums[me]);
		pthread_barrier_wait(&wall); /* CLEAN */
		for (long r = 0; r < rounds; r++) {
			set(mine[me], v++);
			if (!me) use(mine[me], sums[me]);
		}
		use(mine[me], sums[me]);
		pthread_barrier_wait(&wall); /* WASTEFUL */
	}
	return arg;
}
int main(int argc, char **argv) {
	if (argc != 3) return 2;
	parts = atol(argv[1]), rounds = atol(argv[2]);
	pthread_barrier_init(&wall, 0, 2);
	pthread_t t;
	pthread_create(&t, 0, work, (void *)1);
	work(0);
	pthread_join(t, 0);
	return 0;
}
