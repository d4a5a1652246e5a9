package sim

import (
	"debug/elf"
	"debug/gosym"
	"sort"
	"strings"

	"lime/internal/guest"
	"lime/internal/origin"
	"lime/internal/unwind"
)

// images knows the files that are mapped into the program: their symbols, their frame
// information, and which of their code is the program's own.
type images struct {
	list []*image
	last *image
}

// image is one mapped file.
type image struct {
	guest.Image
	syms    []symbol // functions, by address
	data    []symbol // variables, by address
	frames  *unwind.Table
	goCode  bool
	plt     [][2]uint64 // link-time addresses of the stubs that jump into libraries
	library bool        // of the system's runtime: not the program's own code
	buildID string
}

// symbol is a function; addresses are link-time ones.
type symbol struct {
	addr, size uint64
	name       string
}

// add reads a newly mapped file. A file that cannot be read is still an image.
func (m *images) add(g guest.Image) *image {
	im := &image{Image: g, library: origin.RuntimeLibrary(g.Path)}
	if f, err := elf.Open(g.Path); err == nil {
		im.read(f)
		f.Close()
	}
	m.list = append(m.list, im)
	return im
}

func (im *image) read(f *elf.File) {
	static, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	all := append(static, dynamic...)
	im.syms, im.data = functionSymbols(all), dataSymbols(all)
	im.goCode = f.Section(".gopclntab") != nil
	if im.goCode && len(im.syms) == 0 {
		im.syms = goSymbols(f)
	}
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".plt") {
			im.plt = append(im.plt, [2]uint64{s.Addr, s.Addr + s.Size})
		}
	}
	for _, s := range []struct {
		name  string
		debug bool
	}{{".eh_frame", false}, {".debug_frame", true}} {
		im.readFrames(f, s.name, s.debug)
	}
	if s := f.Section(".note.gnu.build-id"); s != nil {
		if d, err := s.Data(); err == nil && len(d) > 16 {
			im.buildID = hexString(d[16:])
		}
	}
}

func (im *image) readFrames(f *elf.File, name string, debug bool) {
	s := f.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return
	}
	data, err := s.Data()
	if err != nil {
		return
	}
	t, _ := unwind.Parse(data, s.Addr, debug) // what it could read is of use
	switch {
	case t == nil:
	case im.frames == nil:
		im.frames = t
	default:
		im.frames.Merge(t)
	}
}

func functionSymbols(all []elf.Symbol) []symbol {
	var out []symbol
	for _, s := range all {
		t := elf.ST_TYPE(s.Info)
		if (t == elf.STT_FUNC || t == elf.STT_GNU_IFUNC) && s.Section != elf.SHN_UNDEF && s.Value != 0 {
			name, _, _ := strings.Cut(s.Name, "@")
			out = append(out, symbol{s.Value, s.Size, name})
		}
	}
	sortSymbols(out)
	return out
}

func sortSymbols(out []symbol) {
	sort.Slice(out, func(i, j int) bool {
		if out[i].addr != out[j].addr {
			return out[i].addr < out[j].addr
		}
		return out[i].name < out[j].name
	})
}

// goSymbols lists the functions of a stripped Go program, which its own runtime needs to know.
func goSymbols(f *elf.File) (out []symbol) {
	defer func() { _ = recover() }() // a damaged table is no table
	text, table := f.Section(".text"), f.Section(".gopclntab")
	data, err := table.Data()
	if text == nil || err != nil {
		return nil
	}
	t, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil
	}
	for i := range t.Funcs {
		if x := &t.Funcs[i]; x.End > x.Entry {
			out = append(out, symbol{x.Entry, x.End - x.Entry, x.Name})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].addr < out[j].addr })
	return out
}

// at finds the image that holds a run-time address.
func (m *images) at(pc uint64) *image {
	if l := m.last; l != nil && pc >= l.Lo && pc < l.Hi {
		return l
	}
	for i := len(m.list) - 1; i >= 0; i-- {
		if im := m.list[i]; pc >= im.Lo && pc < im.Hi {
			m.last = im
			return im
		}
	}
	return nil
}

// function finds the function that holds a run-time address; its entry is a
// run-time address, 0 if unknown.
func (m *images) function(pc uint64) (name string, entry uint64) {
	im := m.at(pc)
	if im == nil {
		return "", 0
	}
	if s, ok := im.symbolAt(pc - im.Bias); ok {
		return s.name, s.addr + im.Bias
	}
	return "", 0
}

// start is where the function begins that holds pc, 0 if that is unknown. Where symbols are missing the call frame information
// knows.
func (m *images) start(pc uint64) uint64 {
	_, entry := m.function(pc)
	if im := m.at(pc); im != nil && im.frames != nil {
		if lo, _, ok := im.frames.Covers(pc - im.Bias); ok {
			return max(entry, lo+im.Bias)
		}
	}
	return entry
}

// symbolAt finds the function that holds a link-time address.
func (im *image) symbolAt(link uint64) (symbol, bool) { return find(im.syms, link) }

// find returns the symbol that holds a link-time address.
func find(syms []symbol, link uint64) (symbol, bool) {
	i := sort.Search(len(syms), func(i int) bool { return syms[i].addr > link }) - 1
	if i < 0 {
		return symbol{}, false
	}
	s := syms[i]
	if s.size > 0 && link >= s.addr+s.size {
		return symbol{}, false
	}
	for i > 0 && syms[i-1].addr == s.addr { // the first of several names
		i--
	}
	return syms[i], true
}

// own reports whether code belongs to the program, and not to the runtime of
// its language or to its thread library.
func (m *images) own(pc uint64) bool {
	im := m.at(pc)
	if im == nil || im.library || im.stub(pc-im.Bias) {
		return false
	}
	name, entry := m.function(pc)
	return entry == 0 || !origin.RuntimeFunction(name)
}

// stub reports whether a link-time address is in the table of stubs.
func (im *image) stub(link uint64) bool {
	for _, p := range im.plt {
		if link >= p[0] && link < p[1] {
			return true
		}
	}
	return false
}

// unwindImage is what the stack walker asks for.
func (m *images) unwindImage(pc uint64) (unwind.Image, bool) {
	im := m.at(pc)
	if im == nil {
		return unwind.Image{}, false
	}
	return unwind.Image{Table: im.frames, Bias: im.Bias}, true
}

func hexString(b []byte) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 2*len(b))
	for _, x := range b {
		out = append(out, digits[x>>4], digits[x&15])
	}
	return string(out)
}
