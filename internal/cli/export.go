package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"lime/internal/export"
	"lime/internal/profile"
	"lime/internal/report"
)

// exportFlags are the options of export.
type exportFlags struct {
	csv, text, pprof             bool
	perfetto, speedscope, folded bool
	output                       string
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export --FORMAT [PROFILE]",
		Short: "Print the raw data, for statistics of your own or for other tools",
		Long: `export prints what a profile holds.

--csv prints the matrix of events: a row for each event of each instance, with
its place, and a column for each thread; each instance begins with the rows of
the threads' times. --pprof writes the time of every block for 'go tool pprof',
with section and thread as labels; of a recorded profile the call paths, as
--folded does for flame graphs and --speedscope for speedscope. --perfetto
writes the threads' parts of all sections over time, for ui.perfetto.dev. --text
prints the whole profile in the text form that every verb reads as well.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.export(oneOr(args, defaultProfile), &f) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.csv, "csv", false, "the matrix of events as comma-separated values")
	fl.BoolVar(&f.folded, "folded", false, "the call paths as folded stacks")
	fl.BoolVar(&f.perfetto, "perfetto", false, "the threads over time as a Perfetto trace")
	fl.BoolVar(&f.speedscope, "speedscope", false, "the call paths in speedscope's format")
	fl.BoolVar(&f.pprof, "pprof", false, "the time of every block in pprof's format")
	fl.BoolVar(&f.text, "text", false, "the profile in text form")
	fl.StringVarP(&f.output, "output", "o", "", "write to this `file` instead of standard output")
	cmd.MarkFlagsMutuallyExclusive("csv", "folded", "perfetto", "pprof", "speedscope", "text")
	return cmd
}

func (a *app) export(path string, f *exportFlags) error {
	write := f.writer()
	if write == nil {
		return usage(errors.New("say what to export: --csv, --folded, --perfetto, --pprof, --speedscope or --text"))
	}
	src, closeSource, err := openProfile(path)
	if err != nil {
		return err
	}
	defer closeSource()
	return a.output(f.output, func(w io.Writer) error { return write(w, src) })
}

// writer returns the function that writes what the flags ask for.
func (f *exportFlags) writer() func(io.Writer, profile.Source) error {
	switch {
	case f.csv:
		return report.WriteCSV
	case f.pprof:
		return writePprof
	case f.folded:
		return export.Folded
	case f.perfetto:
		return export.Perfetto
	case f.speedscope:
		return export.Speedscope
	case f.text:
		return profile.WriteText
	}
	return nil
}

// writePprof writes call paths where the profile has them, and blocks alone otherwise.
func writePprof(w io.Writer, src profile.Source) error {
	if len(src.Tables().PathSamples) > 0 {
		return export.Pprof(w, src)
	}
	return report.WritePprof(w, src)
}
