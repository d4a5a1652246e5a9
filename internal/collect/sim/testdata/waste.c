/* Programs with a known share of wasted memory work, chosen by the first argument. No library: what is stored and loaded is what stands
 * here, but for a few bytes of stack. */
typedef long v4 __attribute__((vector_size(32)));
typedef long v4u __attribute__((vector_size(32), aligned(1)));
#define N 10000
#define EACH for (long i = 0; i < N; i++)
#define NOINLINE __attribute__((noinline))

static volatile long a[N], b[N];
static volatile double d[N];
static volatile float f[N];
static volatile char bytes[8 * N + 8192] __attribute__((aligned(4096)));
static v4 vectors[N / 4];
static volatile struct { long used, unused; } pairs[N];
static volatile long sink;
static volatile double dsink;

#define USE(x) __asm__ volatile("" ::"r"(x))
#define USEX(x) __asm__ volatile("" ::"x"(x))

static long syscall3(long nr, long x, long y, long z) {
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(x), "S"(y), "d"(z) : "rcx", "r11", "memory");
	return r;
}

static NOINLINE void set(long v) { EACH a[i] = v + i; } /* SET */
static NOINLINE void same(void) { EACH a[i] = 7; }      /* SAME */
static NOINLINE void use(void) { EACH USE(a[i]); }      /* USE */

/* Each of the two stores to all of a, and nobody reads in between. */
static NOINLINE void dead(void) { set(1); set(2); }
static NOINLINE void one(void) { set(1); }
static NOINLINE void two(void) { set(2); }
static NOINLINE void paths(void) { one(); two(); }
static NOINLINE void none(void) { set(1); use(); set(2); }
static NOINLINE void silent(void) { same(); use(); same(); }
static NOINLINE void both(void) { same(); same(); }
static NOINLINE void loads(void) { set(1); use(); use(); }
static NOINLINE void changed(void) { set(1); use(); set(2); use(); }
static NOINLINE void kept(void) { same(); use(); same(); use(); }
static NOINLINE void part(void) {
	set(1);
	EACH if (i % 4) USE(a[i]);
	set(2);
}
static NOINLINE void half(void) {
	set(1);
	EACH USE(*(volatile int *)&a[i]);
	set(2);
}
static NOINLINE void mixed(void) {
	for (long i = 0; i < 8 * N; i++) bytes[i] = i;
	EACH ((volatile long *)bytes)[i] = i;
}
static NOINLINE void unaligned(void) {
	for (long i = 0; i < N / 2; i++) *(volatile long *)(bytes + 3 + 13 * i) = i;
	for (long i = 0; i < N / 2; i++) *(volatile long *)(bytes + 3 + 13 * i) = -i;
}
static NOINLINE void fields(void) {
	EACH pairs[i].used = i, pairs[i].unused = i;
	EACH USE(pairs[i].used);
	EACH pairs[i].used = -i, pairs[i].unused = -i;
}
static NOINLINE void doubles(double by) {
	double three = 3.0;
	__asm__ volatile("" : "+x"(three), "+x"(by)); /* compilers store constants as integers */
	EACH d[i] = three;
	EACH dsink = d[i];
	EACH d[i] = three * by;
}
static NOINLINE void near(void) { doubles(1.005); }
static NOINLINE void far(void) { doubles(1.05); }
static NOINLINE void floats(void) {
	float three = 3.0f, more = 3.01f;
	__asm__ volatile("" : "+x"(three), "+x"(more));
	EACH f[i] = three;
	EACH USEX(f[i]);
	EACH f[i] = more;
}
static NOINLINE void integers(void) {
	EACH a[i] = 1000;
	use();
	EACH a[i] = 1001;
}
static NOINLINE void vector(void) {
	for (long i = 0; i < N / 4; i++) *(volatile v4 *)&vectors[i] = (v4){i, i, i, i};
	for (long i = 0; i < N / 4; i++) *(volatile v4 *)&vectors[i] = (v4){i, 1, 2, 3};
}
static NOINLINE void masked(void) {
	v4 x = {1, 2, 3, 4}, m = {-1, 0, -1, 0};
	for (long i = 0; i < N / 4; i++) *(volatile v4 *)&vectors[i] = x;
	for (long i = 0; i < N / 4; i++) __asm__ volatile("vpmaskmovq %0, %1, %2" ::"x"(x), "x"(m), "m"(vectors[i]) : "memory");
	for (long i = 0; i < N / 4; i++) *(volatile v4 *)&vectors[i] = x;
}
static NOINLINE void gather(void) {
	set(1);
	v4 at = {0, 1, 2, 3};
	for (long i = 0; i < N; i += 4) {
		v4 m = {-1, -1, -1, -1}, x;
		__asm__ volatile("vpgatherqq %0, (%3,%2,8), %1" : "+x"(m), "=&x"(x) : "x"(at), "r"(&a[i]) : "memory");
	}
	set(2);
}
static NOINLINE void fill(long v) {
	void *to = (void *)a;
	long n = N;
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(v) : "memory");
}
static NOINLINE void stos(void) { fill(1); use(); fill(1); fill(2); }
static NOINLINE void copy(long n) {
	void *to = (void *)a, *from = (void *)b;
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
}
static NOINLINE void movs(void) {
	EACH b[i] = i + 1;
	copy(8 * N);
	use();
	copy(8 * N);
}
static NOINLINE void backwards(void) {
	EACH b[i] = i;
	void *to = (void *)&a[N - 1], *from = (void *)&b[N - 1];
	long n = N;
	__asm__ volatile("std; rep movsq; cld" : "+D"(to), "+S"(from), "+c"(n)::"memory");
	use();
}
static NOINLINE void atomics(void) { EACH __atomic_fetch_add(&a[i % 100], 1, __ATOMIC_SEQ_CST); }
static NOINLINE void spill(void) { for (long i = 0; i < 10 * N; i++) __asm__ volatile("push %0\n\tpop %0" ::"r"(5L)); }
static NOINLINE void output(void) {
	set(1);
	long fd = syscall3(2, (long)"/dev/null", 1, 0);
	syscall3(1, fd, (long)a, sizeof a);
	set(2);
}
static NOINLINE void input(void) {
	set(1);
	use();
	long fd = syscall3(2, (long)"/dev/zero", 0, 0);
	syscall3(0, fd, (long)a, sizeof a);
	use();
}
static NOINLINE void frame(void) {
	volatile long local[1000];
	for (long i = 0; i < 1000; i++) local[i] = i;
}
static NOINLINE void stack(void) { frame(); frame(); }
static NOINLINE void search(void) {
	set(1);
	for (long k = 0; k < 10; k++) EACH if (a[i] == -1) break;
}
static NOINLINE long depth(long n) { return n == 0 ? 0 : 1 + depth(n - 1) + depth(n - 1); }
static NOINLINE void recursion(void) {
	sink = depth(14);
	set(1);
	set(2);
}

