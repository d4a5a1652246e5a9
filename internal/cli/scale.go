package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lime/internal/analysis"
	"lime/internal/collect/sim"
	"lime/internal/resolve"
	"lime/internal/safe"
	"lime/internal/scale"
)

// scaleFlags are the options of scale.
type scaleFlags struct {
	json, html, all bool
	output, keep    string
	strong, weak    bool
	cores, forecast []int
	analysis        analysis.Options
}

func (a *app) scaleCommand() *cobra.Command {
	var f scaleFlags
	cmd := &cobra.Command{
		Use:   "scale A B [C...] | scale --cores N,N,... -- PROGRAM [ARGUMENT...]",
		Short: "Say what a program's efficiency is lost to on more cores",
		Long: `scale puts runs on different numbers of cores beside each other: profiles, or
directories of ranks' profiles. What the larger run takes more than the smallest
one, scaled, is what its efficiency was lost to, by cause and by line; the parts
add up. Whether all runs did the same work (strong scaling) or as much for each
core (weak scaling) is told by the work they did, or said by --strong or --weak.

With --cores, scale simulates the program on each of these numbers of cores; {}
in its arguments, and OMP_NUM_THREADS, are the number. --forecast then tells
what to expect on numbers of cores that were not run, and how far to trust it.

    lime scale run-4 run-64
    lime scale --cores 1,2,4,8,16,32 --forecast 64,128,256 -- ./app --threads {}`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(f.cores) > 0 {
				return programArgs(cmd, args)
			}
			return cobra.MinimumNArgs(2)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.scale(cmd.Context(), args, &f) },
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false)
	fl.IntSliceVar(&f.cores, "cores", nil, "simulate the program on each of these `numbers` of cores")
	fl.IntSliceVar(&f.forecast, "forecast", nil, "tell what to expect on these `numbers` of cores")
	fl.StringVar(&f.keep, "keep", "", "with --cores, keep the runs' profiles in this `directory`")
	fl.BoolVar(&f.strong, "strong", false, "the runs do the same work")
	fl.BoolVar(&f.weak, "weak", false, "the runs do as much work for each core")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVar(&f.html, "html", false, "print one self-contained HTML file")
	fl.BoolVarP(&f.all, "all", "a", false, "show every place, however little it costs")
	fl.StringVarP(&f.output, "output", "o", "", "write to this `file` instead of standard output")
	analysisFlags(cmd, &f.analysis)
	cmd.MarkFlagsMutuallyExclusive("strong", "weak")
	cmd.MarkFlagsMutuallyExclusive("json", "html")
	return cmd
}

func (f *scaleFlags) mode() scale.Mode {
	switch {
	case f.strong:
		return scale.Strong
	case f.weak:
		return scale.Weak
	}
	return ""
}

func (f *scaleFlags) check() error {
	for _, n := range slices.Concat(f.cores, f.forecast) {
		if n < 1 || n > maxForecast {
			return usage(fmt.Errorf("%d cores: choose 1 to %d", n, maxForecast))
		}
	}
	for _, n := range f.cores {
		if n > sim.MaxCores {
			return usage(fmt.Errorf("--cores %d: at most %d can be simulated; --forecast looks further", n, sim.MaxCores))
		}
	}
	if len(f.cores) == 1 {
		return usage(errors.New("--cores: give two numbers or more"))
	}
	return checkAnalysis(&f.analysis)
}

// maxForecast keeps numbers of cores those of machines.
const maxForecast = 1 << 24

func (a *app) scale(ctx context.Context, args []string, f *scaleFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	runs, err := a.scaleRuns(ctx, args, f)
	if err != nil {
		return err
	}
	s, err := scale.Compare(runs, f.mode())
	if err != nil {
		return failed(err)
	}
	if err := s.Look(f.forecast); err != nil {
		return failed(err)
	}
	var reads []string
	if len(f.cores) == 0 {
		reads = args
	}
	return a.output(f.output, reads, dataIf(f.json || f.html), func(w io.Writer) error {
		switch {
		case f.json:
			return scale.WriteJSON(w, s)
		case f.html:
			return scale.WriteHTML(w, s)
		}
		return scale.WriteText(w, s, f.all)
	})
}

// scaleRuns reads the runs, or makes them.
func (a *app) scaleRuns(ctx context.Context, args []string, f *scaleFlags) (runs []*scale.Run, err error) {
	if len(f.cores) == 0 {
		for _, path := range args {
			r, err := scaleRun(path, path, 0, f.analysis)
			if err != nil {
				return nil, err
			}
			runs = append(runs, r)
		}
		return runs, nil
	}
	dir := f.keep
	if dir == "" {
		tmp, err := safe.TempDir()
		if err != nil {
			return nil, failed(fmt.Errorf("room for the runs' profiles: %w", err))
		}
		defer tmp.Remove()
		dir = tmp.Path
	} else if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, failed(fmt.Errorf("--keep: %w", err))
	}
	for _, n := range f.cores {
		path := filepath.Join(dir, fmt.Sprintf("cores-%05d.lime", n))
		if err := a.scaleSimulate(ctx, args, n, path); err != nil {
			return nil, failed(fmt.Errorf("the run on %d cores: %w", n, err))
		}
		r, err := scaleRun(path, fmt.Sprintf("%d cores", n), n, f.analysis)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func scaleRun(path, name string, cores int, o analysis.Options) (*scale.Run, error) {
	src, closeSource, err := openProfile(path)
	if err != nil {
		return nil, err
	}
	defer closeSource()
	res, err := analysis.Run(src, o)
	if err != nil {
		return nil, failed(fmt.Errorf("%s: %w", path, err))
	}
	r, err := scale.From(name, res, cores)
	if err != nil {
		return nil, failed(err)
	}
	r.ReadPaths(src.Tables())
	return r, nil
}

// scaleSimulate runs the program on so many cores. What it writes goes where lime's own words go:
// the answer is on standard output.
func (a *app) scaleSimulate(ctx context.Context, args []string, cores int, path string) error {
	number := strconv.Itoa(cores)
	with := make([]string, len(args))
	for i, arg := range args {
		with[i] = strings.ReplaceAll(arg, "{}", number)
	}
	res, err := sim.Run(ctx, sim.Options{
		Cores: cores, Machine: "count", Cmd: with[0], Args: with[1:], Out: path,
		Env: append(os.Environ(), "OMP_NUM_THREADS="+number), Tool: "lime " + Version(),
		Progress: isTerminal(a.stderr), Stdin: strings.NewReader(""), Stdout: a.program.stderr, Stderr: a.program.stderr,
	})
	switch {
	case err != nil:
		return err
	case res.EndState != "exited" || res.Status != 0:
		return fmt.Errorf("it did not come to a good end (%s, status %d) %s", res.EndState, res.Status, res.Message)
	}
	return resolve.File(path, resolve.Options{})
}
