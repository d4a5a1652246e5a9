package cli

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is that of a lime that was not built from a tag.
const version = "0.1"

// tagged are the versions of a release; others are made up by go build for a commit between two.
var tagged = regexp.MustCompile(`^v(\d+\.\d+\.\d+(-(alpha|beta|rc)\.?\d+)?)$`)

// Version returns the version with the revision it was built from, if known.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	if m := tagged.FindStringSubmatch(info.Main.Version); m != nil {
		return m[1]
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
