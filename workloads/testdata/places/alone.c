// One thread works alone, before, between or behind two even sections: "alone PLACE SHAPE".
// The lines of each shape are marked; the report must name one of them, not where the stretch ends.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t step(uint64_t x) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x; }
static uint64_t sink, v[20000];
static char text[1 << 16];

static int compare(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static __attribute__((noinline)) uint64_t alone(int shape) {
	uint64_t x = 88172645463325252ull, s = 0;
	switch (shape) {
	case 1: // a loop of its own
		for (int i = 0; i < 200000; i++) // HERE1
			s += x = step(x); // HERE1
		break;
	case 2: // a library that calls back
		for (int i = 0; i < 20000; i++)
			v[i] = x = step(x);
		qsort(v, 20000, 8, compare); // HERE2
		s = v[7];
		break;
	case 3: // a library without debug information
		for (int i = 0; i < 3000; i++) { // HERE3
			char *p = text + i % 1000 * 60;
			sprintf(p, "%d:%llu;", i, (unsigned long long)(x = step(x))); // HERE3
			s += strlen(p);
		}
		break;
	case 4: // several loops of libraries, none more than the others
		for (int i = 0; i < 400; i++) { // HERE4
			memset(text, i, sizeof text / 4 - 1); // HERE4
			s += strlen(text) + (memchr(text, 99, sizeof text / 4) != 0); // HERE4
		}
		break;
	case 5: // many functions share it
		for (int i = 0; i < 2000; i++) { // HERE5
			char number[64];
			snprintf(number, sizeof number, "%d.%d", i, (int)(x % 10)); // HERE5
			x = step(x);
			char *copy = strdup(number); // HERE5
			s += (uint64_t)strtod(copy, 0); // HERE5
			free(copy); // HERE5
		}
	}
	return s;
}

static void *work(void *me) {
	uint64_t x = (uintptr_t)me + 1, s = 0;
	for (int i = 0; i < 30000; i++)
		s += x = step(x);
	return (void *)(uintptr_t)s;
}

static void section(void) {
	pthread_t t[8];
	void *r;
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], 0, work, (void *)(uintptr_t)i);
	for (int i = 0; i < 8; i++) {
		pthread_join(t[i], &r);
		sink += (uintptr_t)r;
	}
}

int main(int argc, char **argv) {
	int place = argc > 2 ? atoi(argv[1]) : 1, shape = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 1; i <= 3; i++) {
		if (i == place)
			sink += alone(shape);
		if (i < 3)
			section();
	}
	printf("%d\n", (int)(sink & 1));
}
