package sim_test

import (
	"fmt"
	"slices"
	"strings"
)

// Loops in which threads wait, as people write them: one table for all who ask about waits, whatever is
// looked at, and whether it is a lock's that is tried for behind the loop.

// waitLoop is a loop: LOOK says that its thread has to go on waiting, EACH is what it does every time, and
// DO what it does every N-th time.
type waitLoop struct{ name, text string }

// in fills a loop in.
func (l waitLoop) in(look, each, do string, n int) string {
	return strings.NewReplacer("LOOK", look, "EACH", each, "DO", do, "N", fmt.Sprint(n)).Replace(l.text)
}

// spinTurns do something every N-th time.
var spinTurns = []waitLoop{
	{"by the remainder", "for (int k = 0; LOOK; k++) { EACH if (k % N == N - 1) { DO } }"},
	{"unsigned", "unsigned k = 0; while (LOOK) { EACH if (++k % N == 0) { DO } }"},
	{"counts anew", "long k = 0; while (LOOK) { EACH if (++k >= N) { k = 0; DO } }"},
	{"counts down", "int k = N; while (LOOK) { EACH if (--k == 0) { DO k = N; } }"},
	{"looks behind", "int k = 0; do { EACH if (k++ > N) { DO } } while (LOOK);"},
	{"looks within, too", "while (LOOK) { for (int i = 0; i < N && LOOK; i++) { EACH } DO }"},
	{"counts in memory", "for (volatile int k = 0; LOOK; k++) { EACH if (k % N == 0) { DO } }"},
	{"breaks", "int k = 0; for (;;) { if (!(LOOK)) break; EACH if (k < N) k++; else { DO } }"},
}

// spinBacks wait for longer and longer before they look again, N at most.
var spinBacks = []waitLoop{
	{"twice as long", "for (int d = 1; LOOK; d = d < N ? 2 * d : d) { for (int i = 0; i < d; i++) { EACH } DO }"},
	{"half as long again", "for (unsigned d = 1; LOOK; d = d + d / 2 + 1 > N ? N : d + d / 2 + 1) { for (volatile unsigned i = 0; i < d; i++) { EACH } }"},
	{"in a saw", "for (int d = 4, i; LOOK; d += 4) { i = d % N; while (i-- > 0) { EACH } }"},
	{"by the distance", "while (LOOK) { for (int i = (mine - V(turn)) * N; i > 0; i--) { EACH } DO }"},
}

// lockTurns are the loops in front of attempts at locks.
var lockTurns = []waitLoop{
	{"look", "while (LOOK) EACH"},
	{"pauses long", "while (LOOK) { for (volatile int z = 0; z < N; z++) EACH }"},
	{"looks, or", "do EACH while (LOOK);"},
	{"first N times", "for (int i = 0; LOOK; i++) { if (i < N) EACH else DO }"},
	{"longer and longer", "while (LOOK) { if (d <= 6) { for (int i = 0; i < 1 << d; i++) EACH } else DO if (d <= 10) d++; }"},
	{"now and then", "while (LOOK) if (++i % N == 0) DO else EACH"},
}

// loop is one of the loops of the tables.
func loop(name string) waitLoop {
	all := slices.Concat(spinTurns, spinBacks, lockTurns)
	i := slices.IndexFunc(all, func(l waitLoop) bool { return l.name == name })
	return all[i]
}

const (
	tryXchg    = "__atomic_exchange_n(&L, 1, __ATOMIC_ACQUIRE)"
	tryCmpxchg = "!__atomic_compare_exchange_n(&L, &z, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)"
	look       = "__atomic_load_n(&L, __ATOMIC_RELAXED)"
	unlock     = "__atomic_store_n(&L, 0, __ATOMIC_RELEASE);"
	pauses     = "__builtin_ia32_pause();"
	yields     = "sched_yield();"
)

// thenTry is a lock that is tried for behind a loop that looks at it; try is nonzero where that fails.
func thenTry(loop, try string) string { return "for (;;) { " + loop + " if (!(" + try + ")) break; }" }
