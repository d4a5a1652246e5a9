package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

const version = "0.1"

// Version returns the version with the revision it was built from, if known.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	return version + revision(info.Settings)
}

func revision(settings []debug.BuildSetting) string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	rev := values["vcs.revision"]
	if rev == "" {
		return ""
	}
	out := " (" + rev[:min(12, len(rev))]
	if values["vcs.modified"] == "true" {
		out += ", modified"
	}
	return out + ")"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			fmt.Fprintf(a.stdout, "lime %s %s/%s %s\n", Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
		},
	}
}
