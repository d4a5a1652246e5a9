// Package origin says whose code something is: the program's own, a language's library, a runtime
// that makes threads and has them wait (threads, OpenMP, TBB, Go's scheduler, MPI), or the
// system's. It is asked about files with code, about functions by the name that the linker has for
// them or by the one that people read, and about source files. Collectors, resolve, ledger,
// analysis, report and view all ask here, so that a level of a call path is the same to all of
// them.
//
// It holds names only: it opens no file and imports nothing of lime's.
package origin
