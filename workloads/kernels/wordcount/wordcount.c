/*
 * wordcount: splits log lines at bytes, looks the words up in an open-addressed
 * table, all of it in loops that end at a sentinel and test a limit that never
 * changes. Every line has the same words in another order: balanced.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 32
#define SLOTS 128

struct slot {
	char word[12];
	int id;
};

struct limits {
	int cancel, maxlen;
};

static int nthreads = 16, nlines = 4096;
static char *text;
static size_t stride;
static struct slot table[SLOTS];
static long count[64][WORDS];
static struct limits limits = {0, 4096};
static int failed[64];

static uint32_t hash(const char *w, int len)
{
	uint32_t h = 2166136261u;
	for (int k = 0; k < len; k++)
		h = (h ^ (unsigned char)w[k]) * 16777619u;
	return h ^ h >> 15;
}

static void load(void)
{
	char words[WORDS][12];
	unsigned s = 1;
	for (int i = 0; i < WORDS; i++) {
		int len = 4 + i % 5;
		for (int k = 0; k < len; k++) {
			s = s * 1664525 + 1013904223;
			words[i][k] = 'a' + (s >> 10) % 26;
		}
		words[i][len] = 0;
		unsigned at = hash(words[i], len) % SLOTS;
		while (table[at].word[0])
			at = (at + 1) % SLOTS;
		strcpy(table[at].word, words[i]);
		table[at].id = i;
	}
	stride = WORDS * 10 + 2;
	text = calloc(nlines, stride);
	for (int l = 0; l < nlines; l++) {
		char *p = text + l * stride;
		int start = (s >> 8) % WORDS;
		s = s * 1664525 + 1013904223;
		for (int i = 0; i < WORDS; i++) {
			p = stpcpy(p, words[(start + 5 * i) % WORDS]);
			*p++ = '|';
		}
		*p = '\n';
	}
}

static int find(const char *w, int len)
{
	uint32_t at = hash(w, len) % SLOTS;
	while (table[at].word[0]) {
		if (memcmp(table[at].word, w, len) == 0 && table[at].word[len] == 0)
			return table[at].id;
		at = (at + 1) % SLOTS;
	}
	return -1;
}

static int split(const char *line, long *mine)
{
	while (*line != '\n') {
		int len = 0;
		while (len < limits.maxlen && line[len] != '|') {
			if (limits.cancel)
				return -1;
			len++;
		}
		int id = find(line, len);
		if (id >= 0)
			mine[id]++;
		line += len + 1;
	}
	return 0;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int l = nlines / nthreads * me; l < nlines / nthreads * (me + 1); l++)
		if (split(text + l * stride, count[me]) < 0) {
			failed[me] = 1;
			break;
		}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		nlines = 1 << atoi(argv[2]);
	if (argc > 3)
		limits.cancel = 1;
	load();
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int i = 0; i < nthreads; i++)
		for (int w = 0; w < WORDS; w++)
			sum += count[i][w];
	printf("%ld words\n", sum);
	return 0;
}
