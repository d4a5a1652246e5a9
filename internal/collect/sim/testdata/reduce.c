// A team reduces; its first thread is there before the others have begun.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int threads = atoi(argv[1]);
	double sum = 0;
	omp_set_num_threads(threads);
	for (int round = 0; round < 3; round++)
#pragma omp parallel reduction(+ : sum)
	{
		if (omp_get_thread_num())
			usleep(20000);
		for (int i = 0; i < 1000; i++)
			sum += i;
	}
	printf("%g\n", sum);
}
