package guest

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// elfFile is what loading needs of an ELF file. Only the program headers are read:
// section headers may be missing or wrong, as for the kernel.
type elfFile struct {
	typ       elf.Type
	entry     uint64
	phoff     uint64
	loads     []elf.ProgHeader
	phdr      uint64 // PT_PHDR's address, 0 if there is none
	phnum     int
	interp    string
	execStack bool
}

const (
	ehdrSize = 64
	phdrSize = 56
	maxPhdrs = 4096
)

// errBad is a damaged file, with its place.
func errBad(format string, a ...any) *LoadError {
	return &LoadError{Why: "damaged ELF file: " + fmt.Sprintf(format, a...), Hint: "copy or build the program again", Status: 126}
}

var machineNames = map[elf.Machine]string{
	elf.EM_386: "32-bit x86", elf.EM_AARCH64: "64-bit Arm", elf.EM_ARM: "32-bit Arm", elf.EM_RISCV: "RISC-V",
	elf.EM_PPC64: "64-bit PowerPC", elf.EM_S390: "S/390", elf.EM_MIPS: "MIPS", elf.EM_LOONGARCH: "LoongArch",
}

// parseELF reads the headers of a program, interpreter or library.
func parseELF(r io.ReaderAt, size int64) (*elfFile, *LoadError) {
	var h [ehdrSize]byte
	if size < ehdrSize {
		return nil, errBad("%d bytes long, less than the ELF header", size)
	}
	if _, err := r.ReadAt(h[:], 0); err != nil {
		return nil, errBad("header: %v", err)
	}
	if e := checkIdent(h[:]); e != nil {
		return nil, e
	}
	le := binary.LittleEndian
	f := &elfFile{typ: elf.Type(le.Uint16(h[16:])), entry: le.Uint64(h[24:]), phoff: le.Uint64(h[32:]), phnum: int(le.Uint16(h[56:]))}
	if f.typ != elf.ET_EXEC && f.typ != elf.ET_DYN {
		return nil, &LoadError{Why: fmt.Sprintf("an ELF file of type %v, not a program", f.typ), Hint: "link it first", Status: 126}
	}
	if n := le.Uint16(h[54:]); n != phdrSize {
		return nil, errBad("program headers of %d bytes, want %d", n, phdrSize)
	}
	return f, f.readPhdrs(r, size)
}

// checkIdent looks at the identification, class and machine.
func checkIdent(h []byte) *LoadError {
	m := elf.Machine(binary.LittleEndian.Uint16(h[18:]))
	name := machineNames[m]
	if name == "" {
		name = m.String()
	}
	switch {
	case string(h[:4]) != elf.ELFMAG:
		return &LoadError{Why: "not an ELF file", Status: 126}
	case h[4] == byte(elf.ELFCLASS32) && m == elf.EM_X86_64:
		return &LoadError{Why: "an x32 program (32-bit pointers)", Hint: "lime runs 64-bit x86-64 programs: build with -m64", Status: 126}
	case h[5] == byte(elf.ELFDATA2MSB):
		return &LoadError{Why: "a big-endian program for another architecture",
			Hint: "lime runs x86-64 programs only: build for x86-64", Status: 126}
	case h[4] == byte(elf.ELFCLASS32) || m != elf.EM_X86_64:
		return &LoadError{Why: "a program for " + name, Hint: "lime runs 64-bit x86-64 programs only: build for x86-64, with -m64", Status: 126}
	case h[4] != byte(elf.ELFCLASS64):
		return errBad("class %d", h[4])
	}
	return nil
}

// readPhdrs reads and checks the program headers.
func (f *elfFile) readPhdrs(r io.ReaderAt, size int64) *LoadError {
	if f.phnum == 0 || f.phnum > maxPhdrs {
		return errBad("%d program headers", f.phnum)
	}
	end := f.phoff + uint64(f.phnum)*phdrSize
	if f.phoff > uint64(size) || end > uint64(size) {
		return errBad("cut off: program headers at %#x-%#x, file ends at %#x", f.phoff, end, size)
	}
	b := make([]byte, f.phnum*phdrSize)
	if _, err := r.ReadAt(b, int64(f.phoff)); err != nil {
		return errBad("program headers: %v", err)
	}
	for i := 0; i < f.phnum; i++ {
		if e := f.addPhdr(i, b[i*phdrSize:], r, size); e != nil {
			return e
		}
	}
	if len(f.loads) == 0 {
		return errBad("nothing to load")
	}
	return f.checkEntry()
}

