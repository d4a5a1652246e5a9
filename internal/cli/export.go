package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lime/internal/export"
	"lime/internal/profile"
)

// exportFormat is a form in which a profile can be written, and its option.
type exportFormat struct {
	name, help string
	form       form
	write      func(io.Writer, profile.Source) error
}

func exportFormats() []exportFormat {
	return []exportFormat{
		{"csv", "the matrix of events as comma-separated values", asData, export.CSV},
		{"folded", "the call paths as folded stacks", asData, export.Folded},
		{"perfetto", "the threads over time as a Perfetto trace", asBytes, export.Perfetto},
		{"pprof", "the time of every block in pprof's format", asBytes, export.Pprof},
		{"speedscope", "the call paths in speedscope's format", asData, export.Speedscope},
		{"text", "the profile in text form", asProfile, profile.WriteText},
	}
}

func (a *app) exportCommand() *cobra.Command {
	var output string
	formats := exportFormats()
	chosen, names := make([]bool, len(formats)), make([]string, len(formats))
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
		RunE: func(_ *cobra.Command, args []string) error {
			i := slices.Index(chosen, true)
			if i < 0 {
				return usage(fmt.Errorf("say what to export: --%s", strings.Join(names, ", --")))
			}
			return a.export(oneOr(args, defaultProfile), output, &formats[i])
		},
	}
	fl := cmd.Flags()
	for i, f := range formats {
		fl.BoolVar(&chosen[i], f.name, false, f.help)
		names[i] = f.name
	}
	fl.StringVarP(&output, "output", "o", "", "write to this `file` instead of standard output")
	cmd.MarkFlagsMutuallyExclusive(names...)
	return cmd
}

func (a *app) export(path, output string, f *exportFormat) error {
	src, closeSource, err := openProfile(path)
	if err != nil {
		return err
	}
	defer closeSource()
	return a.output(output, []string{path}, f.form, func(w io.Writer) error { return f.write(w, src) })
}
