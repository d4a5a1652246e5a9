package cli

import (
	"errors"
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

// add adds --waste.
func (f *wasteFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.list, "waste", "", "look for wasted memory work: `kinds` of "+
		strings.Join(waste.Options(waste.All), ", ")+", all if none are named")
	f.given = fl.Lookup("waste")
	f.given.NoOptDefVal = "all"
	fl.Float64Var(&f.tolerance, "waste-tolerance", waste.DefaultTolerance,
		"floating-point numbers that differ by this `share` of the larger are the same value")
}

// check reads the kinds; with a machine there is no room for them.
func (f *wasteFlags) check(machine string) (err error) {
	if !f.given.Changed {
		return nil
	}
	if f.kinds, err = waste.ParseSet(f.list); err != nil {
		return usage(fmt.Errorf("--waste: %w", err))
	}
	if err := f.checkTolerance(); err != nil {
		return err
	}
	if machine != "count" {
		return usage(fmt.Errorf("--waste looks at every access and has no time for a machine: leave --machine %s "+
			"away, or simulate twice", machine))
	}
	return nil
}

// checkRecord reads the kinds for a native run.
func (f *wasteFlags) checkRecord(pid int) (err error) {
	if !f.given.Changed {
		return nil
	}
	if f.kinds, err = waste.ParseSet(f.list); err != nil {
		return usage(fmt.Errorf("--waste: %w", err))
	}
	if err := f.checkTolerance(); err != nil {
		return err
	}
	if pid != 0 {
		return usage(errors.New("--waste stops threads by traps, which a process that runs already is not prepared " +
			"for: let lime start the program"))
	}
	return nil
}

func (f *wasteFlags) checkTolerance() error {
	if f.tolerance < 0 || f.tolerance >= 0.5 {
		return usage(fmt.Errorf("--waste-tolerance %v: choose 0 (exactly equal) to less than 0.5", f.tolerance))
	}
	return nil
}
