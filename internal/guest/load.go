package guest

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// program is a command after its #! lines were followed.
type program struct {
	path string // the ELF file
	args []string
	file *os.File
	elf  *elfFile
}

// openError words the reasons for which a file cannot be opened or run.
func openError(path string, err error) *LoadError {
	e := &LoadError{Path: path, Err: err, Status: 126}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		e.Why, e.Hint, e.Status = "no such file", "check the name; a program in the current directory needs ./", 127
	case errors.Is(err, fs.ErrPermission):
		e.Why, e.Hint = "permission denied", "lime must be allowed to read and execute the program"
	default:
		e.Why = err.Error()
	}
	return e
}

// lookPath finds a command as the shell does.
func lookPath(name string, env []string) (string, *LoadError) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	if name == "" {
		return "", &LoadError{Path: `""`, Why: "no program named", Hint: "lime simulate -- PROGRAM ARGS", Status: 127}
	}
	for _, dir := range filepath.SplitList(getenv(env, "PATH")) {
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && unix.Access(p, unix.X_OK) == nil {
			return p, nil
		}
	}
	hint := "check the name and PATH"
	if _, err := os.Stat(name); err == nil {
		hint = "it is in the current directory: write ./" + name
	}
	return "", &LoadError{Path: name, Why: "command not found", Hint: hint, Status: 127}
}

func getenv(env []string, key string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, key+"="); ok {
			return v
		}
	}
	return ""
}

// checkExecutable says why a file may not be executed.
func checkExecutable(path string) *LoadError {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return openError(path, err)
	case st.IsDir():
		return &LoadError{Path: path, Why: "a directory, not a program", Status: 126}
	case !st.Mode().IsRegular():
		return &LoadError{Path: path, Why: "not a regular file", Status: 126}
	case unix.Access(path, unix.X_OK) != nil:
		return &LoadError{Path: path, Why: "not executable", Hint: "chmod +x " + path, Status: 126, Err: unix.EACCES}
	}
	return nil
}

const maxScriptDepth = 5

// openProgram follows #! lines to an ELF file.
func openProgram(path string, args []string) (*program, *LoadError) {
	for depth := 0; depth < maxScriptDepth; depth++ {
		if e := checkExecutable(path); e != nil {
			return nil, e
		}
		interp, opt, ok, e := readShebang(path)
		if e != nil {
			return nil, e
		}
		if !ok {
			file, f, e := openELF(path)
			return &program{path: path, args: args, file: file, elf: f}, e
		}
		head := []string{interp}
		if opt != "" {
			head = append(head, opt)
		}
		args = append(append(head, path), args[min(1, len(args)):]...)
		path = interp
	}
	return nil, &LoadError{Path: path, Why: "scripts call one another more than 4 deep", Status: 126, Err: unix.ELOOP}
}

// readShebang reads the #! line of a script.
func readShebang(path string) (interp, opt string, ok bool, e *LoadError) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", false, openError(path, err)
	}
	defer f.Close()
	b := make([]byte, 256)
	n, _ := f.Read(b)
	b = b[:n]
	switch {
	case bytes.HasPrefix(b, []byte("#!")):
	case bytes.HasPrefix(b, []byte(elf.ELFMAG)):
		return "", "", false, nil
	case n == 0:
		return "", "", false, &LoadError{Path: path, Why: "an empty file", Hint: "build or copy it again", Status: 126}
	default:
		return "", "", false, &LoadError{Path: path, Why: "neither an ELF program nor a script that begins with #!",
			Hint: "for a shell script: lime simulate -- sh " + path, Status: 126, Err: unix.ENOEXEC}
	}
	line, _, _ := bytes.Cut(b[2:], []byte("\n"))
	interp, opt, _ = strings.Cut(strings.Trim(string(line), " \t\r"), " ")
	if interp == "" {
		return "", "", false, &LoadError{Path: path, Why: "its #! line names no interpreter", Status: 126, Err: unix.ENOEXEC}
	}
	return interp, strings.Trim(opt, " \t"), true, nil
}

// loaded is an ELF file in the guest's memory.
type loaded struct {
	img   Image
	entry uint64
	phdr  uint64
	phnum int
}

