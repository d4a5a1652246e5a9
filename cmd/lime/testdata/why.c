/* Programs whose wasted memory work has one reason each, for so many seconds of CPU time: why MODE SECONDS. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../../../internal/collect/sim/testdata/waste_why.h"

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
	PROGRAMS,
};

int main(int argc, char **argv) {
	for (unsigned k = 0; argc == 3 && k < sizeof programs / sizeof *programs; k++)
		if (!strcmp(programs[k].name, argv[1])) {
			for (double end = atof(argv[2]) * CLOCKS_PER_SEC; clock() < end;)
				for (int i = 0; i < 100; i++) programs[k].run();
			return 0;
		}
	return 2;
}
