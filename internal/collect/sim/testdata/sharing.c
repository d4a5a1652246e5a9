/* Lines that threads share falsely, and with -DPAD the same without: sharing KERNEL. */
#include <pthread.h>
#ifdef PAD
#define LINE __attribute__((aligned(64)))
#else
#define LINE
#endif
enum { T = 4, N = 3000 };
/* The sums of a linear regression, one structure a thread. */
static struct LINE sum { long sx, sy, sxx, sxy; } sums[T];
static void *regression(void *x) {
	volatile struct sum *s = &sums[(long)x];
	for (long i = 0; i < N; i++) s->sx += i, s->sy += 2 * i, s->sxx += i * i, s->sxy += 2 * i * i;
	return 0;
}
static void take(volatile int *l) {
	while (__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE))
		while (*l) __builtin_ia32_pause();
}
static void give(volatile int *l) { __atomic_store_n(l, 0, __ATOMIC_RELEASE); }
/* A hash table whose locks lie beside each other; every thread has buckets of its own. */
static struct LINE bucket { volatile int lock; long n; } buckets[16];
static void *hash(void *x) {
	for (long i = 0; i < N; i++) {
		struct bucket *b = &buckets[i % 4 * T + (long)x];
		take(&b->lock);
		b->n++;
		give(&b->lock);
	}
	return 0;
}
/* A list whose nodes have spin locks; every thread works on nodes of its own. */
static struct LINE node { volatile int lock; long key; struct node *next; } nodes[32];
static void *list(void *x) {
	for (long i = 0; i < N; i++) {
		struct node *n = &nodes[i % 8 * T + (long)x];
		take(&n->lock);
		n->key++;
		give(&n->lock);
	}
	return 0;
}
int main(int argc, char **argv) {
	pthread_t t[T];
	void *(*f)(void *) = argv[1][0] == 'r' ? regression : argv[1][0] == 'h' ? hash : list;
	for (long i = 0; i < T; i++) pthread_create(&t[i], 0, f, (void *)i);
	for (int i = 0; i < T; i++) pthread_join(t[i], 0);
	return 0;
}
