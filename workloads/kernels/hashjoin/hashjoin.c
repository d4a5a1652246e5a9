/*
 * hashjoin: probes a chained table built from the smaller relation. The keys of
 * the build side are skewed, so that a few chains are long, and the probe side is
 * clustered by key: the first thread's tuples hit the long chains.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 4096

struct tuple {
	uint32_t key, payload;
	struct tuple *next;
};

static int nthreads = 16, nprobe = 1 << 18, nbuild = 1 << 13;
static struct tuple *build, *bucket[BUCKETS];
static uint32_t *probe;
static uint64_t result[64 * 8];
static pthread_barrier_t bar;

static uint32_t mix(uint32_t k)
{
	k *= 2654435761u;
	return (k ^ k >> 15) % BUCKETS;
}

static void load(void)
{
	uint32_t s = 47;
	build = malloc(nbuild * sizeof *build);
	probe = malloc(nprobe * sizeof *probe);
	for (int i = 0; i < nbuild; i++) {
		s = s * 1664525 + 1013904223;
		build[i].key = i % 8 == 0 ? s >> 26 : 64 + (s >> 8) % 8192;
		build[i].payload = s;
	}
	for (int i = 0; i < nprobe; i++) {
		s = s * 1664525 + 1013904223;
		probe[i] = i < nprobe / 32 ? s >> 26 : 64 + (s >> 8) % 8192;
	}
	for (int i = 0; i < nbuild; i++) {
		struct tuple **b = &bucket[mix(build[i].key)];
		build[i].next = *b;
		*b = &build[i];
	}
}

static uint64_t join_one(uint32_t key)
{
	uint64_t sum = 0;
	for (const struct tuple *e = bucket[mix(key)]; e; e = e->next) { /* CAUSE */
		sum += e->payload & (0u - (e->key == key));
	}
	return sum;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	uint64_t sum = 0;
	int lo = nprobe / nthreads * me, hi = nprobe / nthreads * (me + 1);
	for (int i = lo; i < hi; i++)
		sum += join_one(probe[i]);
	result[me * 8] = sum;
	pthread_barrier_wait(&bar); /* END */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	uint64_t sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		nprobe = 1 << atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < nthreads; i++)
		sum += result[i * 8];
	printf("join %llu\n", (unsigned long long)sum);
	return 0;
}
