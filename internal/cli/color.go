package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lime/internal/report"
	"lime/internal/safe"
)

func colorFlag(cmd *cobra.Command, when *string) {
	cmd.Flags().StringVar(when, "color", "auto", "`when` to use colour: auto, always, never")
	_ = cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(colorWords(), cobra.ShellCompDirectiveNoFileComp))
}

func colorWords() []string { return []string{"auto", "always", "never"} }

func checkColor(when string) error {
	if !slices.Contains(colorWords(), when) {
		return usage(fmt.Errorf("--color %s: must be auto, always or never", when))
	}
	return nil
}

// color decides whether what goes to w is coloured: on a terminal, unless
// NO_COLOR says otherwise. Then the gate lets the report's colours pass.
func (a *app) color(when string, w io.Writer) bool {
	on := a.wantsColor(when, w)
	if g, ok := w.(*safe.Writer); ok && on {
		g.Pass(report.Styles())
	}
	return on
}

func (a *app) wantsColor(when string, w io.Writer) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	return a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(w any) bool {
	if g, ok := w.(*safe.Writer); ok {
		w = g.Unwrap()
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
