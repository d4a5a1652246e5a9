// Package analysis computes, from a profile, why its parallel sections are
// unbalanced: the LIME method (causality, clusters, leaders, regression), the
// account of the ledger where counts are exact, whole-program figures, and what
// the data cannot tell. It is a pure function of a profile: Run(source, options)
// gives a Result, equal for equal profiles whatever the number of cores.
//
// It must not import a collector, binfile, symbol, resolve or report: everything
// it says about a program comes from the profile.
package analysis
