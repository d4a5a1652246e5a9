package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"lime/internal/analysis"
	"lime/internal/profile"
	"lime/internal/report"
)

// analysisFlags adds the constants of the method to a verb.
func analysisFlags(cmd *cobra.Command, o *analysis.Options) {
	*o = analysis.DefaultOptions()
	f := cmd.Flags()
	f.Float64Var(&o.MinScore, "min-score", o.MinScore, "causes above this `score` are important")
	f.Float64Var(&o.Alpha, "alpha", o.Alpha, "level of significance")
	f.Float64Var(&o.ClusterThreshold, "cluster-threshold", o.ClusterThreshold, "events this similar form a cluster")
	f.Float64Var(&o.BulkThreshold, "bulk-threshold", o.BulkThreshold, "events this similar are folded first; 1 = off")
	f.IntVar(&o.MaxInstances, "max-instances", o.MaxInstances, "read the counts of at most `N` instances a section; -1 = all")
}

// checkAnalysis refuses constants that make no sense.
func checkAnalysis(o *analysis.Options) error {
	for _, c := range []struct {
		name   string
		value  float64
		lo, hi float64
	}{
		{"--min-score", o.MinScore, 0, 1e9}, {"--alpha", o.Alpha, 0, 1},
		{"--cluster-threshold", o.ClusterThreshold, 0, 1}, {"--bulk-threshold", o.BulkThreshold, 0, 1},
	} {
		if !(c.value > c.lo && c.value <= c.hi) {
			return usage(fmt.Errorf("%s %v: must be above %v and at most %v", c.name, c.value, c.lo, c.hi))
		}
	}
	return nil
}

// analyse makes the report of a profile.
func analyse(src profile.Source, o analysis.Options) (*analysis.Result, *report.Report, error) {
	if percent, lean := analysis.LeanGC(src.Tables()); lean {
		defer debug.SetGCPercent(debug.SetGCPercent(percent))
	}
	res, err := analysis.Run(src, o)
	if err != nil {
		return nil, nil, failed(err)
	}
	return res, report.Build(res, src.Tables()), nil
}

// analyseFile makes the report of the profile at path.
func analyseFile(path string, o analysis.Options) (*report.Report, error) {
	src, closeSource, err := openProfile(path)
	if err != nil {
		return nil, err
	}
	defer closeSource()
	_, r, err := analyse(src, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
