/* Programs whose wasted memory work has one reason each, chosen by the first argument (of at most eight letters). No library. */
#include "waste_why.h"

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
	PROGRAMS, {"entered", entered},
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
