package symbol

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"

	"lime/internal/binfile"
)

// Options say where to look for debug information.
type Options struct {
	DebugDirs []string // roots of separate debug files; nil: binfile.DefaultDebugDirs
	NamesOnly bool     // read the symbols of a separate debug file, and not its lines: that takes a tenth of the time
}

// Frame is one source position.
type Frame struct {
	Function     string // as people write it
	Offset       uint32 // where no line is known: bytes from the entry of Function, or from the start of the file of that name
	File         string // "" if unknown
	Line, Column int32
	Entry        uint64 // of an inlined call: the address at which it begins, 0 if that is not said
}

// Func is a function of the image.
type Func struct {
	Name  string // as people write it; "" if unknown
	Link  string // as in the symbol table
	Entry uint64 // link-time address
	File  string // declaration, "" if unknown
	Line  int32
}

// Location is what stands at an address.
type Location struct {
	Func Func
	// Frames are the source positions, innermost inlined call first; without debug information one
	// frame with function+offset only, or file+offset.
	Frames []Frame
}

// Table answers for one image. It may be used from several goroutines.
type Table struct {
	bin   *binfile.File
	debug *binfile.File // separate debug file, or nil
	opts  Options

	mu      sync.Mutex
	dwarf   *dwarf
	files   []*binfile.File // opened on the way
	code    []*unitCode     // by unit, nil if not yet read
	units   spans           // id: unit
	lines   map[uint64]*lineTable
	symbols spans // id: index into syms
	syms    []binfile.Symbol
	names   map[int32]string // of syms, as people write them, as far as they were asked for
	frames  spans            // functions known by unwind table only; id: index into starts
	starts  []uint64
	golang  *goTable
	execs   []binfile.Segment
	missing []string // .dwo files
	passed  bool     // there are lines, which nobody asked for
}

// Open prepares a table for an ELF file. The table closes what it opens, but
// not bin. Missing debug information is no error: Lookup then knows less.
func Open(bin *binfile.File, opts Options) *Table {
	if opts.DebugDirs == nil {
		opts.DebugDirs = binfile.DefaultDebugDirs()
	}
	t := &Table{bin: bin, opts: opts, lines: map[uint64]*lineTable{}}
	for _, s := range bin.Segments {
		if s.Flags&1 != 0 {
			t.execs = append(t.execs, s)
		}
	}
	from := t.findDebug()
	t.loadSymbols()
	t.passed = opts.NamesOnly && t.debug != nil
	if from != nil && !t.passed {
		t.loadDWARF(from)
	}
	return t
}

// Close closes the debug files that were opened.
func (t *Table) Close() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// HasLines reports whether the image has debug information, read or not.
func (t *Table) HasLines() bool { return t.dwarf != nil || t.golang != nil || t.passed }

// findDebug returns the file with debug information: the image itself, or a separate one.
func (t *Table) findDebug() *binfile.File {
	if t.bin.HasSection(".debug_info") || t.bin.HasSection(".zdebug_info") {
		return t.bin
	}
	d, err := t.bin.OpenDebug(t.opts.DebugDirs)
	if err != nil {
		return nil
	}
	t.files = append(t.files, d)
	t.debug = d
	return d
}

// valid reports whether an address is code of the image.
func (t *Table) valid(addr uint64) bool {
	for _, s := range t.execs {
		if addr >= s.Addr && addr-s.Addr < s.MemSize {
			return true
		}
	}
	return false
}

func (t *Table) loadSymbols() {
	t.syms, t.names = t.bin.Symbols(), map[int32]string{}
	if t.debug != nil {
		t.syms = mergeSymbols(t.syms, t.debug.Symbols())
	}
	t.symbols = symbolSpans(t.syms, t.valid)
	t.golang = openGo(t.bin)
	t.frames, t.starts = unwindSpans(t.bin)
}

