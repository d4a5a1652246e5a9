/* Writes code in every way in which one can, runs it, and prints what it computed. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE (4 * 4096)
#define CHECK(x) do { if (!(x)) { printf("%s:%d: %s: %m\n", name, __LINE__, #x); exit(1); } } while (0)

static const char *name;
static unsigned char *run, *run2, *alias; /* where code runs, and where it is written */
static int fd = -1, fd2 = -1, pair[2];

static uint32_t seed = 12345;
static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* The ways to write. */

static void by_store(size_t at, const void *code, size_t n) { memcpy(alias + at, code, n); }

static void by_pwrite(size_t at, const void *code, size_t n) { CHECK(pwrite(fd, code, n, at) == (ssize_t)n); }

static void by_write(size_t at, const void *code, size_t n)
{
	CHECK(lseek(fd, at, SEEK_SET) == (off_t)at);
	CHECK(write(fd, code, n) == (ssize_t)n);
}

static void by_writev(size_t at, const void *code, size_t n)
{
	struct iovec v[2] = {{(void *)code, n / 2}, {(char *)code + n / 2, n - n / 2}};
	CHECK(lseek(fd, at, SEEK_SET) == (off_t)at);
	CHECK(writev(fd, v, 2) == (ssize_t)n);
}

static void by_pwritev(size_t at, const void *code, size_t n)
{
	struct iovec v[2] = {{(void *)code, n / 2}, {(char *)code + n / 2, n - n / 2}};
	CHECK(pwritev(fd, v, 2, at) == (ssize_t)n);
}

static void by_memory_file(size_t at, const void *code, size_t n) { CHECK(pwrite(fd, code, n, (off_t)(run + at)) == (ssize_t)n); }

static void by_memory_seek(size_t at, const void *code, size_t n)
{
	CHECK(lseek(fd, (off_t)(run + at), SEEK_SET) == (off_t)(run + at));
	CHECK(write(fd, code, n / 2) == (ssize_t)(n / 2));
	struct iovec v = {(char *)code + n / 2, n - n / 2};
	CHECK(writev(fd, &v, 1) == (ssize_t)(n - n / 2));
}

static void by_vm_writev(size_t at, const void *code, size_t n)
{
	struct iovec l = {(void *)code, n}, r = {alias + at, n};
	CHECK(process_vm_writev(getpid(), &l, 1, &r, 1, 0) == (ssize_t)n);
}

static void by_vm_readv(size_t at, const void *code, size_t n)
{
	struct iovec r = {(void *)code, n}, l = {alias + at, n};
	CHECK(process_vm_readv(getpid(), &l, 1, &r, 1, 0) == (ssize_t)n);
}

static void by_pipe(size_t at, const void *code, size_t n)
{
	CHECK(write(pair[1], code, n) == (ssize_t)n);
	CHECK(read(pair[0], alias + at, n) == (ssize_t)n);
}

