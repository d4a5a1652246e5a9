package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"lime/internal/analysis"
	"lime/internal/binfile"
	"lime/internal/collect/region"
	"lime/internal/collect/sim"
	"lime/internal/profile"
	"lime/internal/resolve"
	"lime/internal/safe"
	"lime/internal/whatif"
)

// notRepeatable says, by collector, why a run cannot be repeated.
var notRepeatable = map[string]string{
	"record":    "it was recorded while it ran natively, and no two such runs are the same",
	"count":     "its threads ran in parallel, and no two such runs are the same",
	"callgrind": "it was imported from callgrind",
}

// repeatable reports whether the run of a profile can be repeated here: it was simulated, to its
// end, and the files that it ran are the same.
func repeatable(src profile.Source) error {
	m := src.Meta()
	if m.Collector != "simulate" || len(m.Command) == 0 {
		why := notRepeatable[m.Collector]
		if why == "" {
			why = fmt.Sprintf("it comes from '%s'", m.Collector)
		}
		return fmt.Errorf("the run of this profile cannot be repeated: %s (only simulated runs can)", why)
	}
	if m.Launcher != "" {
		return fmt.Errorf("the run of this profile cannot be repeated: it was one of the ranks that %s started, and "+
			"they need one another", m.Launcher)
	}
	if !m.Complete || m.EndState == "interrupted" {
		return fmt.Errorf("the run of this profile did not come to its end (%s), so that there is nothing to hold another one to", m.EndState)
	}
	if _, err := region.Parse(m.Region); err != nil {
		return fmt.Errorf("the run of this profile cannot be repeated: which part of it was measured is not understood: %w", err)
	}
	if _, err := exec.LookPath(m.Command[0]); err != nil {
		return fmt.Errorf("the run of this profile cannot be repeated: %s is not here (%w); go to the directory where it was run, or put it back",
			m.Command[0], errors.Unwrap(err))
	}
	for i := range src.Tables().Images {
		if err := sameImage(&src.Tables().Images[i]); err != nil {
			return err
		}
	}
	return nil
}

// sameImage reports whether a file that was mapped in the run is still the same, as far as its
// build id tells.
func sameImage(im *profile.Image) error {
	if im.BuildID == "" || !filepath.IsAbs(im.Path) {
		return nil
	}
	f, err := binfile.Open(im.Path)
	if err != nil {
		return fmt.Errorf("the run of this profile cannot be repeated: %s is not readable any more: %w", im.Path, err)
	}
	defer f.Close()
	if f.BuildID != im.BuildID {
		return fmt.Errorf("the run of this profile cannot be repeated: %s was built anew since (build id %.12s then, "+
			"%.12s now); simulate it again",
			im.Path, im.BuildID, f.BuildID)
	}
	return nil
}

// sameOptions are those of a profile's run.
func sameOptions(m *profile.Meta) *sim.Options {
	spec, _ := region.Parse(m.Region) // repeatable has looked at it
	return &sim.Options{Cores: m.Cores, Asked: m.Asked, Cmd: m.Command[0], Args: m.Command[1:], Machine: m.Model, MachineText: m.Machine,
		Region: spec}
}

// again is a run that was repeated.
type again struct {
	*analysis.Result
	parts  [][]int // by thread, the numbers of its parts, if they were asked for
	missed float64 // of what was to be evened out: the part that could not be
}

// even turns a plan into what the simulator takes.
func (b *again) even(p whatif.Plan) ([][]sim.Stretch, error) {
	p, err := p.Numbered(b.parts)
	out := make([][]sim.Stretch, len(p))
	for t, parts := range p {
		for _, s := range parts {
			out[t] = append(out[t], sim.Stretch(s))
		}
	}
	return out, err
}

// rerun runs a program as the options say and analyses what it did. The profile is kept in the file
// save, if there is one.
func (a *app) rerun(ctx context.Context, o *sim.Options, save string, an analysis.Options) (*again, error) {
	o.Out = save
	if save == "" {
		dir, err := safe.TempDir()
		if err != nil {
			return nil, fmt.Errorf("room for the changed run's profile: %w", err)
		}
		defer dir.Remove()
		o.Out = filepath.Join(dir.Path, defaultProfile)
	}
	o.Stdin, o.Stdout, o.Stderr = strings.NewReader(""), io.Discard, a.program.stderr
	o.Progress, o.Tool = isTerminal(a.stderr), "lime "+Version()
	res, err := sim.Run(ctx, *o)
	if err != nil {
		return nil, err
	}
	if res.EndState == "" || res.EndState == "interrupted" {
		return nil, fmt.Errorf("the changed run did not come to its end (%s): %s", res.EndState, res.Message)
	}
	if res.NoLock {
		return nil, errors.New("the changed run did not take that lock: it is another one than in the profile's run")
	}
	if err := resolve.File(o.Out, resolve.Options{}); err != nil {
		return nil, err
	}
	after, err := profile.Open(o.Out)
	if err != nil {
		return nil, err
	}
	defer after.Close()
	result, err := analysis.Run(after, an)
	if err != nil {
		return nil, err
	}
	return &again{result, res.Parts, res.Missed}, nil
}

// verify runs the program of a profile again without each of its important causes, and once as it
// was, to have something to hold the others to. The first error is one that no run can be made for.
func (a *app) verify(ctx context.Context, src profile.Source, res *analysis.Result, an analysis.Options, yes bool) ([]whatif.Check, error) {
	if err := a.mayRepeat(src, yes); err != nil {
		return nil, err
	}
	checks, err := whatif.Checks(res, src)
	if err != nil || len(checks) == 0 {
		return nil, err
	}
	base, err := a.unchanged(ctx, src, res, an)
	if err != nil {
		return nil, err
	}
	for i := range checks {
		if checks[i].How == whatif.NotRun {
			continue
		}
		if err := a.verifyOne(ctx, src, base, &checks[i], an); err != nil {
			return nil, fmt.Errorf("run %d of %d without a cause: %w", i+1, len(checks), err)
		}
	}
	return checks, nil
}

// verifyOne runs the program again without one cause, beside the run that was repeated as it was.
func (a *app) verifyOne(ctx context.Context, src profile.Source, base *again, c *whatif.Check, an analysis.Options) (err error) {
	o := sameOptions(src.Meta())
	if o.Even, err = base.even(c.Plan); err != nil {
		return notTheSame(err)
	}
	for _, e := range c.Erasures {
		o.Erase = append(o.Erase, sim.Erase(e))
	}
	after, err := a.rerun(ctx, o, "", an)
	if err != nil {
		return err
	}
	if c.Judge(base.Result, after.Result); after.missed > whatif.Missed {
		c.Drop(after.missed)
	}
	return nil
}

// unchanged repeats the run of a profile as it was.
func (a *app) unchanged(ctx context.Context, src profile.Source, res *analysis.Result, an analysis.Options) (*again, error) {
	o := sameOptions(src.Meta())
	o.NumberParts = true
	base, err := a.rerun(ctx, o, "", an)
	if err != nil {
		return nil, err
	}
	if err := whatif.Repeated(res, base.Result); err != nil {
		return nil, notTheSame(err)
	}
	return base, nil
}

// errNotTheSame is why runs cannot be held against that of a profile: the program does other things.
var errNotTheSame = errors.New("the program does not repeat the run of this profile")

func notTheSame(err error) error {
	return fmt.Errorf("%w: %w; its input (standard input is empty), environment or files are others now", errNotTheSame, err)
}
