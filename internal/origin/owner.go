package origin

// Who owns code, and how it is asked by file and by name.

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Owner is whose code something is.
type Owner uint8

// The owners. Those from Threads on are runtimes: their own code creates threads and tasks, and
// queues, steals and waits for them.
const (
	Program   Owner = iota // the program, and libraries of its own
	Other                  // any other library of the system
	System                 // the C library, the linker, the kernel, compilers' helpers: they work for whoever calls them
	Language               // a language's library, compiled into the program; generic code of it may hold the program's own
	GoRuntime              // what Go's runtime does besides scheduling: memory, maps
	Threads
	GNUOpenMP
	LLVMOpenMP
	TBB
	Rayon
	GoScheduler
	MPI
	owners
)

// String is the owner's name, as people know it.
func (o Owner) String() string {
	if o >= owners {
		return "unknown"
	}
	return [owners]string{"the program", "a library", "the system", "the language's library", "the Go runtime", "threads and locks",
		"OpenMP (libgomp)", "OpenMP (libomp)", "TBB", "rayon", "the Go scheduler", "MPI"}[o]
}

// Runtime reports whether an owner makes threads or tasks, and has them wait.
func (o Owner) Runtime() bool { return o >= Threads && o < owners }

// OfFile is whose code a file has, by its path.
func OfFile(file string) Owner {
	base := path.Base(file)
	for _, r := range table() {
		if hasPrefix(base, r.files) {
			return r.owner
		}
	}
	switch {
	case strings.HasPrefix(file, "["): // [vdso] and the like: the kernel's
		return System
	case LibraryImage(file):
		return Other
	}
	return Program
}

// RuntimeLibrary reports whether a file is a library that nothing of the program's own is in: a
// runtime's or the system's.
func RuntimeLibrary(file string) bool {
	o := OfFile(file)
	return o != Program && o != Other
}

// OfName is whose code a function is, by the name that people read.
func OfName(name string) Owner {
	ended := unreturned(name) + "$"
	for _, r := range table() {
		if hasPrefix(ended, r.names) {
			return r.owner
		}
	}
	return Program
}

// RuntimeFunction reports whether a function, by the linker's name for it, belongs to a runtime or
// the system and not to the program. Of languages' libraries it does where threads meet; else what
// is compiled from them may hold the program's own code, inlined.
func RuntimeFunction(symbol string) bool {
	ended := symbol + "$"
	for _, r := range table() {
		if hasPrefix(ended, r.symbols) {
			return true
		}
	}
	return standardMeeting(symbol) || rustMeeting(symbol)
}

func hasPrefix(s string, list []string) bool {
	for _, p := range list {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// unreturned is a name without the type that the function returns, which those of C++'s templates
// begin with.
func unreturned(name string) string {
	depth, from := 0, 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 {
				return name[from:]
			}
		case ' ':
			if depth == 0 {
				from = i + 1
			}
		case 'o': // its own name may be any of these
			if depth == 0 && strings.HasPrefix(name[i:], "operator") {
				return name[from:]
			}
		}
	}
	return name
}

// Chooses reports whether a function, by its name without what stands for the linkage table, tells
// a thread whether it is the one that does what is done once: for OpenMP's single and master.
func Chooses(name string) bool {
	return slices.Contains([]string{"GOMP_single_start", "GOMP_single_copy_start", "__kmpc_single", "__kmpc_master", "__kmpc_masked"},
		strings.TrimSuffix(name, "@plt"))
}

// Deal is what a function has to do with iterations of a loop that a runtime deals out to whoever comes
// first. A thread that comes to such a loop asks until it has done so once in vain.
type Deal uint8

// What it may be.
const (
	DealsNot   Deal = iota
	DealsBegin      // a thread that comes to the loop calls it before it asks
	DealsPiece      // it asks for a piece
	DealsEnd        // it calls it when there are no more
)

// Deals says what a function is, by its name without what stands for the linkage table.
func Deals(name string) Deal {
	name = strings.TrimSuffix(name, "@plt")
	if strings.HasPrefix(name, "__kmpc_dispatch_next_") {
		return DealsPiece
	}
	if strings.HasPrefix(name, "__kmpc_dispatch_init_") {
		return DealsBegin
	}
	rest, ok := strings.CutPrefix(name, "GOMP_loop_")
	switch {
	case !ok || strings.Contains(rest, "static"):
		return DealsNot
	case strings.HasPrefix(rest, "end"):
		return DealsEnd
	case strings.HasSuffix(rest, "start"), strings.HasSuffix(rest, "next"):
		return DealsPiece
	}
	return DealsNot
}

// ChoosingLine reports whether a source line is a directive by which one thread is chosen.
func ChoosingLine(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	for i, w := range words {
		if w == "omp" && i+1 < len(words) {
			return slices.Contains([]string{"single", "master", "masked"}, words[i+1])
		}
	}
	return false
}