func (f *elfFile) checkEntry() *LoadError {
	for _, l := range f.loads {
		if f.entry >= l.Vaddr && f.entry < l.Vaddr+l.Memsz && l.Flags&elf.PF_X != 0 {
			return nil
		}
	}
	if f.typ == elf.ET_DYN && f.entry == 0 {
		return nil // a library; loading it as a program is refused later
	}
	return errBad("entry point %#x lies in no executable segment", f.entry)
}

// addPhdr takes one program header.
func (f *elfFile) addPhdr(i int, b []byte, r io.ReaderAt, size int64) *LoadError {
	le := binary.LittleEndian
	h := elf.ProgHeader{
		Type: elf.ProgType(le.Uint32(b)), Flags: elf.ProgFlag(le.Uint32(b[4:])), Off: le.Uint64(b[8:]),
		Vaddr: le.Uint64(b[16:]), Filesz: le.Uint64(b[32:]), Memsz: le.Uint64(b[40:]), Align: le.Uint64(b[48:]),
	}
	switch h.Type {
	case elf.PT_LOAD:
		if e := checkLoad(i, h, size); e != nil {
			return e
		}
		if n := len(f.loads); n > 0 && h.Vaddr < f.loads[n-1].Vaddr {
			return errBad("program header %d: segments out of order", i)
		}
		f.loads = append(f.loads, h)
	case elf.PT_PHDR:
		f.phdr = h.Vaddr
	case elf.PT_INTERP:
		return f.setInterp(i, h, r, size)
	case elf.PT_GNU_STACK:
		f.execStack = h.Flags&elf.PF_X != 0
	}
	return nil
}

func checkLoad(i int, h elf.ProgHeader, size int64) *LoadError {
	const limit = 1 << 46
	switch {
	case h.Filesz > h.Memsz:
		return errBad("program header %d: %#x bytes in the file, %#x in memory", i, h.Filesz, h.Memsz)
	case h.Vaddr > limit || h.Memsz > limit:
		return errBad("program header %d: address %#x, size %#x", i, h.Vaddr, h.Memsz)
	case h.Off > uint64(size) || h.Filesz > uint64(size)-h.Off:
		return errBad("cut off: segment %d at %#x-%#x, file ends at %#x", i, h.Off, h.Off+h.Filesz, size)
	case h.Vaddr%pageSize != h.Off%pageSize:
		return errBad("program header %d: address %#x and offset %#x do not fit the same page", i, h.Vaddr, h.Off)
	}
	return nil
}

func (f *elfFile) setInterp(i int, h elf.ProgHeader, r io.ReaderAt, size int64) *LoadError {
	if h.Filesz < 2 || h.Filesz > 4096 || h.Off > uint64(size) || h.Filesz > uint64(size)-h.Off {
		return errBad("program header %d: interpreter name at %#x, %d bytes", i, h.Off, h.Filesz)
	}
	b := make([]byte, h.Filesz)
	if _, err := r.ReadAt(b, int64(h.Off)); err != nil && !errors.Is(err, io.EOF) {
		return errBad("interpreter name: %v", err)
	}
	if b[len(b)-1] != 0 {
		return errBad("program header %d: interpreter name without end", i)
	}
	f.interp = cutNul(b)
	return nil
}

func cutNul(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// span is the link-time range of the segments, in pages.
func (f *elfFile) span() (lo, hi uint64) {
	lo = pageDown(f.loads[0].Vaddr)
	for _, l := range f.loads {
		hi = max(hi, pageUp(l.Vaddr+l.Memsz))
	}
	return lo, hi
}

// phdrAddr is the link-time address of the program headers, 0 if they are not loaded.
func (f *elfFile) phdrAddr() uint64 {
	if f.phdr != 0 {
		return f.phdr
	}
	for _, l := range f.loads {
		if f.phoff >= l.Off && f.phoff < l.Off+l.Filesz {
			return f.phoff - l.Off + l.Vaddr
		}
	}
	return 0
}

// openELF opens and parses a file.
func openELF(path string) (*os.File, *elfFile, *LoadError) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	st, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, openError(path, err)
	}
	e, lerr := parseELF(file, st.Size())
	if lerr != nil {
		lerr.Path = path
		file.Close()
		return nil, nil, lerr
	}
	return file, e, nil
}
