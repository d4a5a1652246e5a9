/* Tries to replace itself by each of its arguments, and says why it could not. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		execl(argv[i], argv[i], (char *)0);
		printf("%d %s\n", i, strerror(errno));
	}
	return 7;
}
