// Package export writes what a profile holds for other tools: its events as a table, its call paths
// and instances in the formats of pprof, flame graphs, speedscope, Perfetto. It may import profile,
// safe and unit only, and must not know collectors, analysis or reports.
package export
