// Package ranks reads the profiles of many processes as one run. A program under mpirun or srun
// leaves a profile for each rank in one directory; here a rank finds out that it is one (env.go)
// and where its profile goes (dir.go), and the profiles are put together (merge.go): rows that mean
// the same become one, the k-th collective of a communicator becomes one instance in which all its
// ranks take part, and the ranks' clocks are set by where they waited for one another (align.go).
// It imports profile, unit and safe only; it knows no collector and no analysis.
package ranks
