package image

// One mapped file.

import (
	"slices"
	"sort"
	"strings"

	"lime/internal/binfile"
	"lime/internal/origin"
	"lime/internal/symbol"
	"lime/internal/unwind"
)

// File is a mapped file. One that cannot be read is still an image: it has a path and a place.
type File struct {
	Path    string
	Lo, Hi  uint64        // run-time addresses
	Bias    uint64        // run-time address - link-time address
	Library bool          // a runtime's or the system's, not the program's own
	Go      bool          // it has code of Go's
	Bin     *binfile.File // nil: none that can be read

	ready   bool
	frames  *unwind.Table
	code    []binfile.Symbol // functions and stubs, by address
	reach   []uint64         // by index of code: how far the functions up to there reach
	owners  []ownership      // by index of code, as far as that was asked
	data    []binfile.Symbol // variables, by address
	dataEnd []uint64
	stubs   [][2]uint64
}

// Open opens a file. What is inside is read when it is asked for.
func Open(path string) *File {
	bin, err := binfile.Open(path)
	if err != nil {
		return &File{Path: path, Library: origin.RuntimeLibrary(path)}
	}
	return New(path, bin)
}

// New is an image whose file is open already.
func New(path string, bin *binfile.File) *File {
	return &File{Path: path, Library: origin.RuntimeLibrary(path), Bin: bin, Go: bin.HasGo()}
}

// Close closes the file; what has been read of it stays.
func (f *File) Close() {
	if f.Bin != nil {
		f.Bin.Close()
	}
}

// BuildID is the file's, "" if it has none.
func (f *File) BuildID() string {
	if f.Bin == nil {
		return ""
	}
	return f.Bin.BuildID
}

// Load reads what is asked for later.
func (f *File) Load() {
	if f.ready {
		return
	}
	f.ready = true
	if f.Bin == nil {
		return
	}
	for _, s := range f.Bin.Symbols() {
		if s.Kind != binfile.SymObject {
			f.code = append(f.code, s)
		} else if s.Size > 0 {
			f.data = append(f.data, s)
		}
	}
	f.addGo()
	f.reach, f.dataEnd = reach(f.code), reach(f.data)
	f.stubs = f.Bin.Stubs()
	f.readFrames()
}

// addGo takes Go's own table of functions where the symbols do not have them.
func (f *File) addGo() {
	if !f.Go || slices.ContainsFunc(f.code, func(s binfile.Symbol) bool { return s.Name == "runtime.main" }) {
		return
	}
	f.code = append(f.code, symbol.GoFunctions(f.Bin)...)
	slices.SortStableFunc(f.code, func(a, b binfile.Symbol) int {
		switch {
		case a.Addr < b.Addr:
			return -1
		case a.Addr > b.Addr:
			return 1
		}
		return 0
	})
}

func (f *File) readFrames() {
	if data, addr, err := f.Bin.EHFrame(); err == nil {
		f.frames, _ = unwind.Parse(data, addr, false) // what could be read is of use
	}
	data, addr, err := f.Bin.Section(".debug_frame")
	if err != nil {
		return
	}
	if t, _ := unwind.Parse(data, addr, true); t != nil && f.frames != nil {
		f.frames.Merge(t)
	} else if t != nil {
		f.frames = t
	}
}

// Frames is the file's unwind information, nil if it has none.
func (f *File) Frames() *unwind.Table {
	f.Load()
	return f.frames
}

// Framed reports whether the unwind information knows an address. It may know C's part of a program
// only.
func (f *File) Framed(link uint64) bool {
	f.Load()
	if f.frames == nil {
		return false
	}
	_, _, ok := f.frames.Covers(link)
	return ok
}

// Code lists the functions, and the stubs that lead to other files' functions, in the order of
// their addresses.
func (f *File) Code() []binfile.Symbol {
	f.Load()
	return f.code
}

// Define adds a function that the file does not name.
func (f *File) Define(s binfile.Symbol) {
	f.Load()
	i := sort.Search(len(f.code), func(i int) bool { return f.code[i].Addr > s.Addr })
	f.code = slices.Insert(f.code, i, s)
	f.reach, f.owners = reach(f.code), nil
}

// Func finds the function, or the stub, that holds an address.
func (f *File) Func(link uint64) (binfile.Symbol, bool) {
	f.Load()
	return at(f.code, find(f.code, f.reach, link))
}

// Variable finds the variable that holds an address.
func (f *File) Variable(link uint64) (binfile.Symbol, bool) {
	f.Load()
	return at(f.data, find(f.data, f.dataEnd, link))
}

