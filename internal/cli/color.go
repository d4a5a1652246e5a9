package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"
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
// NO_COLOR says otherwise.
func (a *app) color(when string, w io.Writer) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	return a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
