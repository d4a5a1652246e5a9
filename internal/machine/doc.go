// Package machine is the simulated hardware: cores, branch predictors, caches,
// coherence, translation buffers, shared buses and memory channels. It is fed
// with traces of executed blocks and data addresses, advances the clock of the
// core that executed them, and counts hardware events at the instruction that
// suffered them. It knows no guest and no translator, and imports unit and a
// TOML reader only.
//
// The parts, each small and tested on its own:
//
//	Description  what the machine looks like (TOML, presets)
//	array        tags of a set-associative cache, with its replacement policy
//	hints        which way of a set a line is likely in
//	directory    who holds the lines of the shared level, and in which order they go from core to core
//	hierarchy    the caches of all cores, kept coherent by the directory
//	tlb          translation buffers
//	predictor    conditional branches
//	queue        a resource that serves one request at a time: bus, memory channel
//	pipeline     what a block costs when nothing misses (dependencies, width, window)
//	lineage      which loads in flight a register's value hangs on
//	core         one core's clock, and how misses overlap
//	storeBuffer  the stores of a core that have not reached the cache
//	Machine      all of them; Run consumes a trace
package machine
