package workloads

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// randomProgram writes a C program of random functions: loops, branches, calls, calls through a table and recursion, all of which hang on a
// number that differs from thread to thread.
func randomProgram(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	const functions = 9
	var b strings.Builder
	b.WriteString(`#include <pthread.h>
typedef unsigned long u;
static pthread_barrier_t bar;
static volatile u sink;
static u next(u *s) { *s = *s * 6364136223846793005ul + 1442695040888963407ul; return *s >> 40; }
typedef void (*fn)(u *, int);
static fn table[4];
`)
	for f := range functions {
		fmt.Fprintf(&b, "static void f%d(u *s, int d);\n", f)
	}
	for f := range functions {
		fmt.Fprintf(&b, "__attribute__((noinline)) static void f%d(u *s, int d) {\n\tif (d > 7) return;\n", f)
		for range 2 + r.IntN(4) {
			fmt.Fprintf(&b, "\t%s\n", statement(r, f, functions, 2))
		}
		b.WriteString("}\n")
	}
	b.WriteString(`static void *work(void *arg) {
	u s = (u)arg * 977 + 3;
	for (int round = 0; round < 4; round++) { f0(&s, 0); f1(&s, 2); pthread_barrier_wait(&bar); }
	return 0;
}
int main(void) {
	pthread_t t[6];
`)
	for i := range 4 {
		fmt.Fprintf(&b, "\ttable[%d] = f%d;\n", i, 4+r.IntN(functions-4))
	}
	b.WriteString(`	pthread_barrier_init(&bar, 0, 6);
	for (u i = 0; i < 6; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
}
`)
	return b.String()
}

// statement is one random statement of function f.
func statement(r *rand.Rand, f, functions, depth int) string {
	inner := func() string {
		if depth == 0 {
			return "sink += *s;"
		}
		return statement(r, f, functions, depth-1)
	}
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("for (u i = next(s) %% %d; i > 0; i--) { %s }", 2+r.IntN(6), inner())
	case 1:
		return fmt.Sprintf("if (next(s) %% %d == 0) { %s } else { %s }", 2+r.IntN(3), inner(), inner())
	case 2:
		return fmt.Sprintf("f%d(s, d + 2);", min(f+1+r.IntN(3), functions-1))
	case 3:
		return "table[next(s) % 4](s, d + 3);"
	case 4:
		return fmt.Sprintf("if (next(s) %% 2) f%d(s, d + 2);", f) // recursion
	}
	return fmt.Sprintf("for (int i = 0; i < %d; i++) sink += i;", 1+r.IntN(40))
}

// The account of random programs adds up, like that of the planted ones.
func TestRandomProgramsAddUp(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	testenv.Tool(t, "gcc")
	bin := lime(t)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := t.TempDir()
			src, prog := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
			if err := os.WriteFile(src, []byte(randomProgram(seed)), 0o644); err != nil {
				t.Fatal(err)
			}
			level := fmt.Sprintf("-O%d", seed%3)
			if msg, err := exec.Command("gcc", level, "-g", "-pthread", "-o", prog, src).CombinedOutput(); err != nil {
				t.Fatalf("gcc: %v\n%s", err, msg)
			}
			_, a := accounts(t, bin, prog, 8)
			a.addsUp(t)
		})
	}
}
