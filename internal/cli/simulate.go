package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lime/internal/collect/sim"
	"lime/internal/machine"
	"lime/internal/resolve"
	"lime/internal/waste"
)

// defaultCores is the size of the simulated machine: fixed, so that the same
// command gives the same profile on every host.
const defaultCores = 64

// simulateFlags are the options of simulate.
type simulateFlags struct {
	cores       int
	coresGiven  bool
	output, cpu string
	force       bool
	machine     string
	settings    []string
	seed        int
	seedGiven   bool
	sectionEnds []string
	noResolve   bool
	family      familyFlags
	waste       wasteFlags
	trace       traceBudget
	rank        rankFlags
	region      regionFlags
}

func (a *app) simulateCommand() *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate [flags] -- PROGRAM [ARGUMENT...]",
		Short: "Run a program on simulated cores and count what its threads do",
		Long: `simulate runs an unmodified program on a simulated machine of as many cores as
asked for, whatever this one has, and writes what its threads did to a profile.
The same program with the same input gives the same profile, byte for byte.

The program's input, output and exit status pass through. Interrupting it keeps
what was counted so far.

    lime simulate --cores 32 -- ./app --threads 32 input
    lime report

Under mpirun or srun -o names a directory: each rank writes a profile there.

    mpirun -n 8 lime simulate -o DIR -- ./app
    lime report DIR

With --children the programs that it starts are simulated too, each with a
profile of its own in the directory that -o names.

    lime simulate --children -o DIR -- make -j4
    lime report DIR`,
		Args:        programArgs,
		Annotations: map[string]string{"status": "program"},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.coresGiven, f.seedGiven = cmd.Flags().Changed("cores"), cmd.Flags().Changed("seed")
			return a.simulate(cmd.Context(), args, &f)
		},
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false) // what follows the program is the program's
	fl.IntVarP(&f.cores, "cores", "c", defaultCores, fmt.Sprintf("simulate `N` cores, 1 to %d", sim.MaxCores))
	fl.StringVarP(&f.machine, "machine", "m", "count",
		"model this `machine`: "+strings.Join(machineNames(), ", ")+", or a file that describes one")
	fl.StringArrayVar(&f.settings, "set", nil, "change the machine: `key=value`, for example l2.size=8MB; may be repeated")
	fl.IntVar(&f.seed, "seed", 1, "place the program's pages in the machine's memory by throw `N` of the dice")
	fl.StringVarP(&f.output, "output", "o", defaultProfile,
		"write the profile to this `file`; under mpirun or srun, a directory for the profiles of all ranks")
	forceFlag(fl, &f.force)
	fl.StringArrayVar(&f.sectionEnds, "section-end", nil, "sections end where threads call this `function`, too; may be repeated")
	fl.StringVar(&f.cpu, "cpu", "x86-64-v3", "what the `processor` offers to the program: x86-64-v3, or host for all that this one has")
	f.family.add(fl, "simulate")
	f.region.add(fl)
	fl.BoolVar(&f.noResolve, "no-resolve", false, "leave functions and lines to 'lime resolve'")
	f.waste.add(fl, waste.All)
	f.trace.add(fl)
	f.rank.add(fl)
	_ = cmd.RegisterFlagCompletionFunc("machine", cobra.FixedCompletions(machineNames(), cobra.ShellCompDirectiveDefault))
	_ = cmd.RegisterFlagCompletionFunc("cpu", cobra.FixedCompletions([]string{"x86-64-v3", "host"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// machineNames lists the machines that need no file.
func machineNames() []string { return append([]string{"count"}, machine.Presets()...) }

// cores0 is the number of cores to ask for: 0 leaves it to the machine.
func (f *simulateFlags) cores0() int {
	if f.machine != "count" && !f.coresGiven {
		return 0
	}
	return f.cores
}

// changes are the settings, the seed among them.
func (f *simulateFlags) changes() []string {
	if !f.seedGiven {
		return f.settings
	}
	return append(slices.Clip(f.settings), fmt.Sprintf("memory.seed=%d", f.seed))
}

// programArgs asks for a program to run.
func programArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no program to run: %s -- PROGRAM [ARGUMENT...]", cmd.CommandPath())
	}
	return nil
}

func (f *simulateFlags) check() error {
	if f.cores < 1 || f.cores > sim.MaxCores {
		return usage(fmt.Errorf("--cores %d: choose 1 to %d", f.cores, sim.MaxCores))
	}
	if f.cpu != "x86-64-v3" && f.cpu != "host" {
		return usage(fmt.Errorf("--cpu %s: choose x86-64-v3 or host", f.cpu))
	}
	if f.machine == "count" && len(f.settings) > 0 {
		return usage(fmt.Errorf("--set %s: model count has no machine to change; choose one with --machine", f.settings[0]))
	}
	if f.machine == "count" && f.seedGiven {
		return usage(fmt.Errorf("--seed %d: model count has no memory to place pages in; choose a machine with --machine", f.seed))
	}
	if f.seed < 0 {
		return usage(fmt.Errorf("--seed %d: choose 0 or more", f.seed))
	}
	if f.output == "" {
		return usage(errors.New("--output: no file named"))
	}
	if err := errors.Join(f.trace.check(), f.waste.check(f.machine)); err != nil {
		return err
	}
	return f.waste.whole(&f.region)
}

func (a *app) simulate(ctx context.Context, args []string, f *simulateFlags) error {
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
	if err := f.family.room(&f.output, f.force, me, args[0]); err != nil {
		return err
	}
	a.remember(args)
	res, err := sim.Run(ctx, sim.Options{
		Cores: f.cores0(), Asked: f.coresGiven, Machine: f.machine, Settings: f.changes(), Cmd: args[0], Args: args[1:], Out: f.output,
		SectionEnds: f.sectionEnds, Region: f.region.spec, Waste: f.waste.kinds, Tolerance: f.waste.tolerance, HostCPU: f.cpu == "host", Traces: f.trace.bytes(),
		Progress: isTerminal(a.stderr), Tool: "lime " + Version(), Rank: me, Children: f.family.dir,
		Stdin: a.stdin, Stdout: a.program.stdout, Stderr: a.program.stderr,
	})
	err = a.collected(&res, err, f.output, f.noResolve)
	if res.ByKey {
		interruptSelf()
	}
	return err
}

// lookUp adds to a profile what its addresses mean. That it cannot is no reason
// to lose the program's status.
func (a *app) lookUp(path string, o resolve.Options) {
	if _, err := os.Stat(path); err != nil {
		return
	}
	if err := resolve.File(path, o); err != nil {
		fmt.Fprintf(a.stderr, "lime: no source lines in the report: %v\n", err)
	}
}

// summary says what was collected, to a person at a terminal only: what a
// program writes to its standard error stays as it is.
func (a *app) summary(w io.Writer, res *sim.Result, output string) {
	if !isTerminal(w) || res.EndState == "" {
		return
	}
	hint := "lime report"
	if output != defaultProfile {
		hint += " " + output
	}
	fmt.Fprintf(w, "lime: %d threads, %d section instances in %s; now: %s\n", res.Threads, res.Instances, output, hint)
}
