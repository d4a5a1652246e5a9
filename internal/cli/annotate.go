package cli

import (
	"bufio"
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"lime/internal/report"
	"lime/internal/safe"
)

// annotateFlags are the options of annotate.
type annotateFlags struct {
	events, noDisk bool
	output, color  string
	width          int
}

func (a *app) annotateCommand() *cobra.Command {
	var f annotateFlags
	cmd := &cobra.Command{
		Use:   "annotate FILE|FUNCTION [PROFILE]",
		Short: "Print source with what each thread did on its lines",
		Long: `annotate prints the lines of a source file, or of a function, with their share
of the time and how often each thread ran them. The text comes from the
profile, and from the source file where it is at hand.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.annotate(args[0], oneOr(args[1:], defaultProfile), &f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&f.events, "events", "e", false, "show every kind of event below its line")
	fl.BoolVar(&f.noDisk, "no-source-files", false, "use only the text that the profile carries")
	fl.StringVarP(&f.output, "output", "o", "", "write to this `file` instead of standard output")
	colorFlag(cmd, &f.color)
	widthFlag(cmd, &f.width)
	return cmd
}

func (a *app) annotate(what, path string, f *annotateFlags) error {
	if err := cmp.Or(checkColor(f.color), checkWidth(f.width)); err != nil {
		return err
	}
	src, closeSource, err := openProfile(path)
	if err != nil {
		return err
	}
	defer closeSource()
	source := readLines
	if f.noDisk {
		source = func(string) []string { return nil }
	}
	note, err := report.Annotate(src, what, source)
	if err != nil {
		return failed(err)
	}
	return a.output(f.output, []string{path}, asText, func(w io.Writer) error {
		o := a.page(f.color, f.width, w)
		o.All = f.events
		return report.WriteAnnotation(w, note, o)
	})
}

// readLines returns the lines of a source file; none if it cannot be read.
func readLines(path string) []string {
	f, err := safe.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > 64<<20 {
		return nil
	}
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}
