package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"lime/internal/waste"
)

// wasteFlags are the options about wasted memory work.
type wasteFlags struct {
	list      string
	given     *pflag.Flag
	tolerance float64
	kinds     waste.Set
}

func (f *wasteFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.list, "waste", "", "look for wasted memory work: `kinds` of "+strings.Join(waste.Options(), ", ")+", all if none are named")
	f.given = fl.Lookup("waste")
	f.given.NoOptDefVal = "all"
	fl.Float64Var(&f.tolerance, "waste-tolerance", waste.DefaultTolerance, "floating-point numbers that differ by this `share` of the larger are the same value")
}

// check reads the kinds; with a machine there is no room for them.
func (f *wasteFlags) check(machine string) (err error) {
	if !f.given.Changed {
		return nil
	}
	if f.kinds, err = waste.ParseSet(f.list); err != nil {
		return usage(fmt.Errorf("--waste: %w", err))
	}
	if f.tolerance < 0 || f.tolerance >= 0.5 {
		return usage(fmt.Errorf("--waste-tolerance %v: choose 0 (exactly equal) to less than 0.5", f.tolerance))
	}
	if machine != "count" {
		return usage(fmt.Errorf("--waste looks at every access and has no time for a machine: leave --machine %s away, or simulate twice", machine))
	}
	return nil
}
