/* Prices of options, from a table that all threads share: the parameters of
 * some threads' options lie close together, those of others anywhere. */
#include "../../workloads/plant.h"

enum { TABLE = 1 << 16, OPTIONS = 1 << 15 };
static double table[TABLE];
static unsigned *option;

static void setup(void)
{
	unsigned seed = 9;
	for (int i = 0; i < TABLE; i++)
		table[i] = 1.0 / (i + 1);
	option = malloc(OPTIONS * sizeof *option);
	for (unsigned i = 0; i < OPTIONS; i++)
		option[i] = next(&seed) % (i / (OPTIONS / P) % 8 == 3 ? TABLE : 512);
}

static void *worker(void *arg)
{
	long id = (long)arg;
	double sum = 0;
	for (int round = 0; round < 4; round++) {
		for (unsigned i = OPTIONS / P * id; i < OPTIONS / P * (id + 1); i++) {
			double x = table[option[i]];
			for (int k = 0; k < 4; k++)
				x = x * 0.5 + 0.25 * x * x;
			sum += x;
		}
		pthread_barrier_wait(&bar); /* SECTION */
	}
	result[id * 16] = (long)sum;
	return NULL;
}
