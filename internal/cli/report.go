package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"lime/internal/analysis"
	"lime/internal/report"
)

// reportFlags are the options of report.
type reportFlags struct {
	json, html, all bool
	forTools        [3]bool // by toolForms
	root            string
	width           int
	verify, yes     bool
	views           [3]bool // by reportViews
	sections        int
	section         []string
	output, color   string
	analysis        analysis.Options
}

func (a *app) reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [PROFILE]",
		Short: "Say which lines make the threads uneven",
		Long: `report says which parallel sections lose time, which source lines make their
threads uneven, and how much there is to win. It reads ` + defaultProfile + `, or the
PROFILE that is named. If no two threads ran side by side there is nothing to
answer: status 3.

--verify runs the program of a simulated profile once more as it was, and once
for each important cause without it: misses become hits, the cost of a decision
is the same for all threads. Beside each cause stands what that showed. The
program must be where it was, and its standard input is empty.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.report(cmd.Context(), oneOr(args, defaultProfile), &f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.json, "json", false, "print JSON (docs/report-json.md)")
	fl.BoolVar(&f.html, "html", false, "print one self-contained HTML file")
	for i, t := range toolForms() {
		fl.BoolVar(&f.forTools[i], t.name, false, t.help)
	}
	fl.StringVar(&f.root, "source-root", "", "the sources' root `directory`, for --sarif, --github and --markdown; default: where lime runs")
	fl.StringVarP(&f.output, "output", "o", "", "write to this `file` instead of standard output")
	fl.BoolVarP(&f.all, "all", "a", false, "explain every section, show every cause")
	fl.BoolVar(&f.verify, "verify", false, "run the program again without each cause, to see whether it is right")
	yesFlag(cmd, &f.yes)
	fl.IntVarP(&f.sections, "sections", "n", 0, "explain at most `N` sections; 0 = those that matter, up to 3")
	fl.StringArrayVarP(&f.section, "section", "s", nil, "explain this section, however small: its `N|PLACE` in the list; may be repeated")
	colorFlag(cmd, &f.color)
	widthFlag(cmd, &f.width)
	analysisFlags(cmd, &f.analysis)
	for i, v := range reportViews() {
		fl.BoolVar(&f.views[i], string(v.view), false, v.help)
	}
	cmd.MarkFlagsMutuallyExclusive("json", "html", "sarif", "github", "markdown", "tree", "bottom-up", "flat")
	return cmd
}

func (a *app) report(ctx context.Context, path string, f *reportFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	for i, v := range reportViews() {
		if f.views[i] {
			return a.reportView(path, f.output, v.view)
		}
	}
	r, only, err := a.reportOf(ctx, path, f)
	if err != nil {
		return err
	}
	if err := a.output(f.output, []string{path}, f.form(), func(w io.Writer) error { return a.writeReport(w, r, only, f) }); err != nil {
		return err
	}
	if len(r.Sections) == 0 {
		return status(ExitWeak)
	}
	return nil
}

// reportOf makes the report, holds its causes to runs if that is asked for, and finds the sections
// that are.
func (a *app) reportOf(ctx context.Context, path string, f *reportFlags) (r *report.Report, only []int, err error) {
	src, closeSource, err := openProfile(path)
	if err != nil {
		return nil, nil, err
	}
	defer closeSource()
	res, r, err := analyse(src, f.analysis)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if only, err = chosenSections(res, f.section); err != nil {
		return nil, nil, usage(err)
	}
	if !f.verify {
		return r, only, nil
	}
	checks, err := a.verify(ctx, src, res, f.analysis, f.yes)
	if err != nil {
		r.NotVerified(err)
	}
	r.Verify(checks)
	return r, only, nil
}

// chosenSections finds the sections that --section names; nil if it names none.
func chosenSections(res *analysis.Result, specs []string) (only []int, err error) {
	for _, spec := range specs {
		found, err := res.FindSections(spec)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			if !slices.Contains(only, i) {
				only = append(only, i)
			}
		}
	}
	return only, nil
}

// reportViews lists the views of the call paths, by their flags.
func reportViews() [3]struct {
	view report.View
	help string
} {
	return [3]struct {
		view report.View
		help string
	}{
		{report.ViewTree, "print the call tree of a recorded profile"},
		{report.ViewBottomUp, "print its functions with their callers"},
		{report.ViewFlat, "print its functions"},
	}
}

func (a *app) reportView(path, output string, view report.View) error {
	src, closeSource, err := openProfile(path)
	if err != nil {
		return err
	}
	defer closeSource()
	return a.output(output, []string{path}, asText, func(w io.Writer) error { return report.WriteView(w, src, view) })
}

func (f *reportFlags) check() error {
	if f.sections < 0 {
		return usage(fmt.Errorf("--sections %d: must be 0 or more", f.sections))
	}
	if err := cmp.Or(checkColor(f.color), checkWidth(f.width)); err != nil {
		return err
	}
	if len(f.section) > 0 && (f.html || f.all) {
		return usage(errors.New("--section picks some of the sections: --html and --all show every one"))
	}
	return checkAnalysis(&f.analysis)
}

// form is what the report is written as.
func (f *reportFlags) form() form {
	return dataIf(f.json || f.html || slices.Contains(f.forTools[:], true))
}

// toolForms lists the forms for tools that show findings at lines of the source, by their flags.
func toolForms() [3]struct {
	name, help string
	write      func(io.Writer, *report.Report, string) error
} {
	return [3]struct {
		name, help string
		write      func(io.Writer, *report.Report, string) error
	}{
		{"sarif", "print SARIF 2.1.0", report.WriteSARIF},
		{"github", "print annotations for GitHub's workflows", report.WriteGitHub},
		{"markdown", "print Markdown, for a comment on a change", report.WriteMarkdown},
	}
}

// sourceRoot is the absolute path of the sources' root.
func (f *reportFlags) sourceRoot() (string, error) {
	root, err := filepath.Abs(f.root)
	if err != nil {
		return "", fmt.Errorf("--source-root %s: %w", f.root, err)
	}
	return root, nil
}

func (a *app) writeReport(w io.Writer, r *report.Report, only []int, f *reportFlags) error {
	for i, t := range toolForms() {
		if f.forTools[i] {
			root, err := f.sourceRoot()
			if err != nil {
				return usage(err)
			}
			return t.write(w, r, root)
		}
	}
	switch {
	case f.json:
		return report.WriteJSON(w, r.Only(only))
	case f.html:
		return report.WriteHTML(w, r)
	}
	o := a.page(f.color, f.width, w)
	o.Sections, o.All, o.Only = f.sections, f.all, only
	return report.WriteText(w, r, o)
}
