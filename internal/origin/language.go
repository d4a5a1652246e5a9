package origin

// The linker's names of what is compiled into the program from the libraries of C++ and Rust.

import (
	"regexp"
	"slices"
	"strings"
)

// LanguageFunction reports whether a linker's name lies in the name spaces of the standard
// libraries of C++ or Rust.
func LanguageFunction(symbol string) bool {
	if hasPrefix(symbol, languageSpaces()) {
		return true
	}
	if strings.HasPrefix(symbol, "_ZL") && strings.Contains(symbol, "__gthread_") { // what libstdc++ has between itself and the thread library
		return true
	}
	if rustTraitImpl.MatchString(symbol) {
		return true
	}
	return strings.HasPrefix(symbol, "_R") && rustStandard(symbol)
}

// HoldsProgram reports whether a function of a language's library, by the linker's name, is the one
// into which the compiler puts what a thread of the program's does: everything that it calls is
// called for the program.
func HoldsProgram(symbol string) bool {
	return strings.Contains(symbol, "28__rust_begin_short_backtrace")
}

// GoStandard reports whether a function is of a package of Go's own, by its name in the binary.
func GoStandard(symbol string) bool {
	first, _, found := strings.Cut(symbol, "/")
	if !found {
		first, _, found = strings.Cut(symbol, ".")
	}
	return found && slices.Contains(goPackages(), first)
}

// goPackages are the packages of Go 1.26, and what lies in front of the others ('go list std').
func goPackages() []string {
	return []string{"archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug",
		"embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter",
		"log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort",
		"strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak"}
}

// languageSpaces are the starts of such names: C++ (Itanium ABI, 5.1.2 and 5.1.10) and Rust's older
// mangling. TBB and the parallel algorithms of C++ that stand on it are headers, too.
func languageSpaces() []string {
	return []string{"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZN3std", "_ZN4core", "_ZN5alloc",
		"_ZN3tbb", "_ZNK3tbb", "_ZN6__pstl", "_ZNK6__pstl"}
}

// rustTraitImpl is a method that std, core or alloc implements for one of its traits, in Rust's
// older mangling: <T as std::Trait>::method. Where the trait is the library's and the type is the
// program's, the library's name comes second.
var rustTraitImpl = regexp.MustCompile(`^_ZN[0-9]+_\$LT\$(?:alloc|core|std)\.\.`)

// rustCrate finds the first crate in a mangled Rust name (RFC 2603).
var rustCrate = regexp.MustCompile(`C(?:s[0-9A-Za-z]+_)?([0-9]+)([a-z_][a-z_0-9A-Z]*)`)

// rustStandard reports whether the first crate in a name is of the language's own.
func rustStandard(symbol string) bool {
	m := rustCrate.FindStringSubmatch(symbol)
	if m == nil {
		return false
	}
	name := map[string]string{"3": "std", "4": "core", "5": "alloc"}[m[1]]
	return name != "" && strings.HasPrefix(m[2], name)
}

// meetingClasses are the classes of the C++ library that threads meet in, as
// they are mangled. Other templates of the library may hold the program's own code, inlined.
func meetingClasses() []string {
	return []string{"18condition_variable", "22condition_variable_any",
		"5mutex", "11timed_mutex", "12shared_mutex", "15recursive_mutex", "11unique_lock", "10lock_guard", "11scoped_lock",
		"8__detail", "13__atomic_base", "6atomic", "11atomic_flag", "18counting_semaphore", "16__semaphore_impl", "18__atomic_semaphore",
		"6thread4join", "6thread15_M_start_thread", "11this_thread", "4__12"}
}

// standardMeeting reports whether a mangled C++ name is of one of these classes.
func standardMeeting(symbol string) bool {
	for _, p := range []string{"_ZNSt3__1", "_ZNSt", "_ZNKSt", "_ZNVSt", "_ZNVKSt"} {
		if rest, ok := strings.CutPrefix(symbol, p); ok && hasPrefix(rest, meetingClasses()) {
			return true
		}
	}
	return strings.HasPrefix(symbol, "_ZSt") && strings.Contains(symbol, "atomic_wait")
}

// rustMeeting reports whether a name of Rust's newer mangling is of its library, and holds no code
// of the program's own.
func rustMeeting(symbol string) bool {
	if !strings.HasPrefix(symbol, "_R") {
		return false
	}
	if strings.Contains(symbol, "9JoinInner") || strings.Contains(symbol, "10JoinHandle") {
		return true
	}
	return strings.HasPrefix(symbol, "_RNv") && rustStandard(symbol) // _RINv: generic, may hold the program's own code, inlined
}
