/* Four causes at once whose shares are known to the instruction: each costs a fixed
 * number of nops a time, and the program prints what each thread spends on each.
 * Usage: main THREADS [MODE]; mode 1: the causes make up for one another in part. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NOPS(n) __asm__ volatile(".rept " #n "\n\tnop\n\t.endr")
#define NOPS2(n) __asm__ volatile(".rept " #n "\n\txchg %%ax, %%ax\n\t.endr" ::: "memory")

enum { ROUNDS = 3, STEPS = 200 };

static int P, mode;
static int loops[1024], dear[1024], large[1024], deep[1024], idle[1024];
static void (*work[1024][STEPS])(void);
static pthread_barrier_t bar;

__attribute__((noinline)) static void big(void) { NOPS(1500); }
__attribute__((noinline)) static void small(void) { NOPS(100); }

__attribute__((noinline)) static void descend(int depth) {
	if (depth == 0) /* DEPTH */
		return;
	descend(depth - 1);
	NOPS(500);
}

static void *worker(void *arg) {
	long id = (long)arg;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < loops[id]; i++) /* CAUSE */
			NOPS(400);
		for (int i = 0; i < STEPS; i++)
			if (i < dear[id]) /* BRANCH */
				NOPS(900);
		for (int i = 0; i < STEPS; i++)
			work[id][i](); /* POINTER */
		descend(deep[id]);
		for (int i = 0; i < STEPS; i++)
			if (i < idle[id]) /* DECOY */
				NOPS(60);
			else
				NOPS2(60);
		for (int i = 0; i < STEPS; i++) /* DECOY */
			NOPS(400);
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

static void plan(const char *mark, const int *count, int cost) {
	printf("plan %s", mark);
	for (int t = 0; t < P; t++)
		printf(" %d", ROUNDS * count[t] * cost);
	printf("\n");
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	mode = argc > 2 ? atoi(argv[2]) : 0;
	for (int t = 0; t < P; t++) {
		loops[t] = 300 + t * 5 % 8 * 20;
		dear[t] = 40 + t * 3 % 7 * 8;
		large[t] = 20 + t * 7 % 5 * 6;
		deep[t] = 20 + t * 11 % 9 * 5;
		idle[t] = t * 13 % 8 * 25;
	}
	loops[P - 1] = 700; /* comes last */
	dear[P - 1] = mode ? 20 : 160;
	large[P - 1] = 90;
	deep[P - 1] = mode ? 0 : 90;
	for (int t = 0; t < P; t++)
		for (int i = 0; i < STEPS; i++)
			work[t][i] = i < large[t] ? big : small;
	plan("CAUSE", loops, 400);
	plan("BRANCH", dear, 900);
	plan("POINTER", large, 1400);
	plan("DEPTH", deep, 500);
	pthread_barrier_init(&bar, NULL, P);
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	return 0;
}