static void by_datagram(size_t at, const void *code, size_t n)
{
	CHECK(send(pair[1], code, n, 0) == (ssize_t)n);
	struct iovec v = {alias + at, n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	CHECK((n & 1 ? recv(pair[0], alias + at, n, 0) : recvmsg(pair[0], &m, 0)) == (ssize_t)n);
}

static void by_pread(size_t at, const void *code, size_t n)
{
	struct iovec v[2] = {{alias + at, n / 2}, {alias + at + n / 2, n - n / 2}};
	CHECK(pwrite(fd2, code, n, 0) == (ssize_t)n);
	CHECK((n & 1 ? pread(fd2, alias + at, n, 0) : preadv(fd2, v, 2, 0)) == (ssize_t)n);
}

static void by_late_map(size_t at, const void *code, size_t n)
{
	alias = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(alias != MAP_FAILED);
	by_store(at, code, n);
	CHECK(munmap(alias, SIZE) == 0);
}

static void by_late_right(size_t at, const void *code, size_t n)
{
	CHECK(mprotect(alias, SIZE, PROT_READ | PROT_WRITE) == 0);
	by_store(at, code, n);
	CHECK(mprotect(alias, SIZE, PROT_READ) == 0);
}

static void by_moving(size_t at, const void *code, size_t n)
{
	by_store(at, code, n / 2);
	alias = mremap(alias, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, alias == run2 ? run2 + SIZE : run2);
	CHECK(alias != MAP_FAILED);
	by_store(at, code, n);
}

static void by_own_right(size_t at, const void *code, size_t n)
{
	CHECK(mprotect(run, SIZE, PROT_READ | PROT_WRITE) == 0);
	memcpy(run + at, code, n);
	CHECK(mprotect(run, SIZE, PROT_READ | PROT_EXEC) == 0);
}

static void by_child(size_t at, const void *code, size_t n) /* a child writes its own copy, the parent writes its own */
{
	unsigned char before = run[at];
	pid_t pid = fork();
	if (pid == 0) {
		alias[at] = 0xc3; /* ret */
		((void (*)(void))(run + at))();
		_exit(7);
	}
	int status;
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	CHECK(run[at] == before);
	by_store(at, code, n);
}

static void by_copy(size_t at, const void *code, size_t n)
{
	off_t in = 0, out = at;
	CHECK(pwrite(fd2, code, n, 0) == (ssize_t)n);
	CHECK(copy_file_range(fd2, &in, fd, &out, n, 0) == (ssize_t)n);
}

static void by_sendfile(size_t at, const void *code, size_t n)
{
	off_t in = 0;
	CHECK(pwrite(fd2, code, n, 0) == (ssize_t)n);
	CHECK(lseek(fd, at, SEEK_SET) == (off_t)at);
	CHECK(sendfile(fd, fd2, &in, n) == (ssize_t)n);
}

static void by_splice(size_t at, const void *code, size_t n)
{
	off_t out = at;
	CHECK(write(pair[1], code, n) == (ssize_t)n);
	CHECK(splice(pair[0], 0, fd, &out, n, 0) == (ssize_t)n);
}

static void by_dropping(size_t at, const void *code, size_t n) /* pages of a private map become the file's again */
{
	memset(run + at, 0xcc, n);
	CHECK(pwrite(fd, code, n, at) == (ssize_t)n);
	CHECK(madvise(run, SIZE, MADV_DONTNEED) == 0);
}

/* What is written to and run. */

static void *map(int prot, int flags, int f)
{
	void *p = mmap(0, SIZE, prot, flags, f, 0);
	CHECK(p != MAP_FAILED);
	return p;
}

static int file(void)
{
	char path[] = "/tmp/aliasXXXXXX";
	int f = mkstemp(path);
	CHECK(f >= 0 && unlink(path) == 0 && ftruncate(f, SIZE) == 0);
	return f;
}

static int memory_file(void)
{
	int f = memfd_create("code", 0);
	CHECK(f >= 0 && ftruncate(f, SIZE) == 0);
	return f;
}

enum { R = PROT_READ, W = PROT_WRITE, X = PROT_EXEC };

static void one_place(void) { run = alias = map(R | W | X, MAP_PRIVATE | MAP_ANONYMOUS, -1); }
static void one_shared_place(void) { run = alias = map(R | W | X, MAP_SHARED | MAP_ANONYMOUS, -1); }
static void fixed_code(void) { run = map(R | X, MAP_PRIVATE | MAP_ANONYMOUS, -1); fd = open("/proc/self/mem", O_RDWR); CHECK(fd >= 0); }
static void shared_by_memory(void) { run = map(R | W | X, MAP_SHARED | MAP_ANONYMOUS, -1); fd = open("/proc/self/mem", O_RDWR); CHECK(fd >= 0); }
static void two_of(int f) { fd = f; alias = map(R | W, MAP_SHARED, f); run = map(R | X, MAP_SHARED, f); }
static void two_of_memory_file(void) { two_of(memory_file()); }
static void two_of_file(void) { two_of(file()); }
static void code_first(void) { fd = memory_file(); run = map(R | X, MAP_SHARED, fd); alias = map(R | W, MAP_SHARED, fd); }
static void private_code(void) { fd = file(); alias = map(R | W, MAP_SHARED, fd); run = map(R | X, MAP_PRIVATE, fd); }
static void private_writable_code(void) { fd = file(); run = map(R | W | X, MAP_PRIVATE, fd); }
static void code_of_file(void) { fd = file(); fd2 = file(); run = map(R | X, MAP_SHARED, fd); }
static void code_of_file_pipe(void) { code_of_file(); CHECK(pipe(pair) == 0); }
static void readable_alias(void) { two_of_memory_file(); CHECK(mprotect(alias, SIZE, R) == 0); }
static void two_codes(void) { two_of_memory_file(); run2 = map(R | X, MAP_SHARED, fd); }
static void all_writable(void) { fd = memory_file(); alias = map(R | W | X, MAP_SHARED, fd); run = map(R | W | X, MAP_SHARED, fd); run2 = alias; }
static void doubled(void)
{
	alias = map(R | W, MAP_SHARED | MAP_ANONYMOUS, -1);
	run = mremap(alias, 0, SIZE, MREMAP_MAYMOVE);
	CHECK(run != MAP_FAILED && mprotect(run, SIZE, R | X) == 0);
}
static void zeroes(void)
{
	fd = open("/dev/zero", O_RDWR);
	CHECK(fd >= 0);
	alias = map(R | W, MAP_SHARED, fd);
	run = mremap(alias, 0, SIZE, MREMAP_MAYMOVE);
	CHECK(run != MAP_FAILED && mprotect(run, SIZE, R | X) == 0);
}
static void attached(int flags)
{
	int id = shmget(IPC_PRIVATE, SIZE, 0700);
	CHECK(id >= 0);
	alias = shmat(id, 0, 0);
	run = shmat(id, 0, flags);
	CHECK(alias != (void *)-1 && run != (void *)-1 && shmctl(id, IPC_RMID, 0) == 0);
	CHECK(flags & SHM_EXEC || mprotect(run, SIZE, R | X) == 0);
}
static void attached_twice(void) { attached(0); }
static void attached_as_code(void) { attached(SHM_EXEC | SHM_RDONLY); }
static void with_pipe(void) { two_of_memory_file(); CHECK(pipe(pair) == 0); }
static void with_pipe_one(void) { one_place(); CHECK(pipe(pair) == 0); }
static void with_socket(void) { two_of_file(); CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0); }
static void with_file(void) { two_of_memory_file(); fd2 = file(); }
static void moving(void)
{
	two_of_memory_file();
	run2 = mmap(0, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(run2 != MAP_FAILED);
}

static const struct way {
	const char *name;
	void (*setup)(void);
	void (*put)(size_t at, const void *code, size_t n);
} ways[] = {
	{"one place", one_place, by_store},
	{"one shared place", one_shared_place, by_store},
	{"one place, rights in turn", one_place, by_own_right},
	{"memfd", two_of_memory_file, by_store},
	{"memfd, code mapped first", code_first, by_store},
	{"file", two_of_file, by_store},
	{"private code", private_code, by_store},
	{"doubled by mremap", doubled, by_store},
	{"/dev/zero", zeroes, by_store},
	{"System V", attached_twice, by_store},
	{"System V, as code", attached_as_code, by_store},
	{"code in two places", two_codes, by_store},
	{"all writable", all_writable, by_store},
	{"alias mapped late", two_of_memory_file, by_late_map},
	{"alias writable late", readable_alias, by_late_right},
	{"alias moves", moving, by_moving},
	{"pwrite", code_of_file, by_pwrite},
	{"write", code_of_file, by_write},
	{"writev", code_of_file, by_writev},
	{"pwritev", code_of_file, by_pwritev},
	{"copy_file_range", code_of_file, by_copy},
	{"sendfile", code_of_file, by_sendfile},
	{"splice", code_of_file_pipe, by_splice},
	{"/proc/self/mem", fixed_code, by_memory_file},
	{"/proc/self/mem, write", fixed_code, by_memory_seek},
	{"/proc/self/mem, shared", shared_by_memory, by_memory_file},
	{"process_vm_writev", two_of_memory_file, by_vm_writev},
	{"process_vm_readv", two_of_memory_file, by_vm_readv},
	{"read of a pipe", with_pipe, by_pipe},
	{"read of a pipe, one place", with_pipe_one, by_pipe},
	{"recv", with_socket, by_datagram},
	{"pread", with_file, by_pread},
	{"child", one_place, by_child},
	{"madvise", private_writable_code, by_dropping},
};

/* A function of random instructions, and where its constants lie. */
static size_t generate(unsigned char *code, size_t *where, int *count)
{
	static const unsigned char ops[] = {0x05, 0x2d, 0x35, 0x69}; /* add, sub, xor, imul eax, imm32 */
	size_t n = 0;
	*count = 0;
	code[n++] = 0x89, code[n++] = 0xf8; /* mov eax, edi */
	for (int i = 1 + rnd(12); i > 0; i--) {
		unsigned char op = ops[rnd(4)];
		code[n++] = op;
		if (op == 0x69)
			code[n++] = 0xc0;
		uint32_t v = rnd(1 << 24) | 1;
		where[(*count)++] = n;
		memcpy(code + n, &v, 4);
		n += 4;
	}
	code[n++] = 0xc3;
	return n;
}

static uint32_t go(uint32_t x, int times, size_t at)
{
	unsigned a, b, c, d;
	__cpuid(0, a, b, c, d); /* what was written at one address is run at another */
	for (int i = 0; i < times; i++) {
		x = ((uint32_t (*)(uint32_t))(run + at))(x);
		if (run2 && run2 != alias && name[0] == 'c')
			x ^= ((uint32_t (*)(uint32_t))(run2 + at))(x);
	}
	return x;
}

static void try(const struct way *w, int rounds)
{
	unsigned char code[128];
	size_t where[16], at = 0, n = 0;
	int count = 0;
	uint32_t x = 1;
	name = w->name;
	run = run2 = alias = 0;
	fd = fd2 = -1;
	w->setup();
	for (int i = 0; i < rounds; i++) {
		if (n == 0 || rnd(3) == 0) {
			n = generate(code, where, &count);
			at = rnd(SIZE - 256);
			w->put(at, code, n);
		} else {
			size_t k = where[rnd(count)];
			uint32_t v = rnd(1 << 24) | 1;
			memcpy(code + k, &v, 4);
			w->put(at + k, code + k, 4);
			if (rnd(4) == 0) /* and the whole, with the old text about it */
				w->put(at, code, n);
		}
		x = go(x, rnd(20) ? 1 + rnd(5) : 3000, at);
	}
	printf("%s: %08x\n", name, x);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 60;
	if (argc > 2)
		seed = atoi(argv[2]);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (argc <= 3 || strcmp(argv[3], ways[i].name) == 0)
			try(&ways[i], rounds);
	return 0;
}
