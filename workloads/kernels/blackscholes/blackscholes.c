/*
 * blackscholes: prices a portfolio that repeats a small table of options, the
 * same number of options for every thread. The input is parsed from text first.
 * Balanced.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE 128
#define RUNS 16

struct option {
	float spot, strike, rate, vol, time;
	char type;
};

static int nthreads = 16, n = 16384;
static struct option *opt;
static float *price;

static char *make_text(void)
{
	unsigned s = 17;
	char *text = malloc(TABLE * 80), *p = text;
	for (int i = 0; i < TABLE; i++) {
		s = s * 1103515245 + 12345;
		unsigned a = s >> 16 & 63;
		s = s * 1103515245 + 12345;
		unsigned b = s >> 16 & 63;
		p += sprintf(p, "%u.%02u %u.50 0.%02u 0.%02u %u.25 %c\n", 60 + a, b, 70 + b / 2,
			     2 + a % 8, 10 + b % 50, 1 + a % 3, "CP"[(a ^ b) & 1]);
	}
	return text;
}

static void load(void)
{
	char *text = make_text(), *p = text;
	opt = malloc(n * sizeof *opt);
	price = malloc(n * sizeof *price);
	for (int i = 0; i < n; i++) {
		if (i % TABLE == 0)
			p = text;
		opt[i].spot = strtof(p, &p);
		opt[i].strike = strtof(p, &p);
		opt[i].rate = strtof(p, &p);
		opt[i].vol = strtof(p, &p);
		opt[i].time = strtof(p, &p);
		while (*p == ' ')
			p++;
		opt[i].type = *p;
		while (*p++ != '\n')
			;
	}
	free(text);
}

static float cndf(float x)
{
	int neg = x < 0;
	if (neg)
		x = -x;
	float k = 1.0f / (1.0f + 0.2316419f * x);
	float poly = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f +
		     k * (-1.821255978f + k * 1.330274429f))));
	float r = 1.0f - 0.39894228f * expf(-0.5f * x * x) * poly;
	return neg ? 1.0f - r : r;
}

static float value(const struct option *o)
{
	float sq = o->vol * sqrtf(o->time);
	float d1 = (logf(o->spot / o->strike) + (o->rate + o->vol * o->vol / 2) * o->time) / sq;
	float d2 = d1 - sq;
	float fut = o->strike * expf(-o->rate * o->time);
	if (o->type == 'C')
		return o->spot * cndf(d1) - fut * cndf(d2);
	return fut * (1.0f - cndf(d2)) - o->spot * (1.0f - cndf(d1));
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int lo = n / nthreads * me, hi = n / nthreads * (me + 1);
	for (int r = 0; r < RUNS; r++)
		for (int i = lo; i < hi; i++)
			price[i] = value(&opt[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	double sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		n = atoi(argv[2]) * TABLE * nthreads;
	load();
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int i = 0; i < n; i++)
		sum += price[i];
	printf("portfolio %.3f\n", sum);
	return 0;
}
