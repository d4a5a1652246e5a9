package cli

// Runs that the page of 'lime view --allow-run' asks for.

import (
	"context"
	"fmt"
	"sync"

	"lime/internal/analysis"
	"lime/internal/profile"
	"lime/internal/report"
	"lime/internal/view"
	"lime/internal/whatif"
)

// viewAgain runs the programs of profiles that are shown.
type viewAgain struct {
	app   *app
	paths []string
	an    analysis.Options
	mu    sync.Mutex // one run at a time
}

var _ view.Again = (*viewAgain)(nil)

// Possible returns the command of a profile, or why it cannot be run again.
func (v *viewAgain) Possible(p int) (string, error) {
	src, done, err := openProfile(v.paths[p])
	if err != nil {
		return "", err
	}
	defer done()
	return quoted(src.Meta().Command), repeatable(src)
}

// viewRun runs a program again: its profile, what the analysis says of it, and which of the
// sections is meant.
type viewRun func(src profile.Source, before *analysis.Result, section int) (*view.Outcome, error)

// with opens and analyses a profile for a run. --allow-run has said that its command may be run.
func (v *viewAgain) with(p, section int, run viewRun) (*view.Outcome, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	src, done, err := openProfile(v.paths[p])
	if err != nil {
		return nil, err
	}
	defer done()
	if err := v.app.mayRepeat(src, true); err != nil {
		return nil, err
	}
	before, err := analysis.Run(src, v.an)
	if err != nil {
		return nil, err
	}
	for k := range before.Sections {
		if before.Sections[k].ID == profile.SectionID(section) {
			return run(src, before, k)
		}
	}
	return nil, fmt.Errorf("there is no section %d any more", section)
}

// Without verifies a cause, as report --verify does.
func (v *viewAgain) Without(ctx context.Context, p, section, cause int) (*view.Outcome, error) {
	return v.with(p, section, func(src profile.Source, before *analysis.Result, k int) (*view.Outcome, error) {
		check, err := whatif.CheckOne(before, src, k, cause-1)
		if err != nil {
			return nil, err
		}
		if check.How != whatif.NotRun {
			base, err := v.app.unchanged(ctx, src, before, v.an)
			if err != nil {
				return nil, err
			}
			if err := v.app.verifyOne(ctx, src, base, check, v.an); err != nil {
				return nil, err
			}
		}
		w := &check.Verification
		return &view.Outcome{Text: report.VerifiedWords(w), Run: w.How != whatif.NotRun,
			Before: view.Balance{Imbalance: w.ImbalanceBefore}, Said: view.Balance{Imbalance: w.ImbalancePredicted, Gone: w.Said},
			After: view.Balance{Imbalance: w.ImbalanceAfter, Gone: w.Gone}, RunBefore: w.RunTimeBefore, RunAfter: w.RunTimeAfter}, nil
	})
}

// Even runs a program with a line evened out, as whatif --even does.
func (v *viewAgain) Even(ctx context.Context, p, section int, file string, line int) (*view.Outcome, error) {
	return v.with(p, section, func(src profile.Source, before *analysis.Result, k int) (*view.Outcome, error) {
		f := &whatifFlags{even: []string{fmt.Sprintf("%s:%d", file, line)}, yes: true, analysis: v.an}
		c, err := v.app.evened(ctx, src, before, []int{k}, f)
		if err != nil {
			return nil, err
		}
		return evenOutcome(c, &before.Sections[k])
	})
}

// evenOutcome picks the section out of a comparison.
func evenOutcome(c *whatif.Comparison, sec *analysis.Section) (*view.Outcome, error) {
	for i := range c.Sections {
		s := &c.Sections[i]
		if s.EndsAt.Address != sec.EndsAt.Address || s.Kind != sec.Kind {
			continue
		}
		out := &view.Outcome{Run: !c.Estimate, RunBefore: c.RunTimeBefore, RunAfter: c.RunTimeAfter,
			Before: view.Balance{Imbalance: s.ImbalanceBefore}, After: view.Balance{Imbalance: s.ImbalanceAfter, Gone: s.Accounted}}
		switch {
		case c.Estimate:
			out.Said, out.Text = out.After, "not run: "+c.Why+"."
		case s.Said != nil:
			out.Said = view.Balance{Imbalance: s.Said.Imbalance, Gone: s.Said.Accounted}
		}
		return out, nil
	}
	return nil, fmt.Errorf("the account says nothing of that line in this section")
}
