package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lime/internal/analysis"
	"lime/internal/report"
	"lime/internal/safe"
)

// diffFlags are the options of diff.
type diffFlags struct {
	json, all     bool
	output, color string
	failOn        []string
	width         int
	analysis      analysis.Options
}

func (a *app) diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER | BEFORE... -- AFTER...",
		Short: "Compare two runs: what became better, worse, new, gone",
		Long: `diff compares two profiles, or reports that 'lime report --json' wrote: what
their core time went into, by term and place, by section and by cause. Losses
are times, and not shares: what did not change is unchanged, however short the
rest has become. Lines may have moved in between.

Of several runs a side, with -- between them, it compares the means, and calls a
change what exceeds their scatter (95 %).

--fail-on sets a limit, for use in tests: status 4 if it is passed, and what
passed it on standard error. FIGURE>+5% limits the change, FIGURE>30% the figure
after; FIGURE is imbalance (of any section), lost, runtime, efficiency, balance,
serial, lock, wait, off_core, overhead, memory, unproved (docs/loss.md) or
causes (a number).

    lime diff --fail-on 'imbalance>+5%' --fail-on 'runtime>+3%' old new
    lime diff old1 old2 old3 -- new1 new2 new3`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, after, err := twoSides(args, cmd.ArgsLenAtDash())
			if err != nil {
				return usage(err)
			}
			return a.diff(before, after, &f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.StringArrayVar(&f.failOn, "fail-on", nil, "end with status 4 if this `limit` is passed; may be repeated")
	fl.StringVarP(&f.output, "output", "o", "", "write to this `file` instead of standard output")
	fl.BoolVarP(&f.all, "all", "a", false, "show what did not change as well")
	colorFlag(cmd, &f.color)
	widthFlag(cmd, &f.width)
	analysisFlags(cmd, &f.analysis)
	return cmd
}

// twoSides divides the runs at --; without it there is one a side.
func twoSides(args []string, dash int) (before, after []string, err error) {
	switch {
	case dash > 0 && dash < len(args):
		return args[:dash], args[dash:], nil
	case dash < 0 && len(args) == 2:
		return args[:1], args[1:], nil
	}
	return nil, nil, errors.New("name one run before and one after, or several a side with -- between them")
}

func loadReports(paths []string, o analysis.Options) ([]*report.Report, error) {
	out := make([]*report.Report, len(paths))
	for i, path := range paths {
		var err error
		if out[i], err = loadReport(path, o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a *app) diff(before, after []string, f *diffFlags) error {
	gates, err := f.check()
	if err != nil {
		return err
	}
	x, err := loadReports(before, f.analysis)
	if err != nil {
		return err
	}
	y, err := loadReports(after, f.analysis)
	if err != nil {
		return err
	}
	d := report.CompareRuns(x, y)
	if err := a.output(f.output, slices.Concat(before, after), dataIf(f.json),
		func(w io.Writer) error { return a.writeDiff(w, d, f) }); err != nil {
		return err
	}
	return passedGates(d, gates)
}

func (f *diffFlags) check() ([]report.Gate, error) {
	var gates []report.Gate
	for _, text := range f.failOn {
		g, err := report.ParseGate(text)
		if err != nil {
			return nil, usage(err)
		}
		gates = append(gates, g)
	}
	if err := cmp.Or(checkColor(f.color), checkWidth(f.width)); err != nil {
		return nil, err
	}
	return gates, checkAnalysis(&f.analysis)
}

func (a *app) writeDiff(w io.Writer, d *report.Diff, f *diffFlags) error {
	if f.json {
		return report.WriteDiffJSON(w, d)
	}
	o := a.page(f.color, f.width, w)
	o.All = f.all
	return report.WriteDiffText(w, d, o)
}

func passedGates(d *report.Diff, gates []report.Gate) error {
	var passed []string
	for _, g := range gates {
		passed = append(passed, g.Check(d)...)
	}
	if len(passed) == 0 {
		return nil
	}
	return &exitError{code: ExitGate, err: errors.New("limit passed: " + strings.Join(passed, "; "))}
}

// loadReport reads a report in JSON, or makes that of a profile.
func loadReport(path string, o analysis.Options) (*report.Report, error) {
	if !isJSON(path) {
		return analyseFile(path, o)
	}
	f, err := safe.Open(path)
	if err != nil {
		return nil, failed(err)
	}
	defer f.Close()
	r, err := report.ReadJSON(f)
	if err != nil {
		return nil, failed(fmt.Errorf("%s: %w", path, err))
	}
	return r, nil
}

// isJSON tells whether the file begins like a JSON object.
func isJSON(path string) bool {
	f, err := safe.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := f.Read(head)
	return bytes.HasPrefix(bytes.TrimLeft(head[:n], " \t\r\n"), []byte("{"))
}
