package native

import (
	"os"
	"slices"
	"sort"
	"strings"

	"lime/internal/binfile"
	"lime/internal/collect/native/hook"
	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/symbol"
	"lime/internal/unwind"
)

// images knows the files that are mapped into the program.
type images struct {
	pid   int
	list  []*image
	last  *image
	names map[string]*image
	read  int // how often the list of mappings was read again
	owned map[uint64]bool
}

// image is one mapped file.
type image struct {
	path    string
	lo, hi  uint64
	ready   bool // symbols and frame information are read
	bias    uint64
	bin     *binfile.File // nil: no file, or none that can be read
	frames  *unwind.Table
	syms    []binfile.Symbol // code
	goCode  bool
	library bool // a runtime's, not the program's own
	id      profile.ImageID
}

func newImages(pid int) *images {
	return &images{pid: pid, names: map[string]*image{}, owned: map[uint64]bool{}}
}

// load reads the program's mappings.
func (m *images) load() error {
	maps, err := hook.Mappings(m.pid)
	if err != nil {
		return err
	}
	for _, x := range maps {
		if x.Path != "" && x.Exec {
			m.mapped(x.Path, x.Lo, x.Hi, x.Offset)
		}
	}
	m.vdso()
	return nil
}

// goroutines reports whether code of Go's was seen to run.
func (m *images) goroutines() bool {
	return slices.ContainsFunc(m.list, func(im *image) bool { return im.goCode })
}

// reset forgets all images; those of the new program are read when an address is not known.
func (m *images) reset() {
	m.close()
	m.list, m.last, m.names, m.read = nil, nil, map[string]*image{}, 0
	clear(m.owned)
}

// refresh reads the mappings again for an address that is unknown; not for ever.
func (m *images) refresh() bool {
	const most = 200
	if m.read >= most {
		return false
	}
	m.read++
	n := len(m.list)
	return m.load() == nil && len(m.list) > n
}

// mapped takes in a piece of a file; only pieces with code matter. It reports whether it is new.
func (m *images) mapped(path string, lo, hi, offset uint64) bool {
	path = strings.TrimSuffix(path, " (deleted)")
	if !isFile(path) {
		return false
	}
	if im := m.names[path]; im != nil {
		if lo >= im.lo && hi <= im.hi {
			return false
		}
		if lo >= im.lo-1<<32 && hi <= im.hi+1<<32 && offset > 0 {
			im.lo, im.hi = min(im.lo, lo), max(im.hi, hi)
			clear(m.owned)
			return true
		}
	}
	im := &image{path: path, lo: lo, hi: hi, library: origin.RuntimeLibrary(path), id: profile.None}
	im.open(lo, offset)
	m.list = append(m.list, im)
	m.names[path] = im
	m.last = nil
	clear(m.owned)
	return true
}

// isFile reports whether a mapping's name, as the kernel gives it, is that of a file: not of anonymous memory or the like.
func isFile(path string) bool {
	if strings.HasPrefix(path, "/dev/shm/") { // a file system like others: programs may lie there
		return true
	}
	return strings.HasPrefix(path, "/") && !slices.ContainsFunc([]string{"//anon", "/memfd:", "/dev/", "/SYSV", "/[aio]"},
		func(p string) bool { return strings.HasPrefix(path, p) })
}

func (im *image) open(lo, offset uint64) {
	bin, err := binfile.Open(im.path)
	if err != nil {
		return
	}
	im.bin = bin
	im.goCode = bin.HasSection(".gopclntab") || bin.HasSection(".data.rel.ro.gopclntab")
	if addr, ok := bin.CodeAddr(offset); ok {
		im.bias = lo - addr
	}
}

// load reads what is needed of the image's inside. That waits until an address in it is asked for: the program does not wait for it.
func (im *image) load() {
	if im.ready {
		return
	}
	im.ready = true
	bin := im.bin
	if bin == nil {
		return
	}
	for _, s := range bin.Symbols() {
		if s.Kind != binfile.SymObject {
			im.syms = append(im.syms, s)
		}
	}
	if im.goCode && !slices.ContainsFunc(im.syms, func(s binfile.Symbol) bool { return s.Name == "runtime.main" }) {
		im.syms = symbol.GoFunctions(bin)
	}
	if data, addr, err := bin.EHFrame(); err == nil {
		im.frames, _ = unwind.Parse(data, addr, false) // what could be read is of use
	}
	if data, addr, err := bin.Section(".debug_frame"); err == nil {
		if t, _ := unwind.Parse(data, addr, true); t != nil && im.frames != nil {
			im.frames.Merge(t)
		} else if t != nil {
			im.frames = t
		}
	}
}

