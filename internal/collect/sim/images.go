package sim

import (
	"debug/elf"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"lime/internal/guest"
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
	im := &image{Image: g, library: runtimeLibrary(g.Path)}
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
	im.syms = functionSymbols(append(static, dynamic...))
	im.goCode = f.Section(".gopclntab") != nil
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
	sort.Slice(out, func(i, j int) bool {
		if out[i].addr != out[j].addr {
			return out[i].addr < out[j].addr
		}
		return out[i].name < out[j].name
	})
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

// symbolAt finds the function that holds a link-time address.
func (im *image) symbolAt(link uint64) (symbol, bool) {
	i := sort.Search(len(im.syms), func(i int) bool { return im.syms[i].addr > link }) - 1
	if i < 0 {
		return symbol{}, false
	}
	s := im.syms[i]
	if s.size > 0 && link >= s.addr+s.size {
		return symbol{}, false
	}
	for i > 0 && im.syms[i-1].addr == s.addr { // the first of several names
		i--
	}
	return im.syms[i], true
}

// own reports whether code belongs to the program, and not to the runtime of
// its language or to its thread library.
func (m *images) own(pc uint64) bool {
	im := m.at(pc)
	if im == nil || im.library || im.stub(pc-im.Bias) {
		return false
	}
	name, entry := m.function(pc)
	return entry == 0 || !runtimeFunction(name)
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
	return unwind.Image{Table: im.frames, Bias: im.Bias, FP: im.goCode}, true
}

// libraries are the runtimes of C, C++, Fortran, threads and OpenMP, by the
// start of the file name.
func libraries() []string {
	return []string{"ld-linux", "ld-musl", "libc.", "libc-", "libpthread", "libm.", "libm-", "libmvec", "libdl", "librt",
		"libgcc_s", "libstdc++", "libc++", "libgomp", "libomp", "libiomp", "libgfortran", "libquadmath", "libtbb", "libatomic"}
}

func runtimeLibrary(path string) bool {
	base := filepath.Base(path)
	for _, l := range libraries() {
		if strings.HasPrefix(base, l) {
			return true
		}
	}
	return false
}

// runtimeFunctions are the names by which runtimes go when they are linked into
// the program or compiled from headers, by the start of the symbol.
func runtimeFunctions() []string {
	return []string{"pthread_", "__pthread", "___pthread", "start_thread", "__clone", "clone", "sem_", "__new_sem", "__sem", "__lll_", "__futex",
		"__libc_", "_start", "__nptl", "GOMP_", "gomp_", "omp_", "__kmp", "_dl_", "thrd_", "mtx_", "cnd_", "__timed_wait", "syscall",
		"_ZN9__gnu_cxx", "_ZN3std4sync", "_ZN3std3sys4sync", "_ZN3std3sys3pal", "_ZN3std3sys6thread", "_ZN3std6thread4park",
		"_ZN3std6thread6Thread", "_ZN3std6thread9JoinInner", "_ZN3std6thread7current", "runtime.", "sync.", "internal/",
		"sched_yield", "__sched_yield", "usleep", "nanosleep"}
}

// standardClasses are the classes of the C++ library that threads meet in, as
// they are mangled. Other templates of the library may hold the program's own code, inlined.
func standardClasses() []string {
	return []string{"18condition_variable", "22condition_variable_any",
		"5mutex", "11timed_mutex", "12shared_mutex", "15recursive_mutex", "11unique_lock", "10lock_guard", "11scoped_lock",
		"8__detail", "13__atomic_base", "6atomic", "11atomic_flag", "18counting_semaphore", "16__semaphore_impl", "18__atomic_semaphore",
		"6thread4join", "6thread15_M_start_thread", "11this_thread", "4__12"}
}

// standardFunction reports whether a mangled C++ name is of one of these classes.
func standardFunction(name string) bool {
	for _, p := range []string{"_ZNSt", "_ZNKSt", "_ZNVSt", "_ZNVKSt", "_ZNSt3__1"} {
		rest, ok := strings.CutPrefix(name, p)
		if !ok {
			continue
		}
		for _, c := range standardClasses() {
			if strings.HasPrefix(rest, c) {
				return true
			}
		}
	}
	return strings.HasPrefix(name, "_ZSt") && strings.Contains(name, "atomic_wait")
}

func runtimeFunction(name string) bool {
	if standardFunction(name) {
		return true
	}
	for _, p := range runtimeFunctions() {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	if strings.HasPrefix(name, "_R") && (strings.Contains(name, "9JoinInner") || strings.Contains(name, "10JoinHandle")) {
		return true
	}
	if !strings.HasPrefix(name, "_RNv") { // _RINv: generic, may hold the program's own code, inlined
		return false
	}
	m := rustCrate.FindStringSubmatch(name)
	return m != nil && rustRuntime(m[1], m[2])
}

// rustCrate finds the first crate in a mangled Rust name (RFC 2603).
var rustCrate = regexp.MustCompile(`C(?:s[0-9A-Za-z]+_)?([0-9]+)([a-z_][a-z_0-9A-Z]*)`)

// rustRuntime reports whether a crate is of the language's own.
func rustRuntime(length, rest string) bool {
	switch length {
	case "3":
		return strings.HasPrefix(rest, "std")
	case "4":
		return strings.HasPrefix(rest, "core")
	case "5":
		return strings.HasPrefix(rest, "alloc")
	}
	return false
}

func hexString(b []byte) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 2*len(b))
	for _, x := range b {
		out = append(out, digits[x>>4], digits[x&15])
	}
	return string(out)
}
