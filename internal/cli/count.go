package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"lime/internal/collect/sim"
	"lime/internal/profile"
	"lime/internal/resolve"
)

// countFlags are the options of count.
type countFlags struct {
	output, cpu string
	view        bool
	force       bool
	sectionEnds []string
	noResolve   bool
	compare     bool
	limit       time.Duration
	family      familyFlags
	trace       traceBudget
	rank        rankFlags
	region      regionFlags
	waste       wasteFlags
}

func (a *app) countCommand() *cobra.Command {
	var f countFlags
	cmd := &cobra.Command{
		Use:   "count [flags] -- PROGRAM [ARGUMENT...]",
		Short: "Run a program in parallel and count what its threads do, exactly",
		Long: `count runs an unmodified program on this machine's cores, its threads in
parallel, and counts every control-flow edge of every thread. What a thread does
is counted exactly; the order of things is that of this run.

The program's input, output and exit status pass through. Interrupting it keeps
what was counted so far.
Under mpirun or srun -o names a directory: each rank writes a profile there.

    lime count -- ./app --threads 8 input
    lime report

With --children the programs that it starts are counted too, each with a profile
of its own in the directory that -o names.

    lime count --children -o DIR -- make -j4
    lime report DIR`,
		Args:        programArgs,
		Annotations: map[string]string{"status": "program"},
		RunE:        func(cmd *cobra.Command, args []string) error { return a.count(cmd.Context(), args, &f) },
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false) // what follows the program is the program's
	fl.StringVarP(&f.output, "output", "o", defaultProfile,
		"write the profile to this `file`; under mpirun or srun, a directory for the profiles of all ranks")
	forceFlag(fl, &f.force)
	fl.StringArrayVar(&f.sectionEnds, "section-end", nil, "sections end where threads call this `function`, too; may be repeated")
	fl.StringVar(&f.cpu, "cpu", "x86-64-v3", "what the `processor` offers to the program: x86-64-v3, or host for all that this one has")
	fl.DurationVar(&f.limit, "for", 0, "count for this `time`, for example 30s; then the profile is there, and the program goes on")
	fl.BoolVar(&f.compare, "compare", false, "run the program natively, too, and say what counting has cost; what that run prints is dropped")
	f.family.add(fl, "count")
	f.region.add(fl)
	viewFlag(fl, &f.view)
	f.waste.add(fl, besideKinds)
	f.trace.add(fl)
	f.rank.add(fl)
	fl.BoolVar(&f.noResolve, "no-resolve", false, "leave functions and lines to 'lime resolve'")
	_ = cmd.RegisterFlagCompletionFunc("cpu", cobra.FixedCompletions([]string{"x86-64-v3", "host"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *countFlags) check() error {
	if f.cpu != "x86-64-v3" && f.cpu != "host" {
		return usage(fmt.Errorf("--cpu %s: choose x86-64-v3 or host", f.cpu))
	}
	if f.output == "" {
		return usage(errors.New("--output: no file named"))
	}
	if f.limit < 0 {
		return usage(fmt.Errorf("--for %v: choose a time above 0", f.limit))
	}
	if f.limit > 0 && f.family.children {
		return usage(errors.New("--children and --for: what starts later would be counted for longer; choose one of them"))
	}
	if f.limit > 0 && f.compare {
		return usage(errors.New("--compare and --for: a run that is cut short cannot be compared with a whole one; choose one of them"))
	}
	if f.region.spec.On() && f.compare {
		return usage(errors.New("--compare and a part of the run: the native run cannot be cut to it; choose one of them"))
	}
	if err := errors.Join(f.trace.check(), f.waste.checkCount()); err != nil {
		return err
	}
	return f.waste.whole(&f.region)
}

func (a *app) count(ctx context.Context, args []string, f *countFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	me, err := f.rank.room(a, &f.output, f.force)
	if err != nil {
		return err
	}
	if err := f.region.check(args, me, f.family.children); err != nil {
		return err
	}
	var again *second
	if f.compare {
		if again, err = a.rerunnable(args); err != nil {
			return err
		}
	}
	if err := f.family.room(&f.output, f.force, me, args[0]); err != nil {
		return err
	}
	a.remember(args)
	live, err := a.startLive(f.view, f.output)
	if err != nil {
		return failed(err)
	}
	var res sim.Result
	opt := a.countOptions(args, f, me)
	opt.GoesOn = func(res *sim.Result) {
		if err := a.collected(res, nil, f.output, f.noResolve); res.Status == 0 || err == nil {
			fmt.Fprintf(a.stderr, "lime: counted, the profile is in %s; the program goes on\n", f.output)
		}
	}
	run := func() { res, err = sim.Run(ctx, opt) }
	took := costOf(run)
	live.release()
	if err == nil && again != nil && res.EndState == "exited" {
		err = noteCost(f.output, again, took, res.Status)
	}
	if res.GoesOn {
		err = status(res.Status)
	} else {
		err = a.collected(&res, err, f.output, f.noResolve)
	}
	live.finish()
	if res.ByKey {
		interruptSelf()
	}
	return err
}

// countOptions are the options of count as the collector has them.
func (a *app) countOptions(args []string, f *countFlags, me profile.RankInfo) sim.Options {
	return sim.Options{
		Parallel: true, For: f.limit, Cores: runtime.NumCPU(), Cmd: args[0], Args: args[1:], Out: f.output,
		SectionEnds: f.sectionEnds, Region: f.region.spec, Waste: f.waste.kinds, Tolerance: f.waste.tolerance, HostCPU: f.cpu == "host", Traces: f.trace.bytes(),
		Progress: isTerminal(a.stderr), Tool: "lime " + Version(), Rank: me, Children: f.family.dir,
		Stdin: a.stdin, Stdout: a.program.stdout, Stderr: a.program.stderr,
	}
}

// collected resolves what a run has left, and says how it ended.
func (a *app) collected(res *sim.Result, err error, output string, noResolve bool) error {
	if err == nil && res.Never != "" && res.EndState != "" {
		return nothingMeasured(output, res.Never)
	}
	switch failure := err != nil || res.Status == ExitFailed; {
	case noResolve || res.EndState == "":
	case failure:
		_ = resolve.File(output, resolve.Options{}) // whatever there is of a profile: enough has been said
	default:
		a.lookUp(output, resolve.Options{})
	}
	if err != nil {
		return failed(err)
	}
	a.summary(a.stderr, res, output)
	return status(res.Status)
}
