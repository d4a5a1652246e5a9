package cli

// How much a run keeps of which call paths ran when: --trace-budget.

import (
	"fmt"

	"github.com/spf13/pflag"

	"lime/internal/collect"
)

// traceBudget is a number of megabytes.
type traceBudget int

func (b *traceBudget) add(fl *pflag.FlagSet) {
	fl.IntVar((*int)(b), "trace-budget", collect.DefaultTraceBudget>>20,
		"keep which call paths ran when, for the time line of lime view, in at most so many `MB`: thinned evenly when "+
			"they are used up; 0: not at all")
}

// check refuses what cannot be.
func (b traceBudget) check() error {
	const most = 1 << 20
	if b < 0 || b > most {
		return usage(fmt.Errorf("--trace-budget %d: choose 0 to %d", b, most))
	}
	return nil
}

// bytes is the budget as the collectors have it.
func (b traceBudget) bytes() int64 {
	if b == 0 {
		return -1
	}
	return int64(b) << 20
}
