package known

// The table's form, and how it is asked.

import (
	"slices"
	"strings"
)

// Func is a row: a function with a meaning.
type Func struct {
	Name           string
	Also           Also
	Role           Role
	Object, Second int    // numbers of the arguments that matter (0 = first), or None
	Constant       uint64 // Object is None: stands for the object
	Probe          How    // by who runs the code itself
	Hook           How    // by who watches a native run
	Why            string // of each that is not watched
	Pass           Pass
	Source         string // where the meaning is laid down
}

// None is the number of no argument. Rows of Go have no other: Go has a calling convention of its
// own, and the roles know it.
const None = -1

// Also is by which other names a function goes.
type Also uint8

// The other names.
const (
	OneName  Also = iota
	Internal      // __NAME, as the C library's own calls in static programs have it
	Profiled      // PNAME, by which tools in between call MPI's functions
	ABI0          // NAME.abi0, of Go's functions in assembly
	Mangled       // of Rust's library: NAME is what all manglings have of it: words, between others' parts
)

// Pass is what a hook must know to call the function in the program's place.
type Pass struct {
	Try      string // IfSlow: the function that takes the same lock if it is free
	Taken    int32  // what that one returns if the lock is taken
	Inner    bool   // hook the slow path inside of the function instead, where it can be found
	Same     string // the function whose slow path is this one's, too
	Only     uint32 // calls with another first argument mean nothing
	Variadic bool   // Fork: the second argument counts those behind the body, which are passed on to it
	Stack    int    // bytes of arguments on the stack
}

// Names are all names of the function.
func (f *Func) Names() []string {
	switch f.Also {
	case Internal:
		return []string{f.Name, "__" + f.Name}
	case ABI0:
		return []string{f.Name, f.Name + ".abi0"}
	case Profiled:
		return []string{f.Name, "P" + f.Name}
	}
	return []string{f.Name}
}

// Mangles reports whether a symbol is a mangling of the function: it has the words of its name, one
// behind the other.
func (f *Func) Mangles(symbol string) bool {
	for _, word := range strings.Fields(f.Name) {
		_, rest, ok := strings.Cut(symbol, word)
		if !ok {
			return false
		}
		symbol = rest
	}
	return true
}

// Functions is the whole table.
func Functions() []Func {
	return slices.Concat(threads(), conditions(), locks(), rust(), gomp(), kmp(), pools(), golang(), mpi())
}

// Probed are the rows that a collector watches which runs the program's code itself.
func Probed() []Func { return watched(func(f *Func) How { return f.Probe }) }

// Hooked are the rows that a collector watches of a native run.
func Hooked() []Func { return watched(func(f *Func) How { return f.Hook }) }

func watched(how func(*Func) How) []Func {
	return slices.DeleteFunc(Functions(), func(f Func) bool { return !how(&f).Watched() })
}
