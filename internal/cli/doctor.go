package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lime/internal/collect/native"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine and user can record, and what would bring the rest",
		Long: `doctor tries what 'lime record' needs: perf events, sampling clocks, the
processor's counters, tracing. For what is missing it names the setting or
capability that would bring it. 'lime simulate' needs none of this.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return failed(writeChecks(a.stdout, native.Doctor(), asJSON)) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func writeChecks(w io.Writer, checks []native.Check, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(checks)
	}
	for _, c := range checks {
		state := "yes"
		if !c.OK {
			state = "NO"
		}
		fmt.Fprintf(w, "%-4s %-20s %s\n", state, c.Name, c.Found)
		if !c.OK {
			fmt.Fprintf(w, "     %-20s without it: no %s\n     %-20s to have it: %s\n", "", c.Gives, "", c.Fix)
		}
	}
	fmt.Fprintf(w, "\n%s\n", advice(checks))
	return nil
}

// advice says what record does here.
func advice(checks []native.Check) string {
	ok := map[string]bool{}
	for _, c := range checks {
		ok[c.Name] = c.OK
	}
	switch {
	case ok["sampling clock"] && ok["tracing"]:
		return "lime record: samples, sections and times on a CPU."
	case ok["sampling clock"]:
		return "lime record: samples and times on a CPU; no sections, only the whole run."
	case ok["tracing"]:
		return "lime record: sections with times on the wall; no samples, hence no causes."
	}
	return "lime record has nothing to go by here; lime simulate works all the same."
}
