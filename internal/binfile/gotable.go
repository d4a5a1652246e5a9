package binfile

// Go's table of functions, which every Go program carries, a stripped one too: where it is, and at
// which address the code begins that it counts from.

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
)

// goTables are the sections that hold the table alone. Of position-independent programs that C's
// linker has put together it stands in the midst of .data.rel.ro.
func goTables() []string { return []string{".gopclntab", ".data.rel.ro.gopclntab"} }

const goTableAmong = ".data.rel.ro"

// HasGo reports whether the file is a Go program or library.
func (f *File) HasGo() bool {
	return slices.ContainsFunc(append(goTables(), ".go.buildinfo", ".note.go.buildid"), f.HasSection)
}

// GoTable returns Go's table of functions, and the link-time address of the code that it counts
// from.
func (f *File) GoTable() (table []byte, text uint64, err error) {
	defer guard(f.Path, &err)
	if !f.HasGo() {
		return nil, 0, fmt.Errorf("%s: no code of Go's: %w", f.Path, ErrNoSection)
	}
	p := f.relative()
	for _, name := range goTables() {
		if data, addr, err := f.Section(name); err == nil {
			return data, p.goText(addr), nil
		}
	}
	data, addr, err := f.Section(goTableAmong)
	if err != nil {
		return nil, 0, err
	}
	for at := 0; at+len(goHeader()) <= len(data); at += 8 {
		if !bytes.HasPrefix(data[at:], goHeader()) {
			continue
		}
		if text, ok := p.goModule(addr + uint64(at)); ok {
			return data[at:], text, nil
		}
	}
	return nil, 0, fmt.Errorf("%s: Go's table of functions is not found in %s: %w", f.Path, goTableAmong, ErrNoSection)
}

// goHeader begins the table on x86-64 (runtime/symtab.go, pcHeader; Go 1.20 to 1.26): the magic
// number, two zeros, the least size of an instruction, that of a pointer.
func goHeader() []byte { return []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8} }

// pointers are those among a file's data that the loader sets relative to where it puts the file:
// link-time addresses by link-time addresses.
type pointers struct {
	f  *File
	to map[uint64]uint64
}

func (f *File) relative() pointers {
	p := pointers{f, map[uint64]uint64{}}
	for _, s := range f.elf.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		for rela := f.readSection(s); len(rela) >= relaSize; rela = rela[relaSize:] {
			if elf.R_X86_64(f.elf.ByteOrder.Uint32(rela[8:])) == elf.R_X86_64_RELATIVE {
				p.to[f.elf.ByteOrder.Uint64(rela)] = f.elf.ByteOrder.Uint64(rela[16:])
			}
		}
	}
	return p
}

// at reads a pointer as it will be.
func (p pointers) at(addr uint64) uint64 {
	if to, ok := p.to[addr]; ok {
		return to
	}
	if b := p.f.ReadAddr(addr, 8); len(b) == 8 {
		return p.f.elf.ByteOrder.Uint64(b)
	}
	return 0
}

// into lists where pointers to an address are, in order.
func (p pointers) into(addr uint64) (out []uint64) {
	for from, to := range p.to {
		if to == addr {
			out = append(out, from)
		}
	}
	slices.Sort(out)
	const inPlace = elf.SHF_ALLOC | elf.SHF_WRITE // of programs that stand at fixed addresses
	for _, s := range p.f.elf.Sections {
		if len(p.to) > 0 || s.Type != elf.SHT_PROGBITS || s.Flags&inPlace != inPlace && s.Name != ".go.module" {
			continue
		}
		for i, data := 0, p.f.readSection(s); i+8 <= len(data); i += 8 {
			if p.f.elf.ByteOrder.Uint64(data[i:]) == addr {
				out = append(out, s.Addr+uint64(i))
			}
		}
	}
	return out
}

// goText is where the code begins that the table at an address counts from. C's linker puts code of
// its own before Go's.
func (p pointers) goText(table uint64) uint64 {
	if text, ok := p.goModule(table); ok {
		return text
	}
	if s, ok := p.f.Find("runtime.text"); ok {
		return s.Addr
	}
	text, _ := p.f.Text(".text")
	return text
}

// goModule finds the runtime's description of the program, which begins with a pointer to the
// table, and reads the address of the code in it. That it is one shows: the functions of the table
// are within the code, and that is executable (runtime/symtab.go, moduledata: Go 1.18 to 1.26).
func (p pointers) goModule(table uint64) (text uint64, ok bool) {
	const minPC, maxPC, textAt, etextAt = 160, 168, 176, 184
	for _, at := range p.into(table) {
		lo, hi, text, etext := p.at(at+minPC), p.at(at+maxPC), p.at(at+textAt), p.at(at+etextAt)
		if text > 0 && text <= lo && lo < hi && hi <= etext && p.f.executable(text, etext) {
			return text, true
		}
	}
	return 0, false
}

func (f *File) executable(lo, hi uint64) bool {
	return slices.ContainsFunc(f.Segments, func(s Segment) bool {
		return s.Flags&elf.PF_X != 0 && lo >= s.Addr && hi <= s.Addr+s.MemSize
	})
}