// place chooses where an ELF file goes and answers its load bias. The program lies at the bottom,
// so that its static data have room; what has no interpreter (ld.so, static PIE) lies where maps
// do.
func (s *space) place(f *elfFile) (bias uint64, e *LoadError) {
	lo, hi := f.span()
	if f.typ == elf.ET_EXEC {
		if errno := s.room(lo, hi); errno != 0 {
			return 0, &LoadError{Why: fmt.Sprintf("linked at %#x-%#x, which lime needs for itself", lo, hi),
				Hint: s.layout.ownHint(), Status: 126}
		}
		return 0, nil
	}
	align := uint64(pageSize)
	for _, l := range f.loads {
		if l.Align&(l.Align-1) == 0 && l.Align <= 1<<30 {
			align = max(align, l.Align)
		}
	}
	n, at := hi-lo, pieBase&alike&^(align-1)
	switch {
	case f.interp == "":
		at = s.pickLow(s.gap(n)&^(align-1), n, align)
	case !s.inside(at, at+n) || len(s.maps.overlap(at, at+n)) > 0:
		at = s.maps.gapBelow(s.layout.LowLo, s.layout.LowHi, n, align)
	}
	if at == 0 {
		return 0, &LoadError{Why: fmt.Sprintf("its image takes %d MB; lime has room for %d MB of code and "+
			"static data", n>>20, (s.layout.LowHi-s.layout.LowLo)>>20),
			Hint: "make large static arrays dynamic", Status: 126}
	}
	return at - lo, nil
}

// heapAfter is where the kernel would begin the heap of a program that lies in [.., end).
func (f *elfFile) heapAfter(end uint64) uint64 {
	if f.typ == elf.ET_DYN && f.interp == "" {
		return pieBase + 1
	}
	return end
}

// loadELF maps an ELF file.
func (s *space) loadELF(path string, file *os.File, f *elfFile) (*loaded, *LoadError) {
	bias, e := s.place(f)
	if e != nil {
		e.Path = path
		return nil, e
	}
	mf := fileOf(int(file.Fd()))
	for i, l := range f.loads {
		if errno := s.mapSegment(l, bias, int(file.Fd()), mf); errno != 0 {
			return nil, &LoadError{Path: path, Why: fmt.Sprintf("segment %d cannot be mapped: %v", i, errno), Status: 126, Err: errno}
		}
	}
	lo, hi := f.span()
	out := &loaded{img: Image{Path: mf.path, Bias: bias, Lo: lo + bias, Hi: hi + bias}, entry: f.entry + bias, phnum: f.phnum}
	if a := f.phdrAddr(); a != 0 {
		out.phdr = a + bias
	}
	return out, nil
}

// mapSegment maps one PT_LOAD: the file's part, then zeros.
func (s *space) mapSegment(l elf.ProgHeader, bias uint64, fd int, mf *mappedFile) unix.Errno {
	lo := pageDown(l.Vaddr + bias)
	fileEnd, memEnd := l.Vaddr+bias+l.Filesz, l.Vaddr+bias+l.Memsz
	mid := pageUp(fileEnd)
	if l.Filesz == 0 {
		mid = lo
	}
	prot := protOf(l.Flags)
	if mid > lo {
		m := mapping{lo: lo, hi: mid, prot: prot, file: mf, off: pageDown(l.Off)}
		if errno := s.mapAt(m, unix.MAP_PRIVATE, fd); errno != 0 {
			return errno
		}
	}
	if memEnd > fileEnd && mid > fileEnd && prot&unix.PROT_WRITE != 0 {
		clear(bytesAt(fileEnd, mid-fileEnd)) // to the end of the page: ld.so allocates from what is left of it
	}
	if end := pageUp(memEnd); end > mid {
		return s.mapAt(mapping{lo: mid, hi: end, prot: prot}, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, -1)
	}
	return 0
}

func protOf(f elf.ProgFlag) (prot int) {
	if f&elf.PF_R != 0 {
		prot |= unix.PROT_READ
	}
	if f&elf.PF_W != 0 {
		prot |= unix.PROT_WRITE
	}
	if f&elf.PF_X != 0 {
		prot |= unix.PROT_EXEC
	}
	return prot
}

// fileOf identifies an open file.
func fileOf(fd int) *mappedFile {
	path, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	var st unix.Stat_t
	_ = unix.Fstat(fd, &st)
	return &mappedFile{path: path, dev: st.Dev, ino: st.Ino}
}

// openInterp opens the interpreter (dynamic loader) that a program names.
func openInterp(prog *program) (*os.File, *elfFile, *LoadError) {
	file, f, e := openELF(prog.elf.interp)
	if e != nil {
		why := fmt.Sprintf("its program interpreter %s: %s", prog.elf.interp, e.Why)
		return nil, nil, &LoadError{Path: prog.path, Why: why,
			Hint: "install the C library that the program was linked against", Status: e.Status, Err: e.Err}
	}
	return file, f, nil
}
