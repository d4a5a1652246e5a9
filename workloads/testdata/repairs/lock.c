// Letters of a text are counted in one table under one lock. Repaired: in a table of each thread's,
// and added up at the end.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8, WORDS = 6000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned counts[256];
static char text[WORDS * 16];
static int repaired;

static unsigned hash(const char *s)
{
	unsigned h = 2166136261u;
	for (int i = 0; i < 16; i++)
		h = (h ^ s[i]) * 16777619u;
	return h;
}

static void *count(void *arg)
{
	long me = (long)arg;
	unsigned own[256] = {0};
	for (int w = me; w < WORDS; w += N) {
		unsigned h = hash(text + 16 * w);
		if (repaired) {
			for (int k = 0; k < 16; k++)
				own[(h >> k) & 255] += k;
			continue;
		}
		pthread_mutex_lock(&lock); /* CAUSE */
		for (int k = 0; k < 16; k++)
			counts[(h >> k) & 255] += k;
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 256; i++)
		counts[i] += own[i];
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[N];
	(void)argv;
	repaired = argc > 1;
	for (int i = 0; i < (int)sizeof text; i++)
		text[i] = 'a' + i * 7 % 26;
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], NULL, count, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	return counts[3] == 0;
}
