/* Programs with known shares of wasted memory work: waste MODE SECONDS (of CPU time). All loops take as long an access, so that samples by time and
 * shares by bytes are the same. What a round leaves behind, the next one begins with. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define N 4000
#define EACH for (long i = 0; i < N; i++)
#define NOINLINE __attribute__((noinline))
static volatile long a[N], b[N];
static volatile long sum;
static NOINLINE void set(long v) { EACH a[i] = v + i; } /* SET */
static NOINLINE void same(void) { EACH b[i] = 7; }      /* SAME */
static NOINLINE void use(void) {
	long s = 0;
	EACH s += a[i]; /* USE */
	sum = s;
}
static NOINLINE void useb(void) {
	long s = 0;
	EACH s += b[i]; /* USEB */
	sum = s;
}
static NOINLINE void one(long v) { set(v); }
static NOINLINE void two(long v) { set(v + 1); }
static NOINLINE void locals(long v) {
	volatile long x[N];
	EACH x[i] = v; /* LOCAL */
}

static volatile double d[N];
static NOINLINE void numbers(double v) { EACH d[i] = v + i; } /* NUMBERS */
static struct { volatile long x, y; } fields[N];
static NOINLINE void both(long v) {
	EACH fields[i].x = v; /* BOTH */
	EACH fields[i].y = v;
}
static NOINLINE void onlyx(long v) { EACH fields[i].x = v; }                 /* ONLYX */
static NOINLINE void usexy(void) {
	long s = 0;
	EACH s += fields[i].x, s += fields[i].y;
	sum = s;
}
static volatile unsigned char bytes[N];
static NOINLINE void letters(long v) { EACH bytes[i] = v + i; } /* LETTERS */
static NOINLINE void useletters(void) {
	long s = 0;
	EACH s += bytes[i];
	sum = s;
}
static long *heap; /* a block of malloc's */
static NOINLINE void setheap(long v) { EACH ((volatile long *)heap)[i] = v + i; } /* SETHEAP */
static int null, zero;
static NOINLINE void output(long v) {
	set(v);
	if (write(null, (void *)a, sizeof a) != sizeof a) abort();
}
static NOINLINE void input(long v) {
	set(v);
	if (read(zero, (void *)a, sizeof a) != sizeof a) abort();
}
static NOINLINE void dead(long k) { set(k); set(k + 1); use(); }
static NOINLINE void alldead(long k) { set(k); }
static NOINLINE void paths(long k) { one(k); two(k); use(); }
static NOINLINE void none(long k) { set(k); use(); }
static NOINLINE void silent(long k) { same(); useb(); set(k); use(); }
static NOINLINE void loads(long k) { set(k); use(); use(); use(); }
static NOINLINE void first(long k) { set(k); use(); set(-k); use(); }
static NOINLINE void stack(long k) { locals(k); locals(k); }
static NOINLINE void update(long k) { EACH a[i] += k; }

static NOINLINE void near(long k) { numbers(1e9 + k % 1000); }
static NOINLINE void far(long k) { numbers(k % 2 ? 1e9 : 3e9); }
static NOINLINE void part(long k) { both(k); onlyx(k + 1); usexy(); }
static NOINLINE void letter(long k) { letters(k); letters(k + 1); useletters(); }
static NOINLINE void onheap(long k) { setheap(k); setheap(k); }
static NOINLINE void search(long k) { EACH if (b[i] == -k - 1) abort(); /* SEARCH */ }
static NOINLINE void cleared(long k) {
	memset((void *)a, 0, sizeof a);
	set(k);
	use();
}

/* What one thread stores again and again is not dead if another one reads it each time. */
static volatile long box, given, taken;
static volatile int over;
static void *reader(void *x) {
	for (long k = 1; !over; k++) {
		while (given != k && !over) sched_yield();
		sum += box;
		taken = k;
	}
	return x;
}
static NOINLINE void hand(long k) {
	box = -k; /* BOX */
	given = k;
	while (taken != k) sched_yield();
}

static const struct { const char *name; void (*run)(long); int reads; } modes[] = {
	{"dead", dead}, {"alldead", alldead}, {"paths", paths}, {"none", none}, {"silent", silent}, {"loads", loads}, {"first", first},
	{"stack", stack}, {"update", update}, {"near", near}, {"far", far}, {"part", part}, {"letter", letter}, {"onheap", onheap},
	{"search", search}, {"cleared", cleared}, {"output", output}, {"input", input}, {"hand", hand, 1},
};
int main(int argc, char **argv) {
	for (unsigned m = 0; argc == 3 && m < sizeof modes / sizeof *modes; m++) {
		if (strcmp(argv[1], modes[m].name)) continue;
		heap = calloc(N, sizeof *heap);
		null = open("/dev/null", O_WRONLY), zero = open("/dev/zero", O_RDONLY);
		puts("begun");
		fflush(stdout);
		pthread_t t;
		if (modes[m].reads) pthread_create(&t, 0, reader, 0);
		for (long k = 1; clock() < atof(argv[2]) * CLOCKS_PER_SEC; k++)
			for (int r = 0; r < (modes[m].reads ? 1 : 300); r++) modes[m].run(modes[m].reads ? k : 300 * k + r);
		over = 1;
		if (modes[m].reads) pthread_join(t, 0);
		puts("done");
		return 0;
	}
	return 2;
}
