// Package cli is the command line of lime: one file a verb, and the only place
// where collectors, resolver, analysis and reports are wired together. It may
// import everything; nothing but cmd/lime may import it.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lime/internal/safe"
)

// app is what a run of the command line needs from outside, so that tests can
// give it all.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer // behind the gate, once run has begun
	program        streams   // before it: what a program that is measured gets
	getenv         func(string) string
}

// streams are outputs.
type streams struct{ stdout, stderr io.Writer }

// gate puts the gate before all that lime says.
func (a *app) gate() {
	a.program = streams{a.stdout, a.stderr}
	a.stdout, a.stderr = safe.NewWriter(a.stdout, safe.Dot), safe.NewWriter(a.stderr, safe.Dot)
}

// Main runs lime with args (the program name left out) and returns the exit
// status; see ExitCodes for its meaning.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if code, ok := childMain(args, stdin, stdout, stderr); ok {
		return code
	}
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv}
	return a.run(args)
}

// run executes one command line.
func (a *app) run(args []string) int {
	a.gate()
	root := a.root()
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	cmd, err := root.ExecuteC()
	return a.finish(cmd, err)
}

// finish prints err, if there is something to say, and turns it into a status.
func (a *app) finish(cmd *cobra.Command, err error) int {
	if err == nil {
		return ExitOK
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = usage(plainFlagError(err))
	}
	if e.err != nil {
		fmt.Fprintf(a.stderr, "lime: %v\n", e.err)
	}
	if e.hint {
		fmt.Fprintf(a.stderr, "Try '%s --help'.\n", cmd.CommandPath())
	}
	if e.hint && runsPrograms(cmd) {
		return ExitFailed // 1 to 124 belong to the program there
	}
	return e.code
}

// plainFlagError says what is wrong with a flag's value without the words of Go's library.
func plainFlagError(err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &number) {
		return err
	}
	why := "not a number"
	switch {
	case errors.Is(number.Err, strconv.ErrRange):
		why = "out of range"
	case number.Func == "ParseInt" || number.Func == "Atoi":
		why = "not a whole number"
	case number.Func == "ParseBool":
		why = "neither true nor false"
	}
	return fmt.Errorf("--%s %s: %s", value.GetFlag().Name, value.GetValue(), why)
}

// runsPrograms tells the verbs whose status is the measured program's.
func runsPrograms(cmd *cobra.Command) bool { return cmd.Annotations["status"] == "program" }

// root builds the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lime",
		Short: "Why a multi-threaded program wastes its cores, and on which line",
		Long: `lime tells why a multi-threaded program wastes its cores: which source line
makes some threads work longer than others, and how much time there is to win.
It runs unmodified Linux x86-64 programs.

    lime simulate -- ./app args
    lime report

` + exitHelp(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       Version(),
		Args:          noVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("lime {{.Version}}\n")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages |", ".FlagUsagesWrapped 80 |"))
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.CompletionOptions.HiddenDefaultCmd = false
	for _, verb := range verbs {
		root.AddCommand(verb(a))
	}
	return root
}

// verbs lists the commands, in the order in which help shows them.
var verbs = []func(*app) *cobra.Command{
	(*app).simulateCommand,
	(*app).countCommand,
	(*app).recordCommand,
	(*app).reportCommand,
	(*app).annotateCommand,
	(*app).viewCommand,
	(*app).diffCommand,
	(*app).whatifCommand,
	(*app).scaleCommand,
	(*app).exportCommand,
	(*app).importCommand,
	(*app).mergeCommand,
	(*app).resolveCommand,
	(*app).doctorCommand,
	(*app).versionCommand,
	(*app).manCommand,
}

// noVerb rejects a word that is no verb, and names the nearest ones.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := cmd.SuggestionsFor(args[0])
	if len(near) == 0 {
		return fmt.Errorf("no verb %q; to run a program: lime simulate -- %s", args[0], strings.Join(args, " "))
	}
	return fmt.Errorf("no verb %q; did you mean %s?", args[0], strings.Join(near, " or "))
}
