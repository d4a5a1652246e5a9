/* Kernels of wasted memory work that was found in real programs, rewritten from the descriptions: wasted KERNEL ROUNDS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))

/* A profile search (as in hmmer): the cell is stored for each better alternative, because it might alias what is read. */
enum { M = 400 };
static int mpp[M], ip[M], dpp[M], bp[M], tpmm[M], tpim[M], tpdm[M], ms[M], cells[M];
static NOINLINE void viterbi(int *mc) {
	for (int k = 1; k < M; k++) {
		int sc;
		mc[k] = mpp[k - 1] + tpmm[k - 1];
		if ((sc = ip[k - 1] + tpim[k - 1]) > mc[k]) mc[k] = sc;
		if ((sc = dpp[k - 1] + tpdm[k - 1]) > mc[k]) mc[k] = sc;
		mc[k] += ms[k]; /* CELL */
	}
}
static void hmm(int n) {
	for (int k = 0; k < M; k++) mpp[k] = k, ip[k] = k + 1, dpp[k] = k * 7 % M, ms[k] = k % 3;
	for (; n; n--) viterbi(cells);
}

/* Sorting by comparing rotated blocks (as in bzip2): the budget is stored at every step, and seldom read. */
static unsigned char text[4096 + 64];
static NOINLINE int greater(unsigned a, unsigned b, int *budget) {
	for (int k = 4096 / 4; k > 0; k--) {
		for (int i = 0; i < 4; i++) {
			unsigned char x = text[a + i], y = text[b + i]; /* LETTERS */
			if (x != y) return x > y;
		}
		a = (a + 4) % 4096, b = (b + 4) % 4096;
		(*budget)--;
	}
	return 0;
}
static void sort(int n) {
	for (int i = 0; i < (int)sizeof text; i++) text[i] = i % 64 / 16;
	int budget = 0;
	long s = 0;
	for (; n; n--) s += greater(n * 8 % 2048, n * 8 % 2048 + 64, &budget);
	printf("%ld %d\n", s, budget);
}

/* A ray tracer's texture (as in povray): a colour is cleared, and then set as a whole. */
typedef double colour[5];
static NOINLINE void clear(double *c) {
	for (int i = 0; i < 5; i++) ((volatile double *)c)[i] = 0; /* RAY CLEAR */
}
static NOINLINE void shade(double *c, int k) {
	for (int i = 0; i < 5; i++) ((volatile double *)c)[i] = i + k; /* RAY SET */
}
static void ray(int n) {
	colour c;
	double sum = 0;
	for (n *= 100; n; n--) {
		clear(c);
		shade(c, n);
		for (int i = 0; i < 5; i++) sum += ((volatile double *)c)[i];
	}
	printf("%f\n", sum);
}

/* A list of line numbers that is searched from its beginning for every address (as in binutils). */
struct line {
	struct line *next;
	unsigned long low;
};
static struct line *lines;
static NOINLINE struct line *lookup(unsigned long pc) {
	struct line *best = 0;
	for (struct line *l = lines; l; l = l->next) /* SEARCH NEXT */
		if (l->low <= pc && (!best || l->low > best->low)) best = l; /* SEARCH LOW */
	return best;
}
static void search(int n) {
	for (unsigned long i = 0; i < 1000; i++) {
		struct line *l = malloc(sizeof *l);
		*l = (struct line){lines, i * 7919 % 1000 * 16};
		lines = l;
	}
	unsigned long s = 0;
	for (; n; n--) s += lookup(n * 13 % 16000)->low;
	printf("%lu\n", s);
}

/* Training (as in backprop): nearly all updates are of nothing. */
enum { U = 2000 };
static double weights[U], oldw[U], delta[U];
static NOINLINE void adjust(void) {
	for (int i = 0; i < U; i++) {
		double d = 0.3 * delta[i] + 0.3 * oldw[i];
		weights[i] += d; /* TRAIN WEIGHT */
		oldw[i] = d;     /* TRAIN OLD */
	}
}
static void train(int n) {
	for (int i = 0; i < U; i++) weights[i] = i;
	for (; n; n--) {
		delta[n % U] = 1;
		adjust();
		delta[n % U] = 0;
	}
	printf("%f\n", weights[7]);
}

/* Particles of a box against those of a neighbour (as in lavaMD): those of the neighbour are loaded again for each. */
enum { P = 100 };
static struct { double x, y, z, q; } here[P], there[P];
static double force[P];
static NOINLINE void box(void) {
	for (int i = 0; i < P; i++) {
		double f = 0;
		for (int j = 0; j < P; j++) f += here[i].x * there[j].x + here[i].y * there[j].y + there[j].q; /* BOX */
		force[i] = f;
	}
}
static void particles(int n) {
	for (int i = 0; i < P; i++) here[i].x = there[i].y = i, there[i].q = 1;
	for (; n; n--) box();
	printf("%f\n", force[3]);
}

/* A sparse LU of blocks (as in BOTS): the pointers to blocks are loaded again for every update. */
enum { B = 20, S = 6 };
static double *blocks[B][B];
static NOINLINE void update(double *c, const double *a, const double *b) {
	for (int i = 0; i < S; i++)
		for (int j = 0; j < S; j++)
			for (int k = 0; k < S; k++) c[i * S + j] -= a[i * S + k] * b[k * S + j]; /* LU */
}
static void sparse(int n) {
	for (int i = 0; i < B; i++)
		for (int j = 0; j < B; j++)
			if (i == j || (i + j) % 3 == 0) blocks[i][j] = calloc(S * S, sizeof(double)), blocks[i][j][0] = 1;
	for (; n; n--)
		for (int k = 0; k < B; k++)
			for (int i = k + 1; i < B; i++)
				for (int j = k + 1; j < B; j++)
					if (blocks[i][k] && blocks[k][j] && blocks[i][j]) update(blocks[i][j], blocks[i][k], blocks[k][j]);
	printf("%f\n", blocks[B - 1][B - 1][0]);
}

/* Reservations of customers (as in STAMP's vacation): each reservation walks the list of those that there are. */
struct item {
	struct item *next;
	long id, price;
};
static struct item *items;
static long total;
static NOINLINE long bill(void) {
	long sum = 0;
	for (struct item *i = items; i; i = i->next) sum += i->price; /* RESERVE */
	return sum;
}
static void reserve(int n) {
	for (long k = 0; k < 300; k++) {
		struct item *i = malloc(sizeof *i);
		*i = (struct item){items, k, k % 50};
		items = i;
	}
	for (; n; n--) items->price = n % 50, total += bill();
	printf("%ld\n", total);
}

static const struct { const char *name; void (*run)(int); } kernels[] = {
	{"hmm", hmm}, {"sort", sort}, {"ray", ray}, {"search", search}, {"train", train}, {"particles", particles}, {"sparse", sparse}, {"reserve", reserve},
};
int main(int argc, char **argv) {
	for (unsigned k = 0; argc == 3 && k < sizeof kernels / sizeof *kernels; k++)
		if (!strcmp(argv[1], kernels[k].name)) return kernels[k].run(atoi(argv[2])), 0;
	return 2;
}
