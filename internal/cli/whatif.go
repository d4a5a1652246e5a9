package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lime/internal/analysis"
	"lime/internal/collect/sim"
	"lime/internal/ledger"
	"lime/internal/profile"
	"lime/internal/report"
	"lime/internal/whatif"
)

// whatifFlags are the options of whatif.
type whatifFlags struct {
	erase, settings []string
	hold, shorten   []string
	noLock          []string
	threads         int
	args            []string // of the program; nil: those that it had
	even            []string
	section         []string
	bus             string
	cores           int
	output, save    string
	json, all       bool
	yes             bool
	estimate        bool
	seeds           int
	analysis        analysis.Options
}

func (a *app) whatifCommand() *cobra.Command {
	var f whatifFlags
	cmd := &cobra.Command{
		Use:   "whatif [flags] [PROFILE]",
		Short: "Run a program again with one thing changed: is the imbalance gone?",
		Long: `whatif repeats the simulated run of a profile, on the same machine and with the
same input, with one thing changed, and prints what became of the imbalance.

--erase takes hardware events away: the misses become hits, all else stays as it
was. FILE:LINE names all events of a line, a function's name those of the
function, on:DATA those of a data object as the report names it; KIND@ before
any of these takes one kind of event. top is the line of the report's first
cause, important all hardware causes with a score above the limit, all every
one. Waits for other threads follow from what those do: they cannot be taken
away alone, and --erase says so.

For locks it is the simulated clock that goes otherwise, while the threads do
what they do. --hold 0.5@LOCK: the lock is held half as long, and the other half
of what is done under it is done after it has been given back. --shorten
0.5@LOCK: what is done under it takes half the time. --no-lock LOCK: nobody
waits for it; --erase lock-wait@LOCK means the same, and so does --erase top, if
that is the report's first cause. LOCK is its name in the report, FILE:LINE of a
call that waits for it, or top, the one that was waited for longest. What such
an answer is worth ends where the program's work depends on the lock's order.

--threads runs it with another number of threads, as far as OMP_NUM_THREADS,
RAYON_NUM_THREADS and GOMAXPROCS say how many it makes; arguments after -- take
the place of the program's own.

--even asks what the sections would be if every thread did at that line what the
threads do on average. The profile's account says, to first order; then the
program runs again, with each thread's time in each section changed by what the
account charges that line with, and what that shows stands beside what was said.
With --estimate, or where the program cannot be run again, it is the account's
word alone.

--seeds asks what is the program's and what is luck: it runs it with its
pages in other places of the machine's memory, and says in how many of the runs
each section's first hardware cause is there.

--section has top, important and all choose among the causes of that section,
and --even even out that section only.

The program must be where it was, and its standard input is empty. What was not
simulated here before, as the command of a stranger's profile, is shown and run
only if you say so, at the terminal or with --yes.

    lime whatif --erase top
    lime whatif --erase l1d-miss@radix.c:40 --set l2.size=8MB
    lime whatif --section 2 --erase top
    lime whatif --hold half@top
    lime whatif --cores 32 -- 32 input
    lime whatif --erase on:table
    lime whatif --bus wider
    lime whatif --seeds 20`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cobra.MaximumNArgs(1)(cmd, ofLime(cmd, args))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			own := ofLime(cmd, args)
			if cmd.ArgsLenAtDash() >= 0 {
				f.args = append([]string{}, args[len(own):]...)
			}
			args = own
			return a.whatif(cmd.Context(), oneOr(args, defaultProfile), &f)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.erase, "erase", nil,
		"take these `events` away: top, important, all, or [KIND@]FILE:LINE, [KIND@]FUNCTION, [KIND@]on:DATA; may be repeated")
	fl.StringArrayVarP(&f.section, "section", "s", nil,
		"choose causes of this section, even out this section: its `N|PLACE` in the report; may be repeated")
	fl.StringArrayVar(&f.hold, "hold", nil, "hold a lock for this `SHARE@LOCK` of the time, the rest is done after that; may be repeated")
	fl.StringArrayVar(&f.shorten, "shorten", nil, "what is done under a lock takes this `SHARE@LOCK` of its time; may be repeated")
	fl.StringArrayVar(&f.noLock, "no-lock", nil, "nobody waits for this `LOCK`; may be repeated")
	fl.IntVar(&f.threads, "threads", 0, "run with `N` threads, as far as the environment says how many")
	fl.StringVar(&f.bus, "bus", "", "`wider` = the bus to the shared cache never makes a core wait")
	fl.StringArrayVar(&f.settings, "set", nil, "change the machine: `key=value`, for example l2.size=8MB; may be repeated")
	fl.IntVarP(&f.cores, "cores", "c", 0, "simulate `N` cores instead")
	fl.StringArrayVar(&f.even, "even", nil, "even out what the threads do at this `FILE:LINE`; may be repeated")
	fl.BoolVar(&f.estimate, "estimate", false, "answer --even from the account, without a run")
	fl.IntVar(&f.seeds, "seeds", 0, "run `K` placements of the program's pages in memory: which causes are there in all?")
	fl.StringVarP(&f.output, "output", "o", "", "write to this `file` instead of standard output")
	fl.StringVar(&f.save, "save", "", "keep the profile of the changed run in this `file`")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVarP(&f.all, "all", "a", false, "show sections that lose no time as well")
	yesFlag(cmd, &f.yes)
	analysisFlags(cmd, &f.analysis)
	return cmd
}

