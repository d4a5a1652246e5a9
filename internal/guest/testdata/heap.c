/* A child goes on with its parent's heap: it allocates, gives back, and forks again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *p[4000];

static int work(unsigned seed)
{
	int bad = 0;
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 4000; i++) {
			seed = seed * 1664525 + 1013904223;
			size_t n = 16 + (seed >> 8) % 3000;
			if (p[i])
				bad += p[i][0] != (char)i;
			free(p[i]);
			p[i] = malloc(n);
			memset(p[i], i, n);
		}
	}
	for (int i = 0; i < 4000; i++) {
		free(p[i]);
		p[i] = 0;
	}
	return bad;
}

int main(void)
{
	int st;
	for (int i = 0; i < 4000; i++)
		memset(p[i] = malloc(100), i, 100);
	char *before = sbrk(0);
	if (fork() == 0) {
		int bad = work(1);
		int moved = (char *)sbrk(0) < before || sbrk(4096) == (void *)-1;
		if (fork() == 0)
			_exit(work(2) != 0);
		wait(&st);
		_exit(bad != 0 || moved * 2 || WEXITSTATUS(st) * 4);
	}
	wait(&st);
	printf("child %d %d\n", WIFSIGNALED(st), WEXITSTATUS(st));
	printf("parent %d\n", work(3));
	return 0;
}
