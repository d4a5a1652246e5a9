package native

import (
	"os"
	"slices"
	"strings"

	"lime/internal/binfile"
	"lime/internal/collect/image"
	"lime/internal/collect/native/hook"
	"lime/internal/unwind"
)

// The files that are mapped into the program, as the kernel tells of them.

// images knows the files that are mapped into the program.
type images struct {
	image.Set
	pid   int
	names map[string]*image.File
	read  int // how often the list of mappings was read again
}

func newImages(pid int) *images {
	return &images{pid: pid, names: map[string]*image.File{}}
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
	return slices.ContainsFunc(m.List, func(im *image.File) bool { return im.Go })
}

// reset forgets all images; those of the new program are read when an address is not known.
func (m *images) reset() {
	m.Forget()
	m.names, m.read = map[string]*image.File{}, 0
}

// refresh reads the mappings again for an address that is unknown; not for ever.
func (m *images) refresh() bool {
	const most = 200
	if m.read >= most {
		return false
	}
	m.read++
	n := len(m.List)
	return m.load() == nil && len(m.List) > n
}

// mapped takes in a piece of a file; only pieces with code matter. It reports whether it is new.
func (m *images) mapped(path string, lo, hi, offset uint64) bool {
	path = strings.TrimSuffix(path, " (deleted)")
	if !isFile(path) {
		return false
	}
	if im := m.names[path]; im != nil {
		if lo >= im.Lo && hi <= im.Hi {
			return false
		}
		if lo >= im.Lo-1<<32 && hi <= im.Hi+1<<32 && offset > 0 {
			im.Lo, im.Hi = min(im.Lo, lo), max(im.Hi, hi)
			return true
		}
	}
	im := image.Open(path)
	if im.Bin != nil {
		if addr, ok := im.Bin.CodeAddr(offset); ok {
			im.Bias = lo - addr
		}
	}
	m.add(im, lo, hi)
	return true
}

func (m *images) add(im *image.File, lo, hi uint64) {
	im.Lo, im.Hi = lo, hi
	m.Add(im)
	m.names[im.Path] = im
}

// isFile reports whether a mapping's name, as the kernel gives it, is that of a file: not of
// anonymous memory or the like.
func isFile(path string) bool {
	if strings.HasPrefix(path, "/dev/shm/") { // a file system like others: programs may lie there
		return true
	}
	return strings.HasPrefix(path, "/") && !slices.ContainsFunc([]string{"//anon", "/memfd:", "/dev/", "/SYSV", "/[aio]"},
		func(p string) bool { return strings.HasPrefix(path, p) })
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
	im := &image.File{Path: "[vdso]"}
	if f, err := os.Open("/proc/self/mem"); err == nil {
		b := make([]byte, mine[1]-mine[0])
		if n, _ := f.ReadAt(b, int64(mine[0])); n == len(b) {
			if bin, err := binfile.NewFile(strings.NewReader(string(b)), im.Path); err == nil {
				im = image.New(im.Path, bin)
			}
		}
		f.Close()
	}
	im.Library, im.Bias = true, theirs[0]
	m.add(im, theirs[0], theirs[1])
}

// at finds the image that holds a run-time address.
func (m *images) at(pc uint64) *image.File { return m.At(pc) }

// symbol finds the function that holds a run-time address, in link-time addresses.
func (m *images) symbol(pc uint64) (im *image.File, s binfile.Symbol, ok bool) { return m.Func(pc) }

// own reports whether code belongs to the program, and not to a runtime.
func (m *images) own(pc uint64) bool { return m.Own(pc) }

// unwindImage is what the stack walker asks for.
func (m *images) unwindImage(pc uint64) (unwind.Image, bool) {
	out, ok := m.Unwind(pc)
	if !ok && m.refresh() {
		out, ok = m.Unwind(pc)
	}
	if !ok {
		return out, false
	}
	if im, s, ok := m.Func(pc); ok {
		out.Switch = im.SwitchesStack(s.Name)
	}
	return out, true
}

func (m *images) close() {
	for _, im := range m.List {
		im.Close()
	}
}
