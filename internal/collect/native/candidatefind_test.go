package native

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lime/internal/binfile"
	"lime/internal/collect/image"
	"lime/internal/collect/native/hook"
	"lime/internal/profile"
	"lime/internal/x86"
)

const gated = `
#include <sched.h>
#include <stdatomic.h>
static atomic_int count, sense, ticket, serving;
static int P, list[100];
static struct { _Alignas(64) atomic_int flag; } up[10][64], down[64];
double x[1000];
static inline __attribute__((always_inline)) void meet(int *mine) {
	*mine = !*mine;
	if (atomic_fetch_add(&count, 1) == P - 1) { atomic_store(&count, 0); atomic_store(&sense, *mine); }
	else while (atomic_load(&sense) != *mine) __builtin_ia32_pause();
}
__attribute__((noinline)) void whole_central(int *mine) { meet(mine); }
__attribute__((noinline)) void whole_yielding(int *mine) {
	if (atomic_fetch_sub(&count, 1) == 1) { atomic_store(&count, P); atomic_store(&sense, *mine); }
	else while (atomic_load(&sense) != *mine) sched_yield();
}
__attribute__((noinline)) void whole_flags(int id, int s) {
	int k = 0, d = 1;
	for (; d < P; k++, d *= 2) {
		if (id & d) {
			atomic_store_explicit(&up[k][id - d].flag, s, memory_order_release);
			while (atomic_load_explicit(&down[id].flag, memory_order_acquire) != s) ;
			break;
		}
		while (atomic_load_explicit(&up[k][id].flag, memory_order_acquire) != s) ;
	}
	for (d /= 2; d > 0; d /= 2) atomic_store_explicit(&down[id + d].flag, s, memory_order_release);
}
__attribute__((noinline)) void piece_working(int n, int rounds) {
	int mine = 0;
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < n; i++) x[i] = x[i] * 0.5 + i;
		meet(&mine);
	}
}
__attribute__((noinline)) void piece_once(int n) {
	int mine = 0;
	for (int i = 0; i < n; i++) x[i] = x[i] * 0.5 + i;
	meet(&mine);
	x[0]++;
}
__attribute__((noinline)) int none_searching(int v) { int i = 0; while (((volatile int *)list)[i] != v) i++; return i; }
__attribute__((noinline)) void none_taking(void) { while (atomic_exchange(&sense, 1)) while (atomic_load(&sense)) __builtin_ia32_pause(); }
__attribute__((noinline)) void none_calling(void (*f)(void)) { while (!atomic_load(&sense)) f(); }
int main(int argc, char **argv) {
	int m = argc;
	P = 1;
	whole_central(&m); whole_yielding(&m); whole_flags(0, argc); piece_working(10, 3); piece_once(5);
	return none_searching(0) + (argc > 5 ? (none_calling(0), none_taking(), 1) : 0);
}
`

// Functions that only wait are watched as a whole, of those that work the piece around the loop
// that waits.
func TestFindCandidates(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O3", "-no-pie"}, {"-O2", "-fomit-frame-pointer", "-march=x86-64-v3"}} {
		bin, err := binfile.Open(buildWith(t, "gcc", gated, flags...))
		if err != nil {
			t.Fatal(err)
		}
		defer bin.Close()
		m := newImages(0)
		m.add(image.New(bin.Path, bin), 0, 1<<40)
		var got []string
		for _, g := range newCode(m, profile.New(profile.Meta{})).findCandidates() {
			kind := "whole"
			if g.Inside {
				kind = "piece"
			}
			if !strings.HasPrefix(g.Name, kind) {
				t.Errorf("%v: %s is watched as %s", flags, g.Name, kind)
			}
			got = append(got, g.Name)
			var in x86.Inst
			if first := g.Runs[slices.IndexFunc(g.Runs,
				func(r hook.Code) bool {
					return r.At <= g.Entry &&
						g.Entry < r.At+uint64(len(r.Bytes))
				})]; x86.Decode(first.Bytes[g.Entry-first.At:], &in) != nil || g.Inside && !in.Lock {
				t.Errorf("%v: %s: %q at its entry", flags, g.Name, in.Name)
			}
		}
		slices.Sort(got)
		if want := "[piece_once piece_working whole_central whole_flags whole_yielding]"; fmt.Sprint(got) != want {
			t.Errorf("%v: candidates %v, want %s", flags, got, want)
		}
	}
}
