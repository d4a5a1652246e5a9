// Package binfile reads ELF files: what is loaded where, symbols, the names of
// PLT entries, build ids, unwind tables, and the separate file that holds the
// debug information. It stands on debug/elf, knows nothing of functions, lines
// or running programs, and imports unit and safe only. A damaged or hostile file gives an
// error or less information, never a panic.
package binfile

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"

	"lime/internal/safe"
)

// What is read of one section into memory is bounded, and so is how much smaller than that it may
// be packed.
const (
	maxSection = 4 << 30
	maxPacked  = 1000
)

// File is an open ELF file.
type File struct {
	Path     string
	Type     elf.Type
	Machine  elf.Machine
	Class    elf.Class
	Entry    uint64
	Interp   string // program interpreter, "" for none
	BuildID  string // hexadecimal, "" for none
	Segments []Segment
	TLS      TLS
	Unwind   uint64 // link-time address of .eh_frame_hdr, 0 for none

	elf    *elf.File
	from   io.ReaderAt
	closer io.Closer

	once    sync.Once
	symbols []Symbol

	referring sync.Once
	slots     map[uint64]string
	pointers  pointers
}

// Segment is a loaded part of the file, at link-time addresses.
type Segment struct {
	Addr, MemSize    uint64
	Offset, FileSize uint64
	Flags            elf.ProgFlag
}

// TLS is the image of a file's thread-local data (segment PT_TLS); Size is 0 if it has none.
type TLS struct{ Size, Align uint64 }

// Open opens an ELF file.
func Open(path string) (*File, error) {
	f, err := safe.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := NewFile(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	b.closer = f
	return b, nil
}

// NewFile reads an ELF file from r; path names it in errors and is where
// debug files are searched.
func NewFile(r io.ReaderAt, path string) (f *File, err error) {
	defer guard(path, &err)
	e, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f = &File{Path: path, Type: e.Type, Machine: e.Machine, Class: e.Class, Entry: e.Entry, elf: e, from: r}
	for _, p := range e.Progs {
		f.addProg(p)
	}
	if f.BuildID == "" {
		if s := e.Section(".note.gnu.build-id"); s != nil {
			f.BuildID = buildID(f.readSection(s), e)
		}
	}
	return f, nil
}

// guard turns a panic over a damaged file into an error.
func guard(path string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: damaged ELF file (%v)", path, r)
	}
}

func (f *File) addProg(p *elf.Prog) {
	switch p.Type {
	case elf.PT_LOAD:
		f.Segments = append(f.Segments, Segment{p.Vaddr, p.Memsz, p.Off, p.Filesz, p.Flags})
	case elf.PT_TLS:
		f.TLS = TLS{p.Memsz, p.Align}
	case elf.PT_GNU_EH_FRAME:
		f.Unwind = p.Vaddr
	case elf.PT_INTERP:
		if b := readProg(p, 4096); len(b) > 1 {
			f.Interp = cString(b, 0)
		}
	case elf.PT_NOTE:
		if f.BuildID == "" {
			f.BuildID = buildID(readProg(p, 1<<20), f.elf)
		}
	}
}

// readProg reads a segment that should be small.
func readProg(p *elf.Prog, limit uint64) []byte {
	if p.Filesz > limit {
		return nil
	}
	b := make([]byte, p.Filesz)
	if _, err := p.ReadAt(b, 0); err != nil {
		return nil
	}
	return b
}

// buildID finds the GNU build id in notes.
func buildID(b []byte, e *elf.File) string {
	const header, gnuBuildID = 12, 3
	for len(b) >= header {
		name, desc, typ := uint64(e.ByteOrder.Uint32(b)), uint64(e.ByteOrder.Uint32(b[4:])), e.ByteOrder.Uint32(b[8:])
		at := header + (name+3)&^3
		end := at + desc
		if end > uint64(len(b)) {
			return ""
		}
		if typ == gnuBuildID && cString(b[header:], 0) == "GNU" {
			return hex.EncodeToString(b[at:end])
		}
		b = b[min(at+(desc+3)&^3, uint64(len(b))):]
	}
	return ""
}

// cString returns the zero-ended string at off.
func cString(b []byte, off uint64) string {
	if off >= uint64(len(b)) {
		return ""
	}
	b = b[off:]
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// Close closes the file.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// ErrNoSection says that the file has no section of that name.
var ErrNoSection = errors.New("no such section")

// Section returns a section's data, unpacked, and its link-time address.
func (f *File) Section(name string) (data []byte, addr uint64, err error) {
	s := f.elf.Section(name)
	if s == nil {
		return nil, 0, fmt.Errorf("%s: %s: %w", f.Path, name, ErrNoSection)
	}
	defer guard(f.Path, &err)
	if s.Type == elf.SHT_NOBITS {
		return nil, s.Addr, fmt.Errorf("%s: %s: %w", f.Path, name, ErrNoSection)
	}
	if s.Size > maxSection || s.Size > s.FileSize*maxPacked+1<<20 {
		return nil, 0, fmt.Errorf("%s: %s says it is %d bytes long", f.Path, name, s.Size)
	}
	data, err = f.unpack(s)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %s: %w", f.Path, name, err)
	}
	return data, s.Addr, nil
}

// HasSection reports whether the file has data for a section.
func (f *File) HasSection(name string) bool {
	s := f.elf.Section(name)
	return s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0
}

// readSection is Section without the error: nil for none.
func (f *File) readSection(s *elf.Section) []byte {
	b, _, err := f.Section(s.Name)
	if err != nil {
		return nil
	}
	return b
}

// EHFrame returns the unwind table and its link-time address.
func (f *File) EHFrame() (data []byte, addr uint64, err error) { return f.Section(".eh_frame") }

// Text returns the addresses of a section without reading it, for .text and its like.
func (f *File) Text(name string) (lo, hi uint64) {
	if s := f.elf.Section(name); s != nil {
		return s.Addr, s.Addr + s.Size
	}
	return 0, 0
}

// CodeAddr turns the offset into the file at which a mapping of code begins into a link-time
// address. Mappings begin with a page, segments need not: the page may hold the end of another
// segment, too.
func (f *File) CodeAddr(off uint64) (addr uint64, ok bool) {
	const page = 4096
	for _, s := range f.Segments {
		if s.Flags&elf.PF_X != 0 && off >= s.Offset&^(page-1) && off < s.Offset+s.FileSize {
			return s.Addr - s.Offset + off, true
		}
	}
	return 0, false
}

// ReadAddr reads loaded bytes at a link-time address; fewer at the segment's end.
func (f *File) ReadAddr(addr uint64, n int) []byte {
	for _, p := range f.elf.Progs {
		if p.Type != elf.PT_LOAD || addr < p.Vaddr || addr-p.Vaddr >= p.Filesz {
			continue
		}
		b := make([]byte, min(uint64(n), p.Filesz-(addr-p.Vaddr)))
		got, _ := p.ReadAt(b, int64(addr-p.Vaddr))
		return b[:got]
	}
	return nil
}
