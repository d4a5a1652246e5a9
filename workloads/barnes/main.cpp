#include <pthread.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Body { double x, y, m, ax, ay; };
struct Cell { double x, y, m, size; int n; Body *b; Cell *sub[4]; };
static std::vector<Body> bodies;
static Cell pool[20000];
static int used;
static Cell *root;
static int P;
static pthread_barrier_t bar;
static Cell *make(double x, double y, double size) { Cell *c = &pool[used++]; *c = Cell(); c->x = x; c->y = y; c->size = size; return c; }
static void insert(Cell *c, Body *b) {
	if (c->n == 0) { c->b = b; c->n = 1; c->m = b->m; return; }
	if (c->n == 1 && c->b) { Body *o = c->b; c->b = nullptr; int q = (o->x > c->x) + 2 * (o->y > c->y);
		if (!c->sub[q]) c->sub[q] = make(c->x + (q & 1 ? .25 : -.25) * c->size, c->y + (q & 2 ? .25 : -.25) * c->size, c->size / 2);
		if (c->size > 1e-6) insert(c->sub[q], o); }
	int q = (b->x > c->x) + 2 * (b->y > c->y);
	if (!c->sub[q]) c->sub[q] = make(c->x + (q & 1 ? .25 : -.25) * c->size, c->y + (q & 2 ? .25 : -.25) * c->size, c->size / 2);
	c->n++; c->m += b->m;
	if (c->size > 1e-6) insert(c->sub[q], b);
}
static void gravity(Body *p, Cell *c, double dx, double dy) {
	double r = std::sqrt(dx * dx + dy * dy + 1e-3), f = c->m / (r * r * r);
	p->ax += f * dx; p->ay += f * dy;
}
static void walk(Body *p, Cell *c) {
	double dx = c->x - p->x, dy = c->y - p->y;
	if (c->n == 1 || c->size * c->size < 0.3 * (dx * dx + dy * dy)) { /* CAUSE */
		gravity(p, c, dx, dy);
		return;
	}
	for (int q = 0; q < 4; q++) /* CAUSE */
		if (c->sub[q]) /* CAUSE */
			walk(p, c->sub[q]); /* CAUSE */
}
static void forces(int id) {
	int n = bodies.size();
	for (int i = (long)id * n / P; i < (long)(id + 1) * n / P; i++) {
		bodies[i].ax = bodies[i].ay = 0;
		walk(&bodies[i], root);
	}
}
static void build() {
	used = 0; root = make(0, 0, 2);
	for (auto &b : bodies) insert(root, &b);
}
static void *worker(void *a) {
	int id = (long)a;
	for (int s = 0; s < 3; s++) {
		if (id == 0) build(); /* CAUSE */
		pthread_barrier_wait(&bar); /* END */
		forces(id);
		pthread_barrier_wait(&bar); /* END */
	}
	return nullptr;
}
int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	srand(1);
	bodies.resize(1024);
	for (size_t i = 0; i < bodies.size(); i++) {
		double r = i < 200 ? 0.02 : 0.9; /* a dense cluster first */
		bodies[i].x = r * (rand() / (double)RAND_MAX - .5) * 2; bodies[i].y = r * (rand() / (double)RAND_MAX - .5) * 2; bodies[i].m = 1;
	}
	pthread_t t[256];
	pthread_barrier_init(&bar, nullptr, P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], nullptr, worker, (void *)i);
	for (int i = 0; i < P; i++) pthread_join(t[i], nullptr);
	printf("%g\n", bodies[5].ax);
}
