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

// add adds --waste, for the kinds that there may be.
func (f *wasteFlags) add(fl *pflag.FlagSet, of waste.Set) {
	fl.StringVar(&f.list, "waste", "", "look for wasted memory work: `kinds` of "+
		strings.Join(waste.Options(of), ", ")+", all if none are named")
	f.given = fl.Lookup("waste")
	f.given.NoOptDefVal = "all"
	fl.Float64Var(&f.tolerance, "waste-tolerance", waste.DefaultTolerance,
		"floating-point numbers that differ by this `share` of the larger are the same value")
}

// read reads the kinds and the tolerance.
func (f *wasteFlags) read() (err error) {
	if f.kinds, err = waste.ParseSet(f.list); err != nil {
		return usage(fmt.Errorf("--waste: %w", err))
	}
	return f.checkTolerance()
}

// check does so; with a machine there is no room for them.
func (f *wasteFlags) check(machine string) error {
	if !f.given.Changed {
		return nil
	}
	if err := f.read(); err != nil {
		return err
	}
	if machine != "count" {
		return usage(fmt.Errorf("--waste looks at every access and has no time for a machine: leave --machine %s "+
			"away, or simulate twice", machine))
	}
	return nil
}

// besideKinds are those that can be found where threads run in parallel.
const besideKinds = waste.All &^ (1 << waste.FalseSharing)

// checkCount reads the kinds for threads in parallel.
func (f *wasteFlags) checkCount() error {
	if !f.given.Changed {
		return nil
	}
	if err := f.read(); err != nil {
		return err
	}
	if f.kinds != waste.All && f.kinds.Has(waste.FalseSharing) {
		return usage(errors.New("--waste=sharing: who touches a line when is not seen where threads run in parallel; " +
			"'lime record --waste=sharing' samples it, 'lime simulate --waste=sharing' has it in simulated order"))
	}
	f.kinds &= besideKinds
	return nil
}

// checkRecord reads the kinds for a native run.
func (f *wasteFlags) checkRecord(pid int) error {
	if !f.given.Changed {
		return nil
	}
	if err := f.read(); err != nil {
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

// whole refuses to look at a part of a run.
func (f *wasteFlags) whole(region *regionFlags) error {
	if f.kinds == 0 || !region.spec.On() {
		return nil
	}
	return usage(errors.New("--waste and a part of the run: what is stored in one part may be read in another; look at the whole run"))
}
