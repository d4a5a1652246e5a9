// Kernels to measure and to compare the engine with: blocked LU, radix sort,
// FFT, and code with many calls, switches and branches. No library. RDI chooses the kernel, RSI its size.
// Built by the tests: gcc -O2 -nostdlib -static -fno-stack-protector

typedef unsigned long u64;
typedef unsigned u32;

enum { N = 256, B = 16, KEYS = 1 << 16, POINTS = 1 << 12 };

static double a[N][N];
static u32 keys[KEYS], other[KEYS], count[256];
static double re[POINTS], im[POINTS], wr[POINTS], wi[POINTS];

static u64 seed;
static u32 rnd(void) {
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return seed >> 33;
}

static void daxpy(double *x, const double *y, double f, int n) {
    for (int i = 0; i < n; i++)
        x[i] -= f * y[i];
}

static void block(int k, int i, int j) {
    for (int r = 0; r < B; r++)
        for (int c = 0; c < B; c++)
            daxpy(&a[i + r][j], &a[k + c][j], a[i + r][k + c], B);
}

static u64 lu(int rounds) {
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                a[i][j] = (rnd() & 1023) * 1e-3 + (i == j ? N : 0);
        for (int k = 0; k < N; k += B)
            for (int i = k + B; i < N; i += B) {
                for (int r = 0; r < B; r++)
                    for (int c = 0; c < B; c++)
                        a[i + r][k + c] *= 1e-3;
                for (int j = k + B; j < N; j += B)
                    block(k, i, j);
            }
    }
    return (u64)(a[N - 1][N - 1] * 1000);
}

static u64 radix(int rounds) {
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < KEYS; i++)
            keys[i] = rnd();
        for (int shift = 0; shift < 32; shift += 8) {
            for (int i = 0; i < 256; i++)
                count[i] = 0;
            for (int i = 0; i < KEYS; i++)
                count[keys[i] >> shift & 255]++;
            u32 sum = 0;
            for (int i = 0; i < 256; i++) {
                u32 c = count[i];
                count[i] = sum;
                sum += c;
            }
            for (int i = 0; i < KEYS; i++)
                other[count[keys[i] >> shift & 255]++] = keys[i];
            for (int i = 0; i < KEYS; i++)
                keys[i] = other[i];
        }
    }
    return keys[KEYS / 2];
}

static void twiddle(void) {
    // exp(-2 pi i k / POINTS) by recurrence from a good start
    double cr = 0.99999882345170190993, ci = -0.00153398018628476550, r = 1, i = 0;
    for (int k = 0; k < POINTS; k++) {
        wr[k] = r;
        wi[k] = i;
        double t = r * cr - i * ci;
        i = r * ci + i * cr;
        r = t;
    }
}

static void pass(int half) {
    int step = POINTS / (2 * half);
    for (int base = 0; base < POINTS; base += 2 * half)
        for (int k = 0; k < half; k++) {
            int p = base + k, q = p + half;
            double tr = re[q] * wr[k * step] - im[q] * wi[k * step];
            double ti = re[q] * wi[k * step] + im[q] * wr[k * step];
            re[q] = re[p] - tr;
            im[q] = im[p] - ti;
            re[p] += tr;
            im[p] += ti;
        }
}

static u64 fft(int rounds) {
    twiddle();
    for (int i = 0; i < POINTS; i++) {
        re[i] = rnd() & 255;
        im[i] = 0;
    }
    for (int round = 0; round < rounds; round++) {
        for (int half = 1; half < POINTS; half *= 2)
            pass(half);
        for (int i = 0; i < POINTS; i++) {
            re[i] *= 1.0 / 64;
            im[i] *= 1.0 / 64;
        }
    }
    return (u64)(long)(re[1] * 1000);
}

static u64 __attribute__((noinline)) fib(u64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static u64 __attribute__((noinline)) f0(u64 x) { return x * 3 + 1; }
static u64 __attribute__((noinline)) f1(u64 x) { return x ^ (x >> 7); }
static u64 __attribute__((noinline)) f2(u64 x) { return x % 1000003 + 17; }
static u64 (*const table[4])(u64) = {f0, f1, f2, f1};

static u64 __attribute__((noinline)) interpret(u64 x, int op) {
    switch (op) {
    case 0: return x + 1;
    case 1: return x * 5;
    case 2: return x >> 1;
    case 3: return x ^ 0x55;
    case 4: return x - (x >> 3);
    case 5: return ~x;
    case 6: return x << 2;
    case 7: return x | 3;
    default: return x & 0xffffffffffUL;
    }
}

static u64 calls(int rounds) {
    u64 x = 1;
    for (int i = 0; i < rounds; i++) {
        x = table[x & 3](x);
        x = interpret(x, rnd() % 9);
        if ((i & 255) == 0)
            x += fib(12);
    }
    return x;
}

// Stack of the runs that are compared step by step with a native process.
char stack[1 << 16] __attribute__((aligned(64)));

u64 __attribute__((used)) kernel(int which, int size) {
    seed = 42;
    switch (which) {
    case 0: return lu(size);
    case 1: return radix(size);
    case 2: return fft(size);
    default: return calls(size);
    }
}

__asm__(".globl _start\n_start: call kernel\n.globl done\ndone: syscall\n.fill 16,1,0x90\n");
