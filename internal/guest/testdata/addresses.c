// Maps, unmaps, allocates and starts threads at random (argument: a seed), and prints the low 28 bits of each address
// that it gets: those are where the kernel puts things without randomisation.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long state;
static unsigned rnd(unsigned n) {
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (state >> 33) % n;
}

static void show(const char *what, const void *p) { printf("%s %07lx\n", what, (unsigned long)p & 0xfffffff); }

static size_t some_length(void) {
	static const size_t unit[] = {4096, 64 << 10, 1 << 20, 2 << 20};
	return unit[rnd(4)] * (1 + rnd(9)) + (rnd(3) ? 0 : 4096);
}

static void *blocks[64];
static size_t lengths[64];

static void map_one(void) {
	int i = rnd(64);
	if (blocks[i]) {
		size_t cut = rnd(2) ? 0 : lengths[i] / 2 & ~4095ul;
		munmap((char *)blocks[i] + cut, lengths[i] - cut);
		lengths[i] = cut;
		if (!cut)
			blocks[i] = 0;
		return;
	}
	lengths[i] = some_length();
	int kind = rnd(5) ? MAP_PRIVATE : MAP_SHARED;
	blocks[i] = mmap(0, lengths[i], PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
	show(kind == MAP_SHARED ? "shared" : "private", blocks[i]);
}

static void move_one(void) {
	int i = rnd(64);
	if (!blocks[i])
		return;
	size_t to = some_length();
	void *p = mremap(blocks[i], lengths[i], to, MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return;
	blocks[i] = p, lengths[i] = to;
	show("moved", p);
}

static sem_t ready, leave[16];

static void *thread(void *own) {
	int local;
	show("stack", &local);
	for (int i = 0; i < 5; i++)
		show("arena", malloc(1 << (4 + 3 * i)));
	sem_post(&ready);
	sem_wait(own);
	return 0;
}

// threads starts some, one after the other, and ends them in the same way: all together or each before the next begins.
static void threads(int n, int together, size_t stack) {
	pthread_t t[16];
	pthread_attr_t a;
	pthread_attr_init(&a);
	if (stack)
		pthread_attr_setstacksize(&a, stack);
	for (int i = 0; i < n; i++) {
		pthread_create(&t[i], &a, thread, &leave[i]);
		sem_wait(&ready);
		if (together)
			continue;
		sem_post(&leave[i]);
		pthread_join(t[i], 0);
	}
	for (int i = 0; together && i < n; i++) {
		sem_post(&leave[i]);
		pthread_join(t[i], 0);
	}
}

int main(int argc, char **argv) {
	static int variable;
	state = argc > 1 ? strtoul(argv[1], 0, 10) : 1;
	setvbuf(stdout, malloc(4096), _IOFBF, 4096);
	show("code", main);
	show("data", &variable);
	show("library", printf);
	show("break", sbrk(0));
	for (int i = 0; i < 300; i++)
		switch (rnd(8)) {
		case 0: show("malloc", malloc(rnd(4) ? rnd(4000) : rnd(1000000))); break;
		case 1: move_one(); break;
		default: map_one();
		}
	threads(4, 1, 0);
	threads(3, 0, (16 << 10) + (rnd(200) << 14));
	threads(4, 1, (1 + rnd(8)) << 20);
	for (int i = 0; i < 20; i++)
		map_one();
	show("break", sbrk(0));
}
