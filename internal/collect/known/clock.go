package known

// Functions that do nothing but tell the time.

import (
	"slices"
	"strings"
)

// clocks are those of C (POSIX, ISO C11) and OpenMP, by their whole symbols, with the argument that says
// where they store it, or None; where that is a null pointer they do not.
func clocks() map[string]int {
	return map[string]int{"clock_gettime": 1, "gettimeofday": 0, "timespec_get": 0, "time": 0, "clock": None, "omp_get_wtime": None, "MPI_Wtime": None}
}

// TellsTime reports whether a function, by its symbol, does nothing but tell the time, and which
// argument says where it stores it; None: it returns it in registers.
func TellsTime(symbol string) (argument int, tells bool) {
	if argument, tells = clocks()[plain(symbol)]; tells {
		return argument, true
	}
	has := func(part string) bool { return strings.Contains(symbol, part) }
	cpp := has("6chrono") && has("clock3nowEv") // of libstdc++ and libc++, each clock's
	rust := has("3std4time") && has("7Instant") && slices.ContainsFunc([]string{"3now", "7elapsed", "14duration_since"}, has)
	return None, cpp || rust || has("3std4time") && has("10SystemTime3now")
}
