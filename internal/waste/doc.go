// Package waste finds memory work that was for nothing: values that are stored and never read,
// stored where they stand already, loaded again unchanged, and lines that go from core to core
// though no byte of them is shared. It knows no processor, no guest and no profile, and imports the
// standard library only.
//
// The types that go from who sees accesses to who reports them:
//
//	Context     a place in the program as reached by one call path of one thread: a number that the collector gives
//	Load, Store the accesses, one call each, in the order of the run
//	Pair        two accesses to the same bytes, the second of which makes one of the two waste; summed up by both contexts
//	Total       what a thread stored and loaded, and how many bytes of it were waste
//
// Detector is told of every access and keeps a shadow of memory: its figures are counts.
//
// # Definitions
//
// A pair is of one thread. It ends unseen where somebody else comes between: another thread, or the
// system on behalf of the program.
//
//   - Dead store: a thread stores to a byte twice, and nobody has loaded it in between, no other
//     thread has stored to it, and the system has
//     neither read nor written it. Counted by bytes: a store may be dead in part.
//   - Silent store: a thread stores what is there, at bytes to which it was also the last to store.
//     An access is silent as a whole or
//     not at all; one that is silent at some bytes for which this is not known counts with those
//     for which it is.
//   - Silent load: a thread loads bytes that it has loaded before, and nobody has stored to them
//     since but by stores that changed nothing. An
//     access is silent as a whole or not at all.
//   - False sharing: a thread touches a line that another thread has stored to since, and no byte
//     of the line that
//     both have touched.
//
// Where threads run beside each other (Order), nothing is claimed of lines on which two threads were
// within the same chunks of their runs, one of them storing: in which order is not known.
//
// A store changes nothing if all its bytes are what they were or, where it is known to be of
// floating-point numbers, if each of them differs from the old one by no more than a tolerance
// (DefaultTolerance) of the larger. Return addresses are no data: a call ends what was known of the
// bytes that it pushes over, and neither call nor return is counted.
package waste
