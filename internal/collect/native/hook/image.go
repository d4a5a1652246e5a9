package hook

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// image is what hooking needs of a mapped ELF file.
type image struct {
	path string
	bias uint64
	defs map[string]uint64   // chosen functions that it defines: run-time addresses
	refs map[string][]uint64 // run-time addresses of the slots that refer to chosen functions

	lo, hi uint64   // run-time addresses
	unwind uint64   // run-time address of .eh_frame_hdr, 0 if there is none
	code   *codeMap // nil: not yet read

	golang bool     // a Go program
	static bool     // a program without a dynamic loader
	main   uint64   // of a static program: its main function
	starts []uint64 // of a static program: where its functions begin
}

// imageOf finds the image that holds a run-time address.
func imageOf(ims []image, addr uint64) *image {
	for i := range ims {
		if im := &ims[i]; addr >= im.lo && addr < im.hi {
			return im
		}
	}
	return nil
}

// images reads the ELF files that are mapped, in the order of their addresses, which puts the program first.
func images(maps []Mapping, wanted map[string]bool) []image {
	var out []image
	seen := map[string]bool{}
	for _, m := range maps {
		if m.Path == "" || m.Offset != 0 || seen[m.Path] {
			continue
		}
		seen[m.Path] = true
		if im, err := readImage(m.Path, m.Lo, len(out) == 0, wanted); err == nil { // not ELF: data that the program maps
			out = append(out, im)
		}
	}
	return out
}

// readImage reads one file; first is the program itself.
func readImage(path string, lo uint64, first bool, wanted map[string]bool) (image, error) {
	f, err := elf.Open(path)
	if err != nil {
		return image{}, err
	}
	defer f.Close()
	im := image{path: path, bias: lo, defs: map[string]uint64{}, refs: map[string][]uint64{}}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Off == 0 {
			im.bias = lo - p.Vaddr
		}
	}
	im.lo = lo
	program, interpreted := f.Type == elf.ET_EXEC || f.Entry != 0, false
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_INTERP:
			interpreted = true
		case elf.PT_LOAD:
			im.hi = max(im.hi, p.Vaddr+p.Memsz+im.bias)
		case elf.PT_GNU_EH_FRAME:
			im.unwind = p.Vaddr + im.bias
		}
	}
	if first && goTable(f) != nil {
		return im, im.readGo(f, wanted)
	}
	if program && !interpreted && first {
		im.readStatic(f, wanted)
		return im, nil
	}
	syms, err := f.DynamicSymbols()
	if err != nil {
		if errors.Is(err, elf.ErrNoSymbols) {
			return im, nil
		}
		return image{}, err
	}
	for _, s := range syms {
		if wanted[s.Name] && s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC && !hidden(s) {
			im.defs[s.Name] = s.Value + im.bias
		}
	}
	return im, im.references(f, syms, wanted)
}

// hidden: an old version of a symbol, kept for old programs.
func hidden(s elf.Symbol) bool { return s.HasVersion && s.VersionIndex.IsHidden() }

// references lists the slots that the loader fills with the addresses of chosen functions.
func (im *image) references(f *elf.File, syms []elf.Symbol, wanted map[string]bool) error {
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return fmt.Errorf("%s: section %s: %w", im.path, s.Name, err)
		}
		for ; len(data) >= 24; data = data[24:] {
			off, info := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
			sym := int(info>>32) - 1
			if sym < 0 || sym >= len(syms) || !wanted[syms[sym].Name] {
				continue
			}
			switch elf.R_X86_64(info & 0xffffffff) {
			case elf.R_X86_64_JMP_SLOT, elf.R_X86_64_GLOB_DAT, elf.R_X86_64_64:
				im.refs[syms[sym].Name] = append(im.refs[syms[sym].Name], off+im.bias)
			}
		}
	}
	return nil
}
