package workloads

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"lime/internal/testenv"
)

// tally is how often reports were right. Programs that run side by side add to it.
type tally struct {
	sync.Mutex
	all, first, three, alarms, balanced int
}

func (n *tally) String() string {
	return fmt.Sprintf("first place %d of %d, first three %d of %d, false alarms %d of %d", n.first, n.all, n.three, n.all, n.alarms, n.balanced)
}

// add counts the rank that a report gave to the cause of w.
func (n *tally) add(w *workload, rank int) {
	n.Lock()
	defer n.Unlock()
	if w.Balanced {
		n.balanced++
		n.alarms += 1 - rank
		return
	}
	n.all++
	if rank == 1 {
		n.first++
	}
	if rank >= 1 && rank <= 3 {
		n.three++
	}
}

// TestHitRate simulates every workload on 8 and on 32 cores, and prints how often the planted
// cause is named first, and among the first three.
func TestHitRate(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin, dir := lime(t), t.TempDir()
	var n tally
	t.Run("programs", func(t *testing.T) { // ends when all programs have
		for _, w := range load(t) {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				prog := w.build(t, dir)
				for _, cores := range []int{8, 32} {
					w.judge(t, bin, prog, cores, &n)
				}
			})
		}
	})
	t.Log(&n)
	if n.three*100 < n.all*least || n.alarms > 0 {
		t.Errorf("want at least %d %% among the first three, and no false alarm", least)
	}
}

// judge simulates the program, and adds what its report is worth to n.
func (w *workload) judge(t *testing.T, bin, prog string, cores int, n *tally) {
	t.Helper()
	a, err := w.simulate(t, bin, prog, cores)
	if err != nil {
		t.Errorf("%s on %d cores: %v", w.name, cores, err)
		return
	}
	rank, remarks := w.verdict(a)
	if charged, ok := w.charged(a); ok {
		remarks = append([]string{fmt.Sprintf("charged %.2f %%", 100*charged)}, remarks...)
		if charged < leastCharged {
			t.Errorf("%s on %d cores: the account charges the planted lines only %.3f", w.name, cores, charged)
		}
	}
	t.Logf("%-18s %2d cores: rank %d %s", w.name, cores, rank, strings.Join(remarks, "; "))
	n.add(w, rank)
}

// leastCharged is what the account must charge to the lines of a single cause.
const leastCharged = 0.95

// charged is the part of the first section's imbalance that the account charges to the planted lines, and to those whose work comes with it; false if there
// is no account, or no single cause.
func (w *workload) charged(a answer) (float64, bool) {
	if w.Balanced || len(w.Also) > 0 || len(a.Sections) == 0 || a.Sections[0].Ledger == nil {
		return 0, false
	}
	return a.Sections[0].Ledger.share(w, append([]string{"CAUSE"}, w.With...)...), true
}

// least is the share of planted causes, in percent, that must be among the first three.
const least = 90