// DefinedVariable is where the file has a variable of its own of a name.
func (f *File) DefinedVariable(name string) (link uint64, ok bool) {
	f.Load()
	i := slices.IndexFunc(f.data, func(s binfile.Symbol) bool { return s.Name == name && s.Addr != 0 })
	if i < 0 {
		return 0, false
	}
	return f.data[i].Addr, true
}

// Next is where the function begins that follows one, its own beginning if none does.
func (f *File) Next(s binfile.Symbol) uint64 {
	f.Load()
	i := sort.Search(len(f.code), func(i int) bool { return f.code[i].Addr > s.Addr })
	if i == len(f.code) {
		return s.Addr
	}
	return f.code[i].Addr
}

// Start is where the function begins that holds an address, 0 if that is unknown. Where symbols are
// missing the unwind information knows.
func (f *File) Start(link uint64) uint64 {
	entry := uint64(0)
	if s, ok := f.Func(link); ok {
		entry = s.Addr
	}
	if f.frames != nil {
		if lo, _, ok := f.frames.Covers(link); ok {
			return max(entry, lo)
		}
	}
	return entry
}

// Definition finds a function of the file by its name.
func (f *File) Definition(name string) (link uint64, ok bool) {
	if f.Bin == nil {
		return 0, false
	}
	s, ok := f.Bin.Find(name)
	return s.Addr, ok
}

// Own reports whether code is the program's own, and not a runtime's or a stub.
func (f *File) Own(link uint64) bool {
	if f.Library || f.stub(link) {
		return false
	}
	i := find(f.code, f.reach, link)
	if i < 0 {
		return true
	}
	if f.owners == nil {
		f.owners = make([]ownership, len(f.code))
	}
	o := &f.owners[i]
	if *o == notAsked {
		*o = ofProgram
		if name := f.code[i].Name; origin.RuntimeFunction(name) || name == "main" && f.rust() {
			*o = ofRuntime
		}
	}
	return *o == ofProgram
}

// rust reports whether Rust's runtime starts the program: then main is the compiler's, and has no
// lines.
func (f *File) rust() bool {
	return slices.ContainsFunc(f.code, func(s binfile.Symbol) bool { return strings.Contains(s.Name, "3std2rt10lang_start") })
}

// ownership is whose a function is, by its name. It is asked at each look at a thread that waits,
// and names are many.
type ownership uint8

const (
	notAsked ownership = iota
	ofProgram
	ofRuntime
)

// stub reports whether an address is in the procedure linkage table.
func (f *File) stub(link uint64) bool {
	f.Load()
	return slices.ContainsFunc(f.stubs, func(p [2]uint64) bool { return link >= p[0] && link < p[1] })
}

// SwitchesStack reports whether a function goes on with another stack: Go's runtime has one for
// itself.
func (f *File) SwitchesStack(function string) bool {
	return f.Go && strings.HasPrefix(function, "runtime.systemstack")
}

// BeginsStack reports whether a function is the outermost of a stack: a goroutine's, or that of a
// thread of Go's runtime.
func (f *File) BeginsStack(function string) bool {
	return f.Go && slices.Contains([]string{"runtime.goexit", "runtime.mstart", "runtime.mcall", "runtime.morestack",
		"runtime.rt0_go"}, strings.TrimSuffix(function, ".abi0"))
}

// reach is how far the symbols up to each one reach at the most.
func reach(syms []binfile.Symbol) []uint64 {
	out, end := make([]uint64, len(syms)), uint64(0)
	for i := range syms {
		end = max(end, syms[i].Addr+syms[i].Size)
		out[i] = end
	}
	return out
}

// find returns which is the innermost symbol that holds an address, -1 if none does; of several
// names for it the first, which is the best. One without a size holds all up to the next.
func find(syms []binfile.Symbol, reach []uint64, link uint64) int {
	i := sort.Search(len(syms), func(i int) bool { return syms[i].Addr > link }) - 1
	if i < 0 {
		return -1
	}
	last := first(syms, i)
	for ; i >= 0 && reach[i] > link; i-- {
		if s := &syms[i]; link < s.Addr+s.Size {
			return first(syms, i)
		}
	}
	if syms[last].Size != 0 {
		return -1
	}
	return last
}

// at is the symbol at an index, if there is one.
func at(syms []binfile.Symbol, i int) (binfile.Symbol, bool) {
	if i < 0 {
		return binfile.Symbol{}, false
	}
	return syms[i], true
}

// first is the first of several names for what is at syms[i].
func first(syms []binfile.Symbol, i int) int {
	for i > 0 && syms[i-1].Addr == syms[i].Addr {
		i--
	}
	return i
}