// ofLime are the arguments in front of --.
func ofLime(cmd *cobra.Command, args []string) []string {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return args[:n]
	}
	return args
}

func (a *app) whatif(ctx context.Context, path string, f *whatifFlags) error {
	if err := f.check(); err != nil {
		return usage(err)
	}
	src, done, err := openProfile(path)
	if err != nil {
		return err
	}
	defer done()
	if sameFile(f.save, path) {
		return usage(fmt.Errorf("--save %s: that is the profile that is read; name another", f.save))
	}
	before, err := analysis.Run(src, f.analysis)
	if err != nil {
		return failed(err)
	}
	if f.seeds > 0 {
		return a.throws(ctx, src, path, before, f)
	}
	only, err := chosenSections(before, f.section)
	if err != nil {
		return usage(err)
	}
	var c *whatif.Comparison
	if len(f.even) > 0 {
		c, err = a.evened(ctx, src, before, only, f)
	} else {
		c, err = a.again(ctx, src, before, only, f)
	}
	if err != nil {
		return failed(err)
	}
	return a.output(f.output, []string{path}, dataIf(f.json), func(w io.Writer) error {
		if f.json {
			return writeJSON(w, c)
		}
		return report.WhatIf(w, c, f.all)
	})
}

// writeJSON writes a value for other programs.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (f *whatifFlags) check() error {
	if err := f.checkSeeds(); err != nil || f.seeds > 0 {
		return err
	}
	changes := len(f.erase) + len(f.settings) + f.cores + len(f.hold) + len(f.shorten) + len(f.noLock) + f.threads
	if f.args != nil {
		changes++
	}
	switch {
	case f.bus != "" && f.bus != "wider":
		return fmt.Errorf("--bus %s: the only answer is wider; for other machines use --set bus.width_bytes=N", f.bus)
	case f.cores < 0 || f.cores > sim.MaxCores:
		return fmt.Errorf("--cores %d: choose 1 to %d", f.cores, sim.MaxCores)
	case len(f.even) > 0 && (changes > 0 || f.bus != ""):
		return errors.New("--even is a change of its own: use it alone")
	case f.estimate && len(f.even) == 0:
		return errors.New("--estimate goes with --even: all else is run")
	case f.estimate && f.save != "":
		return errors.New("--estimate makes no run, so that there is nothing to --save")
	case len(f.section) > 0 && len(f.even) == 0 && len(f.erase) == 0:
		return errors.New("--section goes with --erase and --even: what else can be changed is the same for all sections")
	case len(f.even) == 0 && changes == 0 && f.bus == "":
		return errors.New("nothing to change: use --erase, --hold, --shorten, --no-lock, --bus, --set, --cores, --threads, " +
			"--even, --seeds or arguments after --")
	case f.threads < 0:
		return fmt.Errorf("--threads %d: choose 1 or more", f.threads)
	}
	return nil
}

// again runs the program of a profile once more, changed.
func (a *app) again(ctx context.Context, src profile.Source, before *analysis.Result, only []int,
	f *whatifFlags) (*whatif.Comparison, error) {
	if err := a.mayRepeat(src, f.yes); err != nil {
		return nil, err
	}
	o, words, err := f.options(src, before, only)
	if err != nil {
		return nil, err
	}
	result, err := a.rerun(ctx, o, f.save, f.analysis)
	if err != nil {
		return nil, err
	}
	return whatif.Compare(before, result.Result, words), nil
}

// options are those of the profile's run, with the changes, and the changes in words.
func (f *whatifFlags) options(src profile.Source, before *analysis.Result, only []int) (*sim.Options, []string, error) {
	m := src.Meta()
	o := sameOptions(m)
	o.Settings = f.settings
	words := append([]string(nil), f.settings...)
	if f.bus != "" {
		o.Settings = append(o.Settings, "bus.width_bytes=0")
		words = append(words, "a bus that never makes a core wait")
	}
	if len(o.Settings) > 0 && m.Machine == "" {
		return nil, nil, errors.New("the run had no machine to change: simulate with --machine")
	}
	if f.cores > 0 {
		o.Cores, o.Asked = f.cores, true
		words = append(words, strconv.Itoa(f.cores)+" cores")
	}
	words = append(words, f.sized(o)...)
	locks, left, err := f.locks(before, src.Tables(), only)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range locks {
		o.Locks = append(o.Locks, sim.LockChange{Addr: c.Lock.Addr, First: c.Lock.First, Held: c.Held, Later: c.Later, Free: c.Free})
		words = append(words, c.Words)
	}
	for _, spec := range left {
		c, err := whatif.Choose(before, src.Tables(), only, spec)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range c.Erasures {
			o.Erase = append(o.Erase, sim.Erase(e))
		}
		for _, w := range c.Words {
			words = append(words, "no "+w)
		}
	}
	return o, words, nil
}

