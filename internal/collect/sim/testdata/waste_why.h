/* Work on memory that is wasted for one reason each, or for none that is known. */
#define N 1000
#define EACH for (long i = 0; i < N; i++)
#define NOINLINE __attribute__((noinline))
static volatile long a[N], b[N];
static volatile long total, bound = N;
static volatile int zeros[N];
#define USE(x) __asm__ volatile("" ::"r"(x))

static NOINLINE void fill(void) { EACH a[i] = i; }
static NOINLINE void refill(void) { EACH a[i] = i + 1; }
static NOINLINE void use(void) { EACH USE(a[i]); }

/* An initialisation: a constant that is stored over unread. */
static NOINLINE void cleared(void) {
	EACH a[i] = 0;
	fill();
	use();
}
/* A running value that lives in memory. */
static NOINLINE void running(void) { EACH total = i; }
/* The same constant every time. */
static NOINLINE void constant(void) {
	for (int r = 0; r < 5; r++) EACH zeros[i] = 7;
}
/* A bound that is loaded in every round. */
static NOINLINE void bounded(void) {
	for (long i = 0; i < bound; i++) b[i] = i;
}
/* A value that is kept on the stack. */
static NOINLINE void spilled(void) {
	volatile long x = 5;
	EACH USE(x);
}
/* A search from the beginning, again and again. */
static NOINLINE long find(long x) {
	EACH if (a[i] == x) return i;
	return -1;
}
static NOINLINE void search(void) {
	fill();
	for (long k = 0; k < 200; k++) USE(find(N - 1 - k % 2));
}
/* What is loaded again is used for something: no rule fits. */
static NOINLINE void copied(void) {
	fill();
	for (int r = 0; r < 5; r++) EACH b[i] = a[i] + r;
}
/* A value that is stored over by another: no constant, and not one place. */
static NOINLINE void replaced(void) {
	fill();
	refill();
}

/* The same is computed again from the same. */
static NOINLINE void computed(void) {
	fill();
	for (int r = 0; r < 5; r++) EACH b[i] = a[i] * 3 + 7;
}
/* The same is computed from something new: no rule fits. */
static NOINLINE void shifted(void) {
	for (long r = 0; r < 5; r++) {
		EACH a[i] = i + r;
		EACH b[i] = (a[i] >> 20) + 3;
	}
}
/* The same is copied again: no rule fits. */
static NOINLINE void moved(void) {
	fill();
	for (int r = 0; r < 5; r++) EACH b[i] = a[i];
}

/* They by their names. */
#define PROGRAMS \
	{"cleared", cleared}, {"running", running}, {"constant", constant}, {"bound", bounded}, {"spilled", spilled}, \
	{"search", search}, {"copied", copied}, {"replaced", replaced}, {"computed", computed}, {"shifted", shifted}, \
	{"moved", moved}
