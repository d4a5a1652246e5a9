// Counts the signals that come to it until it is to end.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t came[NSIG];

static void count(int sig) { came[sig]++; }

int main(void)
{
	struct sigaction a = {.sa_handler = count};
	int sent[] = {SIGTRAP, SIGUSR1, SIGUSR2, SIGTERM};
	sigfillset(&a.sa_mask);
	for (int i = 0; i < 4; i++)
		sigaction(sent[i], &a, 0);
	puts("ready");
	fflush(stdout);
	while (!came[SIGTERM])
		usleep(1000);
	printf("%d %d %d\n", came[SIGTRAP], came[SIGUSR1], came[SIGUSR2]);
	return 0;
}
