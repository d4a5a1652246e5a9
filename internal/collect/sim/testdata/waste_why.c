/* Programs whose wasted memory work has one reason each, chosen by the first argument (of at most eight letters). No library. */
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
/* The same is computed from something new, in a block that is entered in its middle in the end. */
static NOINLINE void compute(volatile long *from, volatile long *to, long late) {
	long x;
	__asm__ volatile("test %3, %3\n\tjnz 2f\n\tmov (%1), %0\n\tsar $20, %0\n\tadd $3, %0\n\tmov %0, (%2)\n2:\tnop"
		: "=&r"(x) : "r"(from), "r"(to), "r"(late) : "memory", "cc");
}
static NOINLINE void entered(void) {
	for (long r = 0; r < 5; r++) {
		EACH a[i] = i + r;
		EACH compute(a + i, b + i, 0);
	}
	compute(a, b, 1);
}

static const struct {
	char name[16];
	void (*run)(void);
} programs[] = {
	{"cleared", cleared}, {"running", running}, {"constant", constant}, {"bound", bounded}, {"spilled", spilled}, {"search", search}, {"copied", copied}, {"replaced", replaced},
	{"computed", computed}, {"shifted", shifted}, {"moved", moved}, {"entered", entered},
};

static void leave(long status) {
	__asm__ volatile("syscall" ::"a"(231L), "D"(status) : "rcx", "r11", "memory");
}
__attribute__((used)) static void start(char **argv) {
	long want = 0;
	for (long n = 0; n < 8 && argv[2][n]; n++) want |= (long)(unsigned char)argv[2][n] << 8 * n;
	for (unsigned k = 0; k < sizeof programs / sizeof *programs; k++)
		if (*(const long *)programs[k].name == want) {
			programs[k].run();
			leave(0);
		}
	leave(1);
}
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-64, %rsp\n call start\n");
