package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"lime/internal/collect/native"
	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/resolve"
	"lime/internal/waste"
)

// recordFlags are the options of record.
type recordFlags struct {
	output    string
	force     bool
	view      bool
	frequency uint64
	stack     uint32
	pid       int
	noResolve bool
	noHooks   bool
	events    []string
	rank      rankFlags
	region    regionFlags
	waste     wasteFlags
	trace     traceBudget
}

func (a *app) recordCommand() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record [flags] -- PROGRAM [ARGUMENT...]",
		Short: "Run a program at full speed and sample what its threads do",
		Long: `record runs an unmodified program natively on this machine's cores, samples the
call paths of all its threads, and sees where they wait for each other. It needs
no root, no rebuild and no hardware counters; 'lime doctor' tells what this
machine allows.

The program's input, output and exit status pass through. Interrupting it keeps
what was recorded so far.

    lime record -- ./app input
    lime report

Under mpirun or srun -o names a directory: each rank writes a profile there.

    mpirun -n 8 lime record -o DIR -- ./app
    lime report DIR`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.pid != 0 && len(args) == 0 {
				return nil
			}
			return programArgs(cmd, args)
		},
		Annotations: map[string]string{"status": "program"},
		RunE:        func(cmd *cobra.Command, args []string) error { return a.record(cmd.Context(), args, &f) },
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false) // what follows the program is the program's
	fl.StringVarP(&f.output, "output", "o", defaultProfile,
		"write the profile to this `file`; under mpirun or srun, a directory for the profiles of all ranks")
	forceFlag(fl, &f.force)
	fl.Uint64VarP(&f.frequency, "frequency", "F", native.DefaultFrequency, "samples per second and thread, 1 to 10000")
	fl.Uint32Var(&f.stack, "stack", native.DefaultStackBytes, "copy so many `bytes` of a thread's stack with each sample")
	fl.IntVarP(&f.pid, "pid", "p", 0, "record this `process`, which runs already, until it ends or lime is interrupted")
	fl.StringSliceVar(&f.events, "event", nil,
		"sample `NAME` next to time (llc-miss, branch-miss, l1d-miss, tlb-miss, page-fault, none); all that there are")
	fl.BoolVar(&f.noHooks, "no-hooks", false, "do not watch the program's synchronisation functions")
	f.waste.add(fl, waste.All)
	fl.BoolVar(&f.noResolve, "no-resolve", false, "leave functions and lines to 'lime resolve'")
	viewFlag(fl, &f.view)
	f.region.addTimes(fl)
	f.trace.add(fl)
	f.rank.add(fl)
	return cmd
}

func (f *recordFlags) check(args []string) error {
	switch {
	case f.frequency < 1 || f.frequency > 10000:
		return usage(fmt.Errorf("--frequency %d: choose 1 to 10000", f.frequency))
	case f.stack > 65536:
		return usage(fmt.Errorf("--stack %d: choose at most 65536", f.stack))
	case f.pid < 0:
		return usage(fmt.Errorf("--pid %d: no process has such a number", f.pid))
	case f.pid != 0 && len(args) > 0:
		return usage(errors.New("--pid: give a process or a program, not both"))
	case f.output == "":
		return usage(errors.New("--output: no file named"))
	}
	if _, err := os.Getwd(); err != nil && !filepath.IsAbs(f.output) {
		return failed(errors.New("the working directory has been removed, and with it the place for the profile: name one with -o /PATH/FILE"))
	}
	if err := f.waste.checkRecord(f.pid); err != nil {
		return err
	}
	if err := native.CheckEvents(f.events); err != nil {
		return usage(fmt.Errorf("--event: %w", err))
	}
	if err := f.waste.whole(&f.region); err != nil {
		return err
	}
	return f.trace.check()
}

func (a *app) record(ctx context.Context, args []string, f *recordFlags) error {
	if err := f.check(args); err != nil {
		return err
	}
	me, err := f.rank.place(a, &f.output)
	if err != nil {
		return err
	}
	if err := f.region.check(nil, me, false); err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(recordGC))
	signals := make(chan os.Signal, 64) // from here on: a profile that is being made must not be left half done
	native.Notify(signals)
	defer signal.Stop(signals)
	if err := makeRoom(f.output, f.force); err != nil {
		return failed(err)
	}
	w, err := profile.Create(f.output, profile.Meta{Collector: "record", Model: "native", Command: args, RankInfo: me})
	if err != nil {
		return failed(err)
	}
	live, err := a.startLive(f.view, f.output)
	if err != nil {
		return errors.Join(failed(err), w.Close())
	}
	res, err := native.Run(ctx, native.Options{
		Command: args, PID: f.pid, Frequency: f.frequency, StackBytes: f.stack, NoHooks: f.noHooks, Events: f.events,
		Region: f.region.spec, Waste: f.waste.kinds, Tolerance: f.waste.tolerance, Traces: f.trace.bytes(), Tool: "lime " + Version(), Rank: me,
		Stdin: a.stdin, Stdout: a.program.stdout, Stderr: a.program.stderr, Out: w, Signals: signals,
	})
	err = errors.Join(err, w.Close())
	signal.Stop(signals)
	if err == nil && res.Never != "" {
		return nothingMeasured(f.output, res.Never)
	}
	if err != nil && res.EndState == "" {
		return a.notRecorded(f.output, res.Status, err)
	}
	live.release()
	if !f.noResolve {
		a.lookUp(f.output, resolve.Options{NamesOnly: origin.RuntimeLibrary})
	}
	if err != nil {
		return failed(err)
	}
	a.recordSummary(&res, f)
	live.finish()
	if res.Interrupted {
		interruptSelf()
	}
	return status(res.Status)
}

// interruptSelf ends lime by the signal that ended the program: a shell in whose loop the two run
// goes on with it if lime ends otherwise.
func interruptSelf() {
	signal.Reset(os.Interrupt)
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(os.Interrupt) == nil {
		time.Sleep(time.Second) // it does not come back from here
	}
}

// recordGC trades memory for time that the program may need: a recording's heap is small.
const recordGC = 400

// notRecorded takes the empty profile away.
func (a *app) notRecorded(path string, code int, err error) error {
	_ = profile.Remove(path) // an empty profile helps nobody
	if code == 0 {
		code = ExitFailed
	}
	return &exitError{code: code, err: err}
}

// recordSummary says what was recorded, to a person at a terminal only.
func (a *app) recordSummary(res *native.Result, f *recordFlags) {
	if !isTerminal(a.stderr) {
		return
	}
	hint := "lime report"
	if f.output != defaultProfile {
		hint += " " + f.output
	}
	fmt.Fprintf(a.stderr, "lime: %d threads, %d section instances, %d samples (%.1f %% with a complete call path) in %s; now: %s\n",
		res.Threads, res.Instances, res.Samples, 100*res.Stacks, f.output, hint)
}
