// attr runs single instructions natively and reports what they did. It reads
// struct request records from stdin and writes a struct result for each.
// Built by the attribute test: cc -O2 -o attr attr.c
#define _GNU_SOURCE
#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MEM = 2048, BASE = 0x10000000, CODE = BASE, CTX = BASE + 0x1000, BUF = BASE + 0x4000 };

struct request {
	uint8_t code[16];
	uint32_t len, flush;
	uint64_t gpr[16];
	uint64_t flags;
	uint64_t outside, inside; // seeds of the memory outside and inside of [lo,hi)
	uint32_t lo, hi;
	uint64_t vectors, others; // seeds of the vector registers, and of those in mask
	uint32_t mask, pad;
};

struct result {
	uint64_t gpr[16];
	uint64_t flags;
	uint64_t memory;                 // hash of [lo,hi)
	uint64_t x87, sse, avx, avx512;  // hashes of the register state
	uint64_t low[32], high[32];      // hashes of bits 0-127 and the rest of each register
	uint32_t first, last;            // changed bytes of the buffer; first > last: none
	uint32_t signal, pad;
};

struct ctx { // the generated code addresses it relative to rip
	uint64_t in[16], out[16], flags_in, flags_out, host_sp, pad[5];
	uint8_t vec_in[8192] __attribute__((aligned(64)));
};

static struct ctx *ctx = (struct ctx *)CTX;
static uint8_t *buf = (uint8_t *)BUF, before[MEM];
static uint8_t vec_out[8192] __attribute__((aligned(64)));
static sigjmp_buf back;
static volatile int caught;
static uint64_t mask;
static unsigned off_ymm, off_k, off_zmm, off_hi;

static void on_signal(int s) { caught = s; siglongjmp(back, 1); }

