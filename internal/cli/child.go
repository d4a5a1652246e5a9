package cli

import (
	"io"

	"lime/internal/collect/sim"
)

// childMain runs the hidden verbs that lime starts itself as (the process that
// holds a simulated program); ok is false for any other command line.
func childMain(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int, ok bool) {
	if len(args) > 0 && args[0] == sim.ChildVerb {
		return sim.ChildMain(args[1:], stderr), true
	}
	return 0, false
}
