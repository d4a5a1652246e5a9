/* A little of everything by which compiled code decides where to go. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct shape { long (*area)(const struct shape *); int16_t w; uint8_t h; };
static long square(const struct shape *s) { return (long)s->w * s->w; }
static long box(const struct shape *s) { return (long)s->w * s->h; }
static int order(const void *a, const void *b) { return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b; }
static long collatz(unsigned long n) {
	long k = 0;
	for (; n != 1; k++) n = n & 1 ? 3 * n + 1 : n >> 1;
	return k;
}
static int kind(int c) {
	switch (c) {
	case 0: return 3;
	case 1: return 14;
	case 2: return 15;
	case 3: return 92;
	case 4: return 65;
	case 5: return -35;
	default: return 0;
	}
}
static long depth(int n) { return n <= 1 ? n : depth(n - 1) + depth(n - 2); }
int main(void) {
	struct shape shapes[8];
	int list[40];
	long sum = 0;
	char text[64];
	for (int i = 0; i < 8; i++) shapes[i] = (struct shape){i % 3 ? square : box, (int16_t)(i * 1000 - 3000), (uint8_t)(i * 50)};
	for (int i = 0; i < 40; i++) list[i] = i * 7919 % 101 - 50;
	qsort(list, 40, sizeof *list, order);
	for (int r = 0; r < 20; r++) {
		for (int i = 0; i < 8; i++) sum += shapes[i].area(&shapes[i]);
		for (int i = 0; i < 40; i++) sum += kind(list[i] & 7), sum ^= (unsigned)list[i] >> r, sum -= list[i] << (r & 7);
		sum += collatz(27 + r) + depth(8);
		snprintf(text, sizeof text, "%ld %x", sum, (unsigned)sum);
		sum += strlen(text) + (strchr(text, '7') != 0) + strtol(text, 0, 10) % 13;
		for (uint64_t x = sum | 1; x; x = x << 3 ^ (x & 5)) sum += (int8_t)x;
	}
	return (int)(sum & 1);
}