static uint64_t rnd(uint64_t *s) {
	uint64_t z = (*s += 0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void fill(uint8_t *p, size_t n, uint64_t seed) {
	for (size_t i = 0; i < n; i += 8) {
		uint64_t v = rnd(&seed);
		memcpy(p + i, &v, n - i < 8 ? n - i : 8);
	}
}

static uint64_t hash(const uint8_t *p, size_t n, uint64_t h) {
	for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3;
	return h;
}

static uint8_t *emit_rip(uint8_t *p, int rex, int op, int reg, void *target) {
	*p++ = rex; *p++ = op; *p++ = 0x05 | reg << 3;
	int32_t d = (int32_t)((uint8_t *)target - (p + 4));
	memcpy(p, &d, 4);
	return p + 4;
}

// build writes: load flags and registers, the instruction, store registers and flags.
static void build(const struct request *r) {
	uint8_t *p = (uint8_t *)CODE;
	static const uint8_t push[] = {0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57};
	static const uint8_t pop[] = {0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3};
	memcpy(p, push, sizeof push); p += sizeof push;
	p = emit_rip(p, 0x48, 0x89, 4, &ctx->host_sp);
	p = emit_rip(p, 0x40, 0xff, 6, &ctx->flags_in); // push
	*p++ = 0x9d;
	for (int i = 0; i < 16; i++) p = emit_rip(p, 0x48 | (i >= 8) << 2, 0x8b, i & 7, &ctx->in[i]);
	memcpy(p, r->code, r->len); p += r->len;
	for (int i = 0; i < 16; i++) p = emit_rip(p, 0x48 | (i >= 8) << 2, 0x89, i & 7, &ctx->out[i]);
	p = emit_rip(p, 0x48, 0x8b, 4, &ctx->host_sp);
	*p++ = 0x9c;
	p = emit_rip(p, 0x40, 0x8f, 0, &ctx->flags_out); // pop
	*p++ = 0xfc;
	memcpy(p, pop, sizeof pop);
}

static void vectors(const struct request *r) {
	uint64_t seed = r->vectors;
	uint8_t *v = ctx->vec_in;
	memset(v, 0, sizeof ctx->vec_in);
	for (int i = 0; i < 8; i++) fill(v + 32 + 16 * i, 10, seed ^ (2 + i));
	v[0] = 0x7f; v[1] = 3;                // FCW: all masked
	v[3] = (seed & 7) << 3 | (seed >> 8 & 0x40); v[4] = 0xff; // FSW.TOP, tags valid
	v[24] = 0x80; v[25] = 0x1f; v[28] = 0xff; v[29] = 0xff;
	if (off_k) fill(v + off_k, 64, seed ^ 12);
	for (int i = 0; i < 32; i++) {
		uint8_t z[64];
		uint64_t s = r->mask >> i & 1 ? r->others : seed;
		memset(z, 0, sizeof z); // seed 0: zero, so that a vector index is one
		if (s) fill(z, 64, s ^ (uint64_t)(i + 1) << 32);
		if (i < 16) {
			memcpy(v + 160 + 16 * i, z, 16);
			if (off_ymm) memcpy(v + off_ymm + 16 * i, z + 16, 16);
			if (off_zmm) memcpy(v + off_zmm + 32 * i, z + 32, 32);
		} else if (off_hi) {
			memcpy(v + off_hi + 64 * (i - 16), z, 64);
		}
	}
	memcpy(v + 512, &mask, 8);
}

static void outcome(const struct request *r, struct result *o) {
	memcpy(o->gpr, ctx->out, sizeof o->gpr);
	o->flags = ctx->flags_out;
	o->memory = hash(buf + r->lo, r->hi - r->lo, 1);
	uint64_t xstate; // components in initial state are not written by xsave
	memcpy(&xstate, vec_out + 512, 8);
	o->x87 = hash(vec_out, 6, xstate & 1);
	for (int i = 0; i < 8; i++) o->x87 = hash(vec_out + 32 + 16 * i, 10, o->x87);
	o->sse = hash(vec_out + 160, 256, hash(vec_out + 24, 4, 3));
	if (off_ymm) o->avx = hash(vec_out + off_ymm, 256, 4);
	if (off_k) o->avx512 = hash(vec_out + off_k, 64, hash(vec_out + off_zmm, 512, hash(vec_out + off_hi, 1024, 5)));
	for (int i = 0; i < 32; i++) {
		uint8_t *v = vec_out;
		if (i < 16) {
			o->low[i] = hash(v + 160 + 16 * i, 16, 1);
			o->high[i] = off_ymm ? hash(v + off_ymm + 16 * i, 16, 2) : 0;
			if (off_zmm) o->high[i] = hash(v + off_zmm + 32 * i, 32, o->high[i]);
		} else if (off_hi) {
			o->low[i] = hash(v + off_hi + 64 * (i - 16), 16, 1);
			o->high[i] = hash(v + off_hi + 64 * (i - 16) + 16, 48, 2);
		}
	}
	o->first = MEM; o->last = 0;
	for (uint32_t i = 0; i < MEM; i++)
		if (buf[i] != before[i]) { if (o->first > i) o->first = i; o->last = i; }
}

static void run(const struct request *r, struct result *o) {
	memset(o, 0, sizeof *o);
	build(r);
	fill(buf, MEM, r->outside);
	if (r->hi > r->lo) fill(buf + r->lo, r->hi - r->lo, r->inside);
	memcpy(before, buf, MEM);
	memcpy(ctx->in, r->gpr, sizeof ctx->in);
	ctx->flags_in = r->flags;
	vectors(r);
	memset(vec_out, 0, sizeof vec_out);
	caught = 0;
	uint32_t lo = mask, hi = mask >> 32;
	if (sigsetjmp(back, 1) == 0) {
		__asm__ volatile("xrstor64 %0" : : "m"(ctx->vec_in), "a"(lo), "d"(hi));
		((void (*)(void))CODE)();
		__asm__ volatile("xsave64 %0; fninit" : "=m"(vec_out) : "a"(lo), "d"(hi) : "memory");
	}
	static const uint32_t mxcsr = 0x1f80;
	__asm__ volatile("fninit; ldmxcsr %0" : : "m"(mxcsr));
	if ((o->signal = caught) == 0) outcome(r, o);
}

static unsigned component(int n) {
	unsigned a, b, c, d;
	if (!(mask >> n & 1)) return 0;
	__cpuid_count(0xd, n, a, b, c, d);
	return b;
}

int main(void) {
	unsigned lo, hi;
	__asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	mask = lo & 0xe7;
	off_ymm = component(2); off_k = component(5); off_zmm = component(6); off_hi = component(7);
	if (mmap((void *)BASE, 0x8000, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)BASE) return 2;
	stack_t st = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	sigaltstack(&st, 0);
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &sa, 0);
	struct request r;
	struct result o;
	while (fread(&r, sizeof r, 1, stdin) == 1) {
		run(&r, &o);
		if (fwrite(&o, sizeof o, 1, stdout) != 1) return 1;
		if (r.flush && fflush(stdout)) return 1;
	}
	return 0;
}
