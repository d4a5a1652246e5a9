package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

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

// page says how text for w is laid out: as wide as the terminal, or as --width says, and in ASCII
// where the locale has no more.
func (a *app) page(color string, width int, w io.Writer) report.TextOptions {
	o := report.TextOptions{Color: a.color(color, w), Width: width, ASCII: !a.utf8()}
	if f, ok := terminal(w); ok && width == 0 {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width = columns
		}
	}
	return o
}

// utf8 reports whether the locale's encoding is UTF-8. Where no locale is set, nothing speaks
// against it.
func (a *app) utf8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(a.getenv(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}

func widthFlag(cmd *cobra.Command, width *int) {
	cmd.Flags().IntVar(width, "width", 0, "fill `N` columns; 0 = those of the terminal, or 80")
}

func checkWidth(width int) error {
	const most = 10000
	if width < 0 || width > most {
		return usage(fmt.Errorf("--width %d: must be from 0 to %d", width, most))
	}
	return nil
}

func isTerminal(w any) bool {
	_, ok := terminal(w)
	return ok
}

// terminal is the terminal that w writes to, if it is one.
func terminal(w any) (*os.File, bool) {
	if g, ok := w.(*safe.Writer); ok {
		w = g.Unwrap()
	}
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}
