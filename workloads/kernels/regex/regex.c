/*
 * regex: a backtracking matcher with *, over lines of equal length, the same
 * number of lines per thread. The lines of one shard, which comes first, are of
 * the kind that makes it backtrack deeply.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN 24

static int nthreads = 16, nlines = 8192;
static char (*line)[LEN + 1];
static int hits[64 * 8];

static void load(void)
{
	unsigned s = 127;
	line = malloc(nlines * sizeof *line);
	for (int i = 0; i < nlines; i++) {
		for (int k = 0; k < LEN; k++) {
			s = s * 1664525 + 1013904223;
			line[i][k] = i < nlines / 32 ? 'a' : "bcdefgh"[(s >> 9) % 7];
		}
		line[i][LEN] = 0;
	}
}

static int match_here(const char *re, const char *text);

static int match_star(int c, const char *re, const char *text)
{
	for (;;) {
		if (match_here(re, text)) /* CAUSE */
			return 1;
		if (!*text || (*text != c && c != '.')) /* CAUSE */
			return 0;
		text++;
	}
}

static int match_here(const char *re, const char *text)
{
	if (!re[0])
		return 1;
	if (re[1] == '*')
		return match_star(re[0], re + 2, text); /* CAUSE */
	if (re[0] == '$' && !re[1])
		return !*text;
	if (*text && (re[0] == '.' || re[0] == *text)) /* CAUSE */
		return match_here(re + 1, text + 1); /* CAUSE */
	return 0;
}

static int search(const char *re, const char *text)
{
	do {
		if (match_here(re, text)) /* CAUSE */
			return 1;
	} while (*text++);
	return 0;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int n = 0;
	for (int i = nlines / nthreads * me; i < nlines / nthreads * (me + 1); i++)
		n += search("a*a*b$", line[i]);
	hits[me * 8] = n;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	int sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		nlines = 1 << atoi(argv[2]);
	load();
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int i = 0; i < nthreads; i++)
		sum += hits[i * 8];
	printf("%d of %d lines match\n", sum, nlines);
	return 0;
}