// vdso reads the kernel's own code out of lime's memory: it is the same in every process.
func (m *images) vdso() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil || m.names["[vdso]"] != nil {
		return
	}
	mine := vdsoRange(string(maps))
	theirs := mine
	if b, err := os.ReadFile(procPath(m.pid, "maps")); err == nil {
		theirs = vdsoRange(string(b))
	}
	if mine[1] == 0 || theirs[1] == 0 {
		return
	}
	im := &image{path: "[vdso]", lo: theirs[0], hi: theirs[1], bias: theirs[0], library: true, id: profile.None}
	if f, err := os.Open("/proc/self/mem"); err == nil {
		b := make([]byte, mine[1]-mine[0])
		if n, _ := f.ReadAt(b, int64(mine[0])); n == len(b) {
			if bin, err := binfile.NewFile(strings.NewReader(string(b)), "[vdso]"); err == nil {
				im.bin = bin
			}
		}
		f.Close()
	}
	m.list = append(m.list, im)
	m.names[im.path] = im
}

// at finds the image that holds a run-time address.
func (m *images) at(pc uint64) *image {
	if l := m.last; l != nil && pc >= l.lo && pc < l.hi {
		return l
	}
	for i := len(m.list) - 1; i >= 0; i-- {
		if im := m.list[i]; pc >= im.lo && pc < im.hi {
			im.load()
			m.last = im
			return im
		}
	}
	return nil
}

// symbol finds the function that holds a run-time address, in link-time addresses.
func (m *images) symbol(pc uint64) (im *image, s binfile.Symbol, ok bool) {
	im = m.at(pc)
	if im == nil {
		return nil, s, false
	}
	s, ok = im.symbol(pc - im.bias)
	return im, s, ok
}

func (im *image) symbol(link uint64) (binfile.Symbol, bool) {
	i := sort.Search(len(im.syms), func(i int) bool { return im.syms[i].Addr > link })
	for i--; i >= 0 && i < len(im.syms); i-- {
		s := im.syms[i]
		for i > 0 && im.syms[i-1].Addr == s.Addr { // the first of several names
			i--
			s = im.syms[i]
		}
		if s.Size == 0 || link < s.Addr+s.Size {
			return s, true
		}
		if link > s.Addr+1<<20 {
			break
		}
	}
	return binfile.Symbol{}, false
}

// own reports whether code belongs to the program, and not to a runtime.
func (m *images) own(pc uint64) bool {
	o, known := m.owned[pc]
	if !known {
		im, s, ok := m.symbol(pc)
		o = im != nil && !im.library && (!ok || !origin.RuntimeFunction(s.Name))
		if len(m.owned) >= maxPlaces {
			clear(m.owned)
		}
		m.owned[pc] = o
	}
	return o
}

// unwindImage is what the stack walker asks for.
func (m *images) unwindImage(pc uint64) (unwind.Image, bool) {
	im := m.at(pc)
	if im == nil && m.refresh() {
		im = m.at(pc)
	}
	if im == nil {
		return unwind.Image{}, false
	}
	s, _ := im.symbol(pc - im.bias)
	return unwind.Image{Table: im.frames, Bias: im.bias, Switch: im.switches(s.Name)}, true
}

// switches reports whether a function goes on with another stack: Go's runtime has one for itself.
func (im *image) switches(name string) bool {
	return im.goCode && strings.HasPrefix(name, "runtime.systemstack")
}

// begins reports whether a function is the outermost of a stack: a goroutine's, or that of a thread of Go's runtime.
func (im *image) begins(name string) bool {
	return im.goCode && slices.Contains([]string{"runtime.goexit", "runtime.mstart", "runtime.mcall", "runtime.morestack", "runtime.rt0_go"}, strings.TrimSuffix(name, ".abi0"))
}

func (m *images) close() {
	for _, im := range m.list {
		if im.bin != nil {
			im.bin.Close()
		}
	}
}
