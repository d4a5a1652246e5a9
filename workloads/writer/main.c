// Workers make strips, tile by tile; one writer behind semaphores writes each of them out while the next is made, and takes longer
// than all the workers.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 64, STRIPS = 10, ROWS = 16, TIMES = 60 };

static unsigned char in[STRIPS * ROWS][WIDTH], out[2][ROWS][WIDTH];
static unsigned long sum;
static int threads, next, strip, full, done;
static sem_t go, written, make, made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void write_strip(int which)
{
	for (int y = 0; y < ROWS; y++)
		for (int x = 0; x < WIDTH; x++)
			for (int k = 0; k < TIMES; k++) // CAUSE
				sum = sum * 31 + out[which][y][x] + (sum >> 7); // CAUSE
}

static void *writer(void *arg)
{
	for (;;) {
		sem_wait(&go);
		if (done)
			return arg;
		write_strip(full);
		sem_post(&written);
	}
}

static int row(void)
{
	pthread_mutex_lock(&lock);
	int y = next < ROWS ? next++ : -1;
	pthread_mutex_unlock(&lock);
	return y;
}

static void *worker(void *arg)
{
	for (;;) {
		sem_wait(&make);
		if (done)
			return arg;
		for (int y; (y = row()) >= 0;)
			for (int x = 0; x < WIDTH; x++) {
				int t = 0;
				for (int k = -8; k <= 8; k++)
					t += in[strip * ROWS + y][(x + k) & (WIDTH - 1)];
				out[strip & 1][y][x] = t / 17;
			}
		sem_post(&made);
	}
}

int main(int argc, char **argv)
{
	threads = argc > 1 ? atoi(argv[1]) : 8;
	sem_init(&go, 0, 0), sem_init(&written, 0, 1), sem_init(&make, 0, 0), sem_init(&made, 0, 0);
	pthread_t w, t[64];
	pthread_create(&w, NULL, writer, NULL);
	for (int i = 0; i < threads - 1; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (strip = 0; strip < STRIPS; strip++) {
		next = 0;
		for (int i = 0; i < threads - 1; i++)
			sem_post(&make);
		for (int i = 0; i < threads - 1; i++)
			sem_wait(&made);
		sem_wait(&written); // END
		full = strip & 1;
		sem_post(&go);
	}
	sem_wait(&written);
	done = 1;
	sem_post(&go);
	for (int i = 0; i < threads - 1; i++)
		sem_post(&make);
	pthread_join(w, NULL);
	for (int i = 0; i < threads - 1; i++)
		pthread_join(t[i], NULL);
	printf("%lx\n", sum);
}
