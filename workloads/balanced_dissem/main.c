/* Even sweeps between dissemination barriers: in every round each thread tells one, and hears from one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static double out[1024];
static struct { _Alignas(64) atomic_int flag; } flags[2][10][1024];

__attribute__((noinline)) static void barrier(int id, int *parity, int *sense) {
	for (int k = 0, d = 1; d < P; k++, d *= 2) {
		atomic_store_explicit(&flags[*parity][k][(id + d) % P].flag, *sense, memory_order_release);
		while (atomic_load_explicit(&flags[*parity][k][id].flag, memory_order_acquire) != *sense)
			__builtin_ia32_pause();
	}
	if (*parity)
		*sense = !*sense;
	*parity = !*parity;
}

static void *worker(void *arg) {
	long id = (long)arg;
	int parity = 0, sense = 1;
	double x = id;
	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 3000; i++)
			x = x * 0.999 + i;
		out[id] = x;
		barrier((int)id, &parity, &sense);
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
