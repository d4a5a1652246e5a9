package cli

import (
	"fmt"
	"strings"
)

// The exit statuses. Verbs that run a program (simulate, count, record) pass the
// program's own status through instead, and keep 125 to 127 for themselves, as
// env, nice and timeout do.
const (
	ExitOK        = 0   // done
	ExitUsage     = 2   // the command line is wrong
	ExitWeak      = 3   // the data are too weak to answer
	ExitGate      = 4   // lime diff --fail-on: a limit was passed
	ExitFailed    = 125 // lime failed: a file is missing or damaged, an error of its own
	ExitCannotRun = 126 // the program was found and cannot be run
	ExitNotFound  = 127 // no such program
)

// exitCode is one row of the table that help and man pages show.
type exitCode struct {
	Code    string
	Meaning string
}

// exitCodes returns the table of exit statuses.
func exitCodes() []exitCode {
	return []exitCode{
		{"0", "done"},
		{"2", "the command line is wrong (simulate, count and record: 125, as 2 may be the program's own)"},
		{"3", "report: the data are too weak to answer (no two threads ran side by side)"},
		{"4", "diff --fail-on: a limit was passed"},
		{"125", "lime failed: a file is missing or damaged, or an error of its own"},
		{"126", "simulate, count, record: the program was found and cannot be run"},
		{"127", "simulate, count, record: no such program"},
		{"other", "simulate, count, record: the program's own status; 128 + N if signal N ended it"},
	}
}

func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit status:")
	for _, c := range exitCodes() {
		fmt.Fprintf(&b, "\n  %-6s %s", c.Code, c.Meaning)
	}
	return b.String()
}

// exitError carries an exit status with a message; err nil = nothing to say.
type exitError struct {
	code int
	err  error
	hint bool // point to --help
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage marks err as a mistake on the command line.
func usage(err error) *exitError { return &exitError{code: ExitUsage, err: err, hint: true} }

// failed marks err as a failure of lime's.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: ExitFailed, err: err}
}

// status ends the run with a code and no words.
func status(code int) error {
	if code == ExitOK {
		return nil
	}
	return &exitError{code: code}
}
