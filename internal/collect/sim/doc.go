// Package sim is the collector behind "lime simulate": it runs a program under
// the engine on N simulated cores and writes what its threads did into a
// profile. It wires engine, guest, section and (later) machine together, and
// knows no analysis, no report and no resolver.
//
// # Two processes
//
// Run (the parent) starts lime again as a child (ChildMain), which holds the program: a
// program that destroys its own process costs that run only. The child
// writes the profile instance by instance; the parent forwards nothing (both are in one
// process group, and the terminal tells both), survives, and says how it ended.
//
// # Time
//
// Every core has a clock. The core with the lowest one runs next, for a slice of a
// few thousand instructions; ties break by core number. Operations on
// synchronisation objects are done in the order of the clocks: a thread that comes to one while
// another core is behind waits for it, so that who takes a lock first does not depend on where
// slices end. A Meter says how long a slice took: by instructions, or by a machine model.
//
// # Sections
//
// Probes on the functions of a table (functions.go) and the system calls say
// what the threads did; package section makes instances of it. At each such
// operation the counters of the thread are drained into a segment.
package sim
