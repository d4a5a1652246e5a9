// Package stat holds the numbers of the analysis: correlation, Gram-Schmidt,
// average-linkage clustering (UPGMA) that scales, forward selection, and the
// distributions behind its tests. It works on floats and integers only, knows no
// profile, and imports the standard library and gonum.
//
// Vectors have one component per thread. A "unit vector" is centred (mean 0) and of
// length 1, so that Pearson's r of two events is the dot product of their unit
// vectors, and the mean r over all pairs of two clusters' members is the dot product of
// the clusters' mean vectors. That makes clustering possible in memory linear in the events.
package stat
