/*
 * dedup: chunks of a new backup are hashed and looked up in the index of the old
 * one; only chunks that are not there are compressed. The first files of the new
 * backup are as they were, the last ones were rewritten. The index is built
 * before the threads start, and only read by them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 512
#define BUCKETS 4096

struct entry {
	uint64_t hash;
	struct entry *next;
};

static int nthreads = 16, nchunks = 4096;
static unsigned char *data;
static struct entry *buckets[BUCKETS], *entries;
static uint64_t *packed;
static pthread_barrier_t bar;

static uint64_t fingerprint(const unsigned char *p)
{
	uint64_t h = 1469598103934665603ULL;
	for (int i = 0; i < CHUNK; i += 4) {
		uint32_t w;
		memcpy(&w, p + i, 4);
		h = (h ^ w) * 1099511628211ULL;
	}
	return h ^ h >> 29;
}

static void remember(uint64_t h, int i)
{
	entries[i].hash = h;
	entries[i].next = buckets[h % BUCKETS];
	buckets[h % BUCKETS] = &entries[i];
}

static const struct entry *lookup(uint64_t h)
{
	const struct entry *e = buckets[h % BUCKETS];
	while (e && e->hash != h)
		e = e->next;
	return e;
}

static void load(void)
{
	unsigned s = 101;
	data = malloc((size_t)nchunks * CHUNK);
	entries = calloc(nchunks, sizeof *entries);
	packed = calloc(nchunks, sizeof *packed);
	for (size_t i = 0; i < (size_t)nchunks * CHUNK; i += 4) {
		s = s * 1664525 + 1013904223;
		for (int k = 0; k < 4; k++)
			data[i + k] = "etaoin shrdlu.\n?"[s >> (8 + 4 * k) & 15];
	}
	for (int i = 0; i < nchunks; i++)
		remember(fingerprint(data + (size_t)i * CHUNK), i);
	/* the last 32nd has been edited since */
	for (int i = nchunks - nchunks / 32; i < nchunks; i++)
		data[(size_t)i * CHUNK + 7] ^= 1;
}

/* Order-0 statistics and a move-to-front pass stand for the compressor. */
static uint64_t compress_chunk(const unsigned char *p)
{
	unsigned char order[16] = {0};
	uint64_t bits = 0;
	for (int i = 0; i < CHUNK; i++) {
		unsigned char c = p[i] & 15, carry = order[0];
		int k = 0;
		for (int j = 1; j < 16; j++) {
			unsigned char t = order[j];
			order[j] = carry;
			k += t == c;
			carry = t;
		}
		order[0] = c;
		bits = bits * 3 + k + c;
	}
	return bits;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int i = nchunks / nthreads * me; i < nchunks / nthreads * (me + 1); i++) {
		const unsigned char *p = data + (size_t)i * CHUNK;
		const struct entry *e = lookup(fingerprint(p));
		if (!e) /* CAUSE */
			packed[i] = compress_chunk(p); /* CAUSE */
	}
	pthread_barrier_wait(&bar); /* END */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	int fresh = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		nchunks = 1 << atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < nchunks; i++)
		fresh += packed[i] != 0;
	printf("%d of %d chunks are new\n", fresh, nchunks);
	return 0;
}
