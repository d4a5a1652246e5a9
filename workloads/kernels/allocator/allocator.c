/*
 * allocator: allocates and frees objects in the pattern of an allocator benchmark,
 * all threads the same pattern on objects of their own, from pools of their own
 * that were filled before. Free lists are chased until a big enough block comes;
 * the search ends at a sentinel. Balanced.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJS 128
#define BLOCKS 256

struct block {
	size_t size;
	struct block *next;
	unsigned char data[];
};

struct pool {
	struct block *free, sentinel;
	struct block *live[OBJS];
	unsigned seed;
	long steps, fails;
	char pad[64];
};

static int nthreads = 16, rounds = 16384;
static struct pool *pools;

static unsigned rnd(struct pool *p)
{
	p->seed = p->seed * 1664525 + 1013904223;
	return p->seed >> 8;
}

static void fill(struct pool *p)
{
	p->seed = 4711;
	p->sentinel.size = (size_t)-1;
	p->sentinel.next = NULL;
	p->free = &p->sentinel;
	for (int i = 0; i < BLOCKS; i++) {
		size_t size = 16 + rnd(p) % 240;
		struct block *b = malloc(sizeof *b + size);
		b->size = size;
		b->next = p->free;
		p->free = b;
	}
}

static void load(void)
{
	pools = calloc(nthreads, sizeof *pools);
	for (int t = 0; t < nthreads; t++)
		fill(&pools[t]);
}

static struct block *take(struct pool *p, size_t size)
{
	struct block **link = &p->free;
	while ((*link)->size < size) {
		link = &(*link)->next;
		p->steps++;
	}
	struct block *b = *link;
	if (b == &p->sentinel) {
		p->fails++;
		return NULL;
	}
	*link = b->next;
	return b;
}

static void give(struct pool *p, struct block *b)
{
	b->next = p->free;
	p->free = b;
}

static void *worker(void *arg)
{
	struct pool *p = arg;
	for (int r = 0; r < rounds / nthreads; r++) {
		int k = rnd(p) % OBJS;
		if (p->live[k]) {
			give(p, p->live[k]);
			p->live[k] = NULL;
		}
		size_t size = 16 + rnd(p) % 200;
		struct block *b = take(p, size);
		if (b)
			memset(b->data, r, size);
		p->live[k] = b;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long steps = 0, fails = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	else
		rounds *= 16;
	load();
	for (int i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, &pools[i]);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int i = 0; i < nthreads; i++) {
		steps += pools[i].steps;
		fails += pools[i].fails;
	}
	printf("%ld steps, %ld fails\n", steps, fails);
	return 0;
}