// Lookup tells what stands at a link-time address.
func (t *Table) Lookup(pc uint64) Location {
	t.mu.Lock()
	defer t.mu.Unlock()
	sym, symOK := t.symbolAt(pc)
	if loc, ok := t.lookupDWARF(pc); ok {
		if symOK && sym.Link != "" && (loc.Func.Link == "" || sym.Entry == loc.Func.Entry) {
			loc.Func.Link = sym.Link
		}
		return loc
	}
	if loc, ok := t.golang.lookup(pc); ok {
		return loc
	}
	if !symOK {
		return Location{Func: t.unwindFunc(pc), Frames: []Frame{behind(filepath.Base(t.bin.Path), pc)}}
	}
	return Location{Func: sym, Frames: []Frame{behind(sym.Name, pc-sym.Entry)}}
}

// behind is the place so many bytes behind what has a name.
func behind(name string, offset uint64) Frame {
	if offset > math.MaxUint32 {
		return Frame{Function: fmt.Sprintf("%s+%#x", name, offset)}
	}
	return Frame{Function: name, Offset: uint32(offset)}
}

// offset names an address by its place in the file.
func (t *Table) offset(pc uint64) string {
	return fmt.Sprintf("%s+%#x", filepath.Base(t.bin.Path), pc)
}

// unwindFunc names a function that has no name by its offset in the file.
func (t *Table) unwindFunc(pc uint64) Func {
	entry := pc
	if i := t.frames.find(pc); i >= 0 {
		entry = t.starts[i]
	}
	return Func{Name: t.offset(entry), Entry: entry}
}

// lookupDWARF answers from debug information.
func (t *Table) lookupDWARF(pc uint64) (Location, bool) {
	if t.dwarf == nil {
		return Location{}, false
	}
	id := t.units.find(pc)
	if id < 0 {
		return Location{}, false
	}
	code := t.unit(id)
	row, hasLine := code.lines.find(pc)
	s := code.innermost(pc)
	if s < 0 && !hasLine {
		return Location{}, false
	}
	at := Frame{Line: row.line, Column: row.column}
	if hasLine {
		at.File = code.lines.name(uint64(row.file))
	}
	if s < 0 { // lines only: assembler, or a unit without functions
		f, ok := t.symbolAt(pc)
		if !ok {
			f = t.unwindFunc(pc)
		}
		at.Function = f.Name
		return Location{Func: f, Frames: []Frame{at}}, true
	}
	return code.chain(s, at, t), true
}

// innermost returns the scope of an address. Spans that are equal belong to the inner scope, which
// comes later.
func (code *unitCode) innermost(pc uint64) int32 { return code.spans.find(pc) }

// chain builds the frames from the innermost scope outwards.
func (code *unitCode) chain(s int32, at Frame, t *Table) Location {
	var loc Location
	const limit = 200
	for range limit {
		sc := &code.scopes[s]
		n := code.name(sc.die)
		if n.link == "" && sc.parent < 0 {
			n.link = t.linkName(sc.lo)
		}
		at.Function, at.Entry = display(n.name, n.link), 0
		if sc.parent >= 0 {
			at.Entry = sc.entry
		}
		loc.Frames = append(loc.Frames, at)
		if sc.parent < 0 {
			loc.Func = code.function(sc, n, at.Function)
			break
		}
		at = Frame{File: code.lines.name(sc.callFile), Line: sc.callLine, Column: sc.callCol}
		s = sc.parent
	}
	return loc
}

// linkName returns the mangled symbol of a function: debug information leaves out those of static
// functions, although they tell the namespace.
func (t *Table) linkName(entry uint64) string {
	f, ok := t.symbolAt(entry)
	if !ok || f.Entry != entry {
		return ""
	}
	link, _, _ := strings.Cut(f.Link, ".")
	return link
}

func (code *unitCode) function(sc *scope, n names, shown string) Func {
	f := Func{Name: shown, Link: n.link, Entry: sc.lo, Line: n.line}
	if n.link == "" {
		f.Link = n.name
	}
	if n.fileOf == code.u {
		f.File = code.lines.name(n.file)
	}
	return f
}