static const struct { char name[16]; void (*run)(void); } programs[] = {
	{"dead", dead}, {"paths", paths}, {"none", none}, {"silent", silent}, {"both", both}, {"loads", loads}, {"changed", changed}, {"kept", kept}, {"part", part},
	{"half", half}, {"mixed", mixed}, {"unaligned", unaligned}, {"fields", fields}, {"near", near}, {"far", far}, {"floats", floats}, {"integers", integers},
	{"vector", vector}, {"masked", masked}, {"gather", gather}, {"stos", stos}, {"movs", movs}, {"backwards", backwards}, {"atomics", atomics}, {"spill", spill},
	{"output", output}, {"input", input}, {"stack", stack}, {"search", search}, {"recursion", recursion},
};

/* The name is compared in a register, so that choosing costs as little memory as it can. */
__attribute__((used)) static void start(char **argv) {
	long want = 0, n = 0;
	for (const char *x = argv[2]; n < 8 && (x[n] || n < 8); n++) {
		long c = (unsigned char)x[n];
		want |= c << 8 * n;
		if (!c) break;
	}
	for (unsigned k = 0; k < sizeof programs / sizeof *programs; k++)
		if (*(const long *)programs[k].name == want) {
			programs[k].run();
			syscall3(231, 0, 0, 0);
		}
	syscall3(231, 1, 0, 0);
}
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-64, %rsp\n call start\n");
