// Names of what has no address.

package threads

// What threads wait for is known by its address, which is below all of these; what has none, by one
// of them and a number.
const (
	Team      uint64 = 1 << (63 - iota) // the barriers of a parallel region
	Candidate                           // code of the program's own that may be a barrier
	Meeting                             // of a process with others
	RegionEnd                           // the end of a parallel region
	Children                            // the ends of a thread's children
)
