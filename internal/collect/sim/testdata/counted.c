/* Loops that only count, up to a number in memory: work, and no spinning. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int P; static int n[64]; static pthread_barrier_t bar;
struct arg { int id; int n; } args[64];
static void *worker(void *a) {
	struct arg *w = a;
	for (int r = 0; r < 3; r++) {
		for (volatile int i = 0; i < w->n; i++)
			;
		for (int i = 0; i < w->n; i++)
			__asm__ volatile("");
		for (int i = n[w->id]; i > 0; i--)
			__asm__ volatile("nop");
		long slot, other = 3; /* the counter is kept on the stack while its register is used for something else */
		__asm__ volatile("xor %%ecx, %%ecx\n"
			"1: inc %%rcx\n mov %%rcx, %0\n mov %1, %%rcx\n jmp 2f\n"
			"2: mov %0, %%rcx\n cmp %2, %%ecx\n jl 1b" : "=m"(slot) : "m"(other), "m"(n[w->id]) : "rcx", "cc", "memory");
		pthread_barrier_wait(&bar); /* END */
	}
	return 0;
}
int main(int c, char **v) {
	P = atoi(v[1]);
	pthread_barrier_init(&bar, 0, P);
	pthread_t t[64];
	for (int i = 0; i < P; i++) { n[i] = args[i].n = 20000 + i * 20000; args[i].id = i; pthread_create(&t[i], 0, worker, &args[i]); }
	for (int i = 0; i < P; i++) pthread_join(t[i], 0);
}
