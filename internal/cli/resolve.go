package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"lime/internal/resolve"
)

// resolveFlags are the options of resolve.
type resolveFlags struct {
	output string
	o      resolve.Options
}

func (a *app) resolveCommand() *cobra.Command {
	var f resolveFlags
	cmd := &cobra.Command{
		Use:   "resolve [PROFILE]",
		Short: "Fill functions, lines and source text into a profile",
		Long: `resolve looks up what a profile's addresses mean, and stores functions, inlined
frames, file:line and the text of the lines. Collectors do so at the end of a
run; it is needed by hand only where a run was killed, or where debug files or
sources were not at hand.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.resolve(oneOr(args, defaultProfile), &f) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.output, "output", "o", "", "write the profile to this `file`; otherwise in place")
	fl.StringArrayVar(&f.o.DebugDirs, "debug-dir", nil, "look for separate debug files in this `directory`; may be repeated")
	fl.StringArrayVar(&f.o.SourceDirs, "source-dir", nil, "look for sources in this `directory`, too; may be repeated")
	fl.IntVar(&f.o.Context, "context", resolve.DefaultContext, "keep `N` source lines around each that is named; -1 = none")
	return cmd
}

func (a *app) resolve(path string, f *resolveFlags) error {
	text, err := isText(path)
	if err != nil {
		return failed(explainOpen(path, err))
	}
	if text {
		return failed(fmt.Errorf("profile %s: is in text form; only files can be resolved", path))
	}
	out := f.output
	if out == "" {
		out = path
	}
	return failed(resolve.Copy(path, out, f.o))
}

// resolved looks the addresses of a profile up that its collector could not
// (it was killed), as far as the program is at hand.
func resolved(p resolve.Editor) error {
	if p.Meta().Resolved || len(p.Tables().Images) == 0 {
		return nil
	}
	return resolve.Memory(p, resolve.Options{})
}
