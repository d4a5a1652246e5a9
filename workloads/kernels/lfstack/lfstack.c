/*
 * lfstack: tickets on a lock-free stack that all threads push to and pop from
 * between equal pieces of private work. A retry of the compare and swap is rare;
 * nobody waits for anybody. Balanced.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES 4096
#define WORK 400

struct node {
	uint32_t next;
	uint32_t value;
};

/* The head holds a generation in its upper half against reuse (ABA). */
static _Atomic uint64_t head;
static struct node nodes[NODES + 1];
static int nthreads = 16, rounds = 32768;
static uint64_t sums[64 * 8];
static int misses[64 * 8];

static void push(uint32_t i, int *missed)
{
	uint64_t old = atomic_load_explicit(&head, memory_order_relaxed), want;
	for (;;) {
		nodes[i].next = (uint32_t)old;
		want = ((old >> 32) + 1) << 32 | i;
		if (atomic_compare_exchange_weak(&head, &old, want))
			return;
		++*missed;
	}
}

static uint32_t pop(int *missed)
{
	uint64_t old = atomic_load(&head), want;
	do {
		uint32_t i = (uint32_t)old;
		if (!i)
			return 0;
		want = ((old >> 32) + 1) << 32 | nodes[i].next;
		if (atomic_compare_exchange_weak(&head, &old, want))
			return i;
		++*missed;
	} while (1);
}

static void load(void)
{
	int missed = 0;
	for (uint32_t i = 1; i <= NODES; i++) {
		nodes[i].value = i * 2654435761u;
		push(i, &missed);
	}
}

static uint64_t work(uint32_t v)
{
	uint64_t h = v;
	for (int k = 0; k < WORK; k++)
		h = h * 6364136223846793005ULL + (h >> 31);
	return h;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	uint64_t sum = 0;
	for (int r = 0; r < rounds / nthreads; r++) {
		uint32_t i = pop(&misses[me * 8]);
		if (!i)
			continue;
		sum += work(nodes[i].value);
		push(i, &misses[me * 8]);
	}
	sums[me * 8] = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	uint64_t sum = 0;
	int missed = 0, left = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	load();
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int i = 0; i < nthreads; i++) {
		missed += misses[i * 8];
		sum ^= sums[i * 8];
	}
	int none = 0;
	while (pop(&none))
		left++;
	printf("%d tickets left\n", left);
	fprintf(stderr, "%d retries, %llx\n", missed, (unsigned long long)sum);
	return 0;
}
