// Descriptors and memory: pipes between threads, poll, select, epoll, eventfd,
// timerfd, sockets, file maps, mremap, dlopen, what /proc tells.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

static int fd[2], sv[2], efd;

static void *feeder(void *p) {
	char buf[300000];
	memset(buf, 'z', sizeof buf);
	long n = 0, r;
	while (n < (long)sizeof buf && (r = write(fd[1], buf + n, sizeof buf - n)) > 0)
		n += r;
	close(fd[1]);
	eventfd_write(efd, 5);
	send(sv[1], "datagram", 8, 0);
	return (void *)n;
}

static int sems;
static void *taker(void *p) {
	struct sembuf take = {0, -2, 0}, give = {1, 1, 0};
	semop(sems, &take, 1);
	printf("taken\n");
	semop(sems, &give, 1);
	return 0;
}

static void sysv(void) {
	pthread_t t;
	struct sembuf one = {0, 1, 0}, back = {1, -1, 0};
	sems = semget(IPC_PRIVATE, 2, 0600);
	pthread_create(&t, 0, taker, 0);
	semop(sems, &one, 1);
	usleep(1000);
	printf("one more\n");
	semop(sems, &one, 1);
	semop(sems, &back, 1);
	printf("given back\n");
	pthread_join(t, 0);
	semctl(sems, 0, IPC_RMID);
}

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	pthread_t t;
	void *r;
	char buf[10000];
	long n = 0, k;
	if (pipe(fd) || socketpair(AF_UNIX, SOCK_DGRAM, 0, sv))
		return 1;
	efd = eventfd(0, 0);
	pthread_create(&t, 0, feeder, 0);
	while ((k = read(fd[0], buf, sizeof buf)) > 0)
		n += k;
	eventfd_t v;
	eventfd_read(efd, &v);
	k = recv(sv[0], buf, sizeof buf, 0);
	pthread_join(t, &r);
	printf("read %ld wrote %ld event %ld datagram %.*s\n", n, (long)r, (long)v, (int)k, buf);

	struct pollfd pf = {sv[0], POLLIN, 0};
	printf("poll %d\n", poll(&pf, 1, 20));
	int ep = epoll_create1(0), tf = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec its = {{0, 0}, {0, 3000000}};
	timerfd_settime(tf, 0, &its, 0);
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = 42}, got;
	epoll_ctl(ep, EPOLL_CTL_ADD, tf, &ev);
	printf("epoll %d", epoll_wait(ep, &got, 1, 5000));
	printf(" data %d, then %d\n", (int)got.data.u32, epoll_wait(ep, &got, 1, 0));
	fd_set set;
	FD_ZERO(&set);
	FD_SET(sv[0], &set);
	struct timeval tv = {0, 1000};
	printf("select %d\n", select(sv[0] + 1, &set, 0, 0, &tv));

	char name[] = "/tmp/lime-test-XXXXXX";
	int f = mkstemp(name);
	unlink(name);
	if (ftruncate(f, 10000))
		return 1;
	char *m = mmap(0, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	strcpy(m + 5000, "in the file");
	if (pread(f, buf, 11, 5000) != 11)
		return 1;
	printf("%.11s\n", buf);
	m = mremap(m, 10000, 1 << 20, MREMAP_MAYMOVE);
	printf("%s\n", m + 5000);
	char *big = malloc(100 << 20);
	big[99 << 20] = 1;
	big = realloc(big, 300 << 20);
	printf("realloc kept %d\n", big[99 << 20]);
	free(big);

	void *lib = dlopen("libm.so.6", RTLD_NOW);
	double (*c)(double) = lib ? dlsym(lib, "cos") : 0;
	printf("cos 0 = %g\n", c ? c(0) : -1);
	if (lib)
		dlclose(lib);

	int (*code)(void) = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 1; i < 4; i++) {
		memcpy((void *)code, "\xb8\0\0\0\0\xc3", 6);
		((char *)code)[1] = i;
		printf("made code says %d\n", code());
	}
	mprotect((void *)code, 4096, PROT_READ | PROT_WRITE);
	((char *)code)[1] = 9;
	mprotect((void *)code, 4096, PROT_READ | PROT_EXEC);
	printf("made code says %d\n", code());

	char exe[100] = "";
	k = readlink("/proc/self/exe", exe, sizeof exe - 1);
	printf("exe %s\n", k > 0 ? strrchr(exe, '/') : "?");
	FILE *maps = fopen("/proc/self/maps", "r");
	int found = 0;
	while (fgets(buf, sizeof buf, maps)) {
		unsigned long lo, hi;
		if (sscanf(buf, "%lx-%lx", &lo, &hi) == 2 && lo <= (unsigned long)&main && (unsigned long)&main < hi)
			found = strstr(buf, "r-xp") != 0;
	}
	printf("main in maps %d\n", found);
	cpu_set_t cs;
	sched_getaffinity(0, sizeof cs, &cs);
	printf("affinity agrees %d\n", CPU_COUNT(&cs) == sysconf(_SC_NPROCESSORS_ONLN));
	sysv();
	return 0;
}