// sized changes how many threads there are, and the program's arguments.
func (f *whatifFlags) sized(o *sim.Options) (words []string) {
	if f.threads > 0 {
		o.Env = os.Environ()
		for _, name := range []string{"OMP_NUM_THREADS", "RAYON_NUM_THREADS", "GOMAXPROCS"} {
			o.Env = append(o.Env, fmt.Sprintf("%s=%d", name, f.threads))
		}
		words = append(words, fmt.Sprintf("%d threads", f.threads))
	}
	if f.args != nil {
		o.Args = f.args
		words = append(words, "arguments "+strings.Join(f.args, " "))
	}
	return words
}

// locks reads what is to be otherwise about locks, and returns what else is to be erased.
func (f *whatifFlags) locks(before *analysis.Result, tab *profile.Tables, only []int) (list []whatif.LockChange, erase []string, err error) {
	add := func(option string, c whatif.LockChange, err error) error {
		if err != nil {
			return fmt.Errorf("%s %w", option, err)
		}
		list = append(list, c)
		return nil
	}
	for _, spec := range f.hold {
		c, err := whatif.Hold(before, tab, spec, true)
		if err := add("--hold", c, err); err != nil {
			return nil, nil, err
		}
	}
	for _, spec := range f.shorten {
		c, err := whatif.Hold(before, tab, spec, false)
		if err := add("--shorten", c, err); err != nil {
			return nil, nil, err
		}
	}
	for _, spec := range f.noLock {
		c, err := whatif.NoLock(before, tab, spec)
		if err := add("--no-lock", c, err); err != nil {
			return nil, nil, err
		}
	}
	for _, spec := range f.erase {
		c, ok, err := whatif.ErasedLock(before, tab, only, spec)
		if !ok {
			erase = append(erase, spec)
			continue
		}
		if err := add("--erase", c, err); err != nil {
			return nil, nil, err
		}
	}
	return list, erase, nil
}

// evened answers --even: what the account says, and what a run shows.
func (a *app) evened(ctx context.Context, src profile.Source, before *analysis.Result, only []int,
	f *whatifFlags) (*whatif.Comparison, error) {
	var targets []ledger.Target
	for _, spec := range f.even {
		i := strings.LastIndexByte(spec, ':')
		line, err := strconv.Atoi(spec[i+1:])
		if i <= 0 || err != nil || line <= 0 {
			return nil, fmt.Errorf("--even %q: write FILE:LINE", spec)
		}
		targets = append(targets, ledger.Target{File: spec[:i], Line: int32(line)})
	}
	var ids []profile.SectionID
	for k := range before.Sections {
		if only == nil || slices.Contains(only, k) {
			ids = append(ids, before.Sections[k].ID)
		}
	}
	said, plan, err := whatif.Even(src, ledger.New(profile.Own(src)), ids, targets)
	if err != nil {
		return nil, err
	}
	estimate := &whatif.Comparison{Schema: whatif.Schema, Estimate: true,
		Change:    []string{"the threads do the same at " + strings.Join(f.even, " and ")},
		ClockUnit: before.Run.ClockUnit, RunTimeBefore: before.Whole.RunTime, RunTimeAfter: before.Whole.RunTime}
	for k := range before.Sections {
		if s := &before.Sections[k]; said[s.ID] != nil {
			estimate.AddEven(s, said[s.ID].Before.TMax, said[s.ID].After.TMax, said[s.ID].After.Imbalance)
		}
	}
	if f.estimate {
		return estimate, nil
	}
	if err := a.mayRepeat(src, f.yes); err != nil {
		estimate.Why = err.Error()
		return estimate, nil
	}
	return a.runEven(ctx, src, before, f, plan, estimate)
}

// runEven runs the program with a line evened out, and holds the estimate to it.
func (a *app) runEven(ctx context.Context, src profile.Source, before *analysis.Result, f *whatifFlags,
	plan whatif.Plan, estimate *whatif.Comparison) (*whatif.Comparison, error) {
	base, err := a.unchanged(ctx, src, before, f.analysis)
	switch {
	case errors.Is(err, errNotTheSame):
		estimate.Why = err.Error()
		return estimate, nil
	case err != nil: // an interrupted run says nothing of what can be repeated
		return nil, err
	}
	o := sameOptions(src.Meta())
	if o.Even, err = base.even(plan); err != nil {
		estimate.Why = notTheSame(err).Error()
		return estimate, nil
	}
	after, err := a.rerun(ctx, o, f.save, f.analysis)
	if err != nil {
		return nil, err
	}
	c := whatif.Compare(base.Result, after.Result, estimate.Change)
	c.Missed = after.missed
	c.Hold(estimate)
	return c, nil
}
