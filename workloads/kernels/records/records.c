/*
 * records: looks for a word in one field of '|'-separated records, the same number
 * of records per thread. The comment field, which must be skipped byte by byte to
 * reach the next record's fields, is long in the newest records, which come last.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int nthreads = 16, n = 16384;
static char *text;
static char **line;
static long hits[64 * 8];
static pthread_barrier_t bar;
static const char *words[] = {"cobalt", "zinc", "nickel", "argon", "copper", "neon"};
#define WORDS 6

static void load(void)
{
	static const char *names[] = {"iron", "cobalt", "nickel", "copper", "zinc", "gallium"};
	char noise[4096];
	unsigned s = 5;
	size_t size = 0;
	text = malloc((size_t)n * 1000);
	line = malloc(n * sizeof *line);
	for (int k = 0; k < 4096; k++) {
		s = s * 1664525 + 1013904223;
		noise[k] = 'a' + (s >> 8) % 26;
	}
	for (int i = 0; i < n; i++) {
		line[i] = text + size;
		int comment = i < n - n / 32 ? 60 : 900;
		char *p = line[i] + sprintf(line[i], "%06d|", i);
		s = s * 1664525 + 1013904223;
		memcpy(p, noise + (s >> 22), comment);
		p += comment;
		p += sprintf(p, "|%s|%u\n", names[(s >> 9) % 6], s >> 20);
		size = p - text;
	}
}

static const char *next_field(const char *p)
{
	while (*p != '|') /* CAUSE */
		p++; /* CAUSE */
	return p + 1;
}

static int matches(const char *p, const char *word)
{
	int k = 0;
	while (word[k] && p[k] == word[k])
		k++;
	return word[k] == 0;
}

static long value(const char *p)
{
	long v = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (*p - '0');
	return v;
}

static void *worker(void *arg)
{
	long me = (long)arg, sum = 0;
	for (int w = 0; w < WORDS; w++)
		for (int i = n / nthreads * me; i < n / nthreads * (me + 1); i++) {
			const char *p = next_field(line[i] + 6);
			p = next_field(p);
			if (matches(p, words[w]))
				sum += value(next_field(p));
		}
	hits[me * 8] = sum;
	pthread_barrier_wait(&bar); /* END */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		n = 1 << atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < nthreads; i++)
		sum += hits[i * 8];
	printf("sum %ld\n", sum);
	return 0;
}
