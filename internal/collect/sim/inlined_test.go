package sim_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestInlinedBarriersInParallel has threads meet at barriers that a compiler has put into the function
// that works: those who wait and those who let them go take several ways through it, and libraries
// come past atomic instructions that have to do with the wait alone. Once the barrier is known, each
// passage ends a section of all threads, each with what it did in that round.
func TestInlinedBarriersInParallel(t *testing.T) {
	const rounds, work = 60, 100_000
	for i, kind := range []string{"STD", "ATOMIC", "FUTEX", "SENSE"} {
		for k, compiler := range []string{"g++ -O2", "clang++ -O2"} {
			if os.Getenv("LIME_LONG") == "" && !slices.Contains([]string{"STD/g++ -O2", "ATOMIC/clang++ -O2"}, kind+"/"+compiler) {
				continue // building the others takes longer than running them
			}
			t.Run(kind+"/"+compiler, func(t *testing.T) {
				exe := barrierProgram{kind, "INLINE", compiler}.build(t)
				l := barrierLoad{3 + (i+3*k)%5, rounds, work, byChance}
				args := strings.Fields(fmt.Sprint(l.threads, l.rounds, l.work, l.spread))
				cmd, path := counting(t, []string{unnamed}, append([]string{exe}, args...)...)
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
					t.Fatalf("%v: %s", err, out)
				}
				x := passagesIn(t, path, l)
				if t.Logf("%d threads: %d right, %d wrong", l.threads, x.right, x.wrong); x.right < rounds/2 {
					t.Errorf("%d of %d passages are right", x.right, rounds)
				}
			})
		}
	}
}
