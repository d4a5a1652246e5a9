// Package export writes the call paths and instances of a profile in the formats of other tools: pprof,
// folded stacks, speedscope, Perfetto. It may import profile and unit only, and must not know collectors,
// analysis or reports.
package export
