// Package threads is what threads do to synchronise, whoever saw it. A collector sees calls of
// functions with a meaning, on a thread, about an object, at a place and a clock, and tells of them
// here; what comes out are operations for package section, and rows of the profile. It knows no
// processor, no ELF and no perf: a path is the collector's own, and means nothing here.
//
// Role by role it takes over what both collectors knew by themselves:
//
//   - objects.go: names of what has no address.
//   - locks.go: waits for locks, the times that they were held, and who answers for the waits.
//   - meetings.go: calls of MPI in which a process meets others.
package threads
