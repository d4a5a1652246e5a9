package cli

import (
	"io"

	"lime/internal/collect/sim"
)

// childMain runs the hidden verbs that lime starts itself as (the process that
// holds a simulated program); ok is false for any other command line.
func childMain(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int, ok bool) {
	verbs := map[string]func([]string, io.Writer) int{sim.ChildVerb: sim.ChildMain, sim.FollowVerb: sim.FollowMain}
	if len(args) > 0 && verbs[args[0]] != nil {
		return verbs[args[0]](args[1:], stderr), true
	}
	return 0, false
}
