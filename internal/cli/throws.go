package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lime/internal/analysis"
	"lime/internal/machine"
	"lime/internal/profile"
	"lime/internal/report"
	"lime/internal/whatif"
)

// maxSeeds is as many placements as one command runs.
const maxSeeds = 1000

// checkSeeds says whether --seeds stands alone, as it must.
func (f *whatifFlags) checkSeeds() error {
	switch {
	case f.seeds == 0:
		return nil
	case f.seeds < 2 || f.seeds > maxSeeds:
		return fmt.Errorf("--seeds %d: choose 2 to %d placements, the profile's own among them", f.seeds, maxSeeds)
	case len(f.erase)+len(f.settings)+f.cores > 0 || f.bus != "" || len(f.even) > 0 || f.save != "" || len(f.section) > 0:
		return errors.New("--seeds is a change of its own: use it alone")
	}
	return nil
}

// throws answers --seeds: it runs the program of a profile with its pages in other places.
func (a *app) throws(ctx context.Context, src profile.Source, path string, before *analysis.Result, f *whatifFlags) error {
	if err := a.mayRepeat(src, f.yes); err != nil {
		return failed(err)
	}
	m := src.Meta()
	if m.Machine == "" {
		return failed(errors.New("the run had no memory to place pages in: simulate with --machine"))
	}
	d, err := machine.Parse(m.Model, m.Machine)
	if err != nil {
		return failed(err)
	}
	seeds, others := []int{d.Memory.Seed}, []*analysis.Result(nil)
	for i := 1; i < f.seeds; i++ {
		seed := d.Memory.Seed + i
		o := sameOptions(m)
		o.Settings = []string{fmt.Sprintf("memory.seed=%d", seed)}
		r, err := a.rerun(ctx, o, "", f.analysis)
		if err != nil {
			return failed(fmt.Errorf("run with seed %d: %w", seed, err))
		}
		seeds, others = append(seeds, seed), append(others, r.Result)
	}
	t := whatif.Throw(before, others, seeds)
	return a.output(f.output, []string{path}, dataIf(f.json), func(w io.Writer) error {
		if f.json {
			return writeJSON(w, t)
		}
		return report.Throws(w, t, f.all)
	})
}
