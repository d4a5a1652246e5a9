/* Thread 0 writes the picture of every step, after a serial load that takes longer than all steps. The compiler knows at the barrier
 * who is thread 0, and threads the jump past it: no test is left in the section. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { W = 64, H = 48, STEPS = 3, SCENE = 20000 };
static double picture[W * H], scene[SCENE];
static int P, steps;
static pthread_barrier_t bar;
static FILE *out;

static void load(void)
{
	char text[64];
	for (int i = 0; i < SCENE; i++) {
		snprintf(text, sizeof text, "%d.%d", i % 17, i % 13);
		scene[i] = atof(text);
	}
}

static void note(int step) { fprintf(out, "step %d\n", step); }

static void write_picture(void)
{
	for (int i = 0; i < W * H; i++)
		fprintf(out, "%d ", (int)(picture[i] * 255) & 255);
}

static double shade(int x, int y, int step)
{
	double s = 0;
	for (int i = 0; i < 12; i++)
		s += scene[(x * y + i * step) % SCENE] / (1 + i);
	return s;
}

static void *work(void *arg)
{
	long me = (long)arg;
	for (int step = 0; step < STEPS; step++) {
		if (me == 0)
			steps++;
		for (int y = me; y < H; y += P)
			for (int x = 0; x < W; x++)
				picture[y * W + x] = shade(x, y, step);
		if (me == 0)
			note(step);
		pthread_barrier_wait(&bar);
		if (me == 0) /* CAUSE */
			write_picture(); /* CAUSE */
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[1024];
	P = argc > 1 ? atoi(argv[1]) : 8;
	out = fopen("/dev/null", "w");
	load();
	pthread_barrier_init(&bar, NULL, P);
	for (long i = 1; i < P; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	work(0);
	for (int i = 1; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%d %g\n", steps, picture[W + 1]);
	return 0;
}
