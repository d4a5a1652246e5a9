package binfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
)

// pltSections hold stubs of the form jmp *slot(%rip), each in its own grain of bytes
// when the section does not say its entry size.
var pltSections = []struct {
	name  string
	grain uint64
}{{".plt", 16}, {".plt.sec", 16}, {".plt.got", 8}, {".iplt", 16}}

// plt returns a symbol for every PLT stub, named as the function that it jumps to.
func (f *File) plt() (out []Symbol) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	if f.Machine != elf.EM_X86_64 {
		return nil
	}
	slots := f.Slots()
	for _, p := range pltSections {
		s := f.elf.Section(p.name)
		if s == nil || len(slots) == 0 {
			continue
		}
		grain := p.grain
		if s.Entsize == 8 || s.Entsize == 16 {
			grain = s.Entsize
		}
		out = append(out, stubs(f.readSection(s), s.Addr, grain, slots)...)
	}
	return out
}

// stubs finds the indirect jumps (ff 25, relative to the next instruction) through known slots.
func stubs(code []byte, addr, grain uint64, slots map[uint64]string) []Symbol {
	var out []Symbol
	for at := 0; ; {
		i := bytes.Index(code[at:], []byte{0xff, 0x25})
		if i < 0 || at+i+6 > len(code) {
			return out
		}
		at += i
		rel := int64(int32(binary.LittleEndian.Uint32(code[at+2:])))
		next := addr + uint64(at) + 6
		if name, ok := slots[next+uint64(rel)]; ok {
			start := uint64(at) / grain * grain
			out = append(out, Symbol{Name: name, Addr: addr + start, Size: grain, Kind: SymPLT, Global: true})
			at += 4
		}
		at += 2
	}
}

// Slots maps the link-time addresses of words, of the global offset table and others, to the names
// of the symbols whose addresses the dynamic linker puts there.
func (f *File) Slots() map[uint64]string {
	syms, _ := f.elf.DynamicSymbols()
	slots := map[uint64]string{}
	for _, s := range f.elf.Sections {
		if s.Type == elf.SHT_RELA && s.Flags&elf.SHF_ALLOC != 0 {
			f.addSlots(slots, f.readSection(s), syms)
		}
	}
	return slots
}

// Refers says what the loader puts the address of into a word of the file: the symbol of a name, or
// what stands at a link-time address; nothing is known of it where there is neither.
func (f *File) Refers(word uint64) (name string, to uint64) {
	f.referring.Do(func() { f.slots, f.pointers = f.Slots(), f.relative() })
	if name, ok := f.slots[word]; ok {
		return name, 0
	}
	return "", f.pointers.at(word)
}

// relaSize is the size of a relocation (System V ABI, 4.4.1).
const relaSize = 24

func (f *File) addSlots(slots map[uint64]string, rela []byte, syms []elf.Symbol) {
	for ; len(rela) >= relaSize; rela = rela[relaSize:] {
		off, info := f.elf.ByteOrder.Uint64(rela), f.elf.ByteOrder.Uint64(rela[8:])
		typ, sym := elf.R_X86_64(info&0xffffffff), info>>32
		if typ != elf.R_X86_64_JMP_SLOT && typ != elf.R_X86_64_GLOB_DAT && typ != elf.R_X86_64_64 {
			continue
		}
		if sym >= 1 && sym <= uint64(len(syms)) { // the null symbol is not in syms
			slots[off] = syms[sym-1].Name
		}
	}
}

// Stubs are the link-time addresses of the procedure linkage tables, with entries that are not
// known by name, too.
func (f *File) Stubs() (out [][2]uint64) {
	for _, s := range f.elf.Sections {
		if strings.HasPrefix(s.Name, ".plt") || s.Name == ".iplt" {
			out = append(out, [2]uint64{s.Addr, s.Addr + s.Size})
		}
	}
	return out
}
