package binfile

import (
	"cmp"
	"debug/elf"
	"slices"
	"strings"
)

// SymbolKind says what a symbol names.
type SymbolKind uint8

// The kinds.
const (
	SymFunc   SymbolKind = iota // code
	SymIFunc                    // code that chooses the code
	SymObject                   // data
	SymPLT                      // a stub that jumps to Name, a function of another file
	SymLabel                    // code without a type: assembler
)

// Symbol is a name of an address.
type Symbol struct {
	Name   string
	Addr   uint64 // link-time
	Size   uint64 // 0 if unknown
	Kind   SymbolKind
	Global bool
	Weak   bool
}

// Symbols returns the defined symbols of .symtab, .dynsym and .gnu_debugdata (each name and address
// once) and the PLT entries, sorted by address; local names come after global ones.
func (f *File) Symbols() []Symbol {
	f.once.Do(f.loadSymbols)
	return f.symbols
}

func (f *File) loadSymbols() {
	all := append(f.table(f.elf.Symbols), f.table(f.elf.DynamicSymbols)...)
	all = append(all, f.plt()...)
	all = append(all, f.miniSymbols()...)
	all = sorted(all)
	f.symbols = slices.CompactFunc(all, func(a, b Symbol) bool { return a.Addr == b.Addr && a.Name == b.Name })
}

// sorted puts symbols in the order of compareSymbols. There are many of them, and they are large:
// what mostly decides is sorted instead.
func sorted(all []Symbol) []Symbol {
	type key struct {
		addr uint64
		rank int32
		at   int32
	}
	keys := make([]key, len(all))
	for i := range all {
		keys[i] = key{all[i].Addr, int32(rank(&all[i])), int32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		switch {
		case a.addr < b.addr:
			return -1
		case a.addr > b.addr:
			return 1
		case a.rank != b.rank:
			return int(a.rank - b.rank)
		}
		return compareSymbols(&all[a.at], &all[b.at])
	})
	out := make([]Symbol, len(all))
	for i, k := range keys {
		out[i] = all[k.at]
	}
	return out
}

// compareSymbols orders by address, and puts the better name first: code before data, global before
// weak before local, sized before unsized, a public name before glibc's internal one, then by name.
// Of two tables' entries for one symbol it does not matter which is first.
func compareSymbols(a, b *Symbol) int {
	return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name),
		cmp.Compare(b.Size, a.Size), cmp.Compare(a.Kind, b.Kind))
}

func rank(s *Symbol) int {
	r := 0
	if s.Kind == SymObject {
		r += 16
	}
	if s.Size == 0 {
		r += 8
	}
	if !s.Global {
		r += 4
	}
	if s.Weak {
		r += 2
	}
	if strings.HasPrefix(s.Name, "__GI_") {
		r++
	}
	return r
}

// table reads one symbol table; a damaged one gives nothing.
func (f *File) table(read func() ([]elf.Symbol, error)) (out []Symbol) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	syms, err := read()
	if err != nil {
		return nil
	}
	out = make([]Symbol, 0, len(syms))
	for _, s := range syms {
		if sym, ok := f.convert(s); ok {
			out = append(out, sym)
		}
	}
	return out
}

func (f *File) convert(s elf.Symbol) (Symbol, bool) {
	kind, ok := f.kind(s)
	if !ok || s.Name == "" || s.Section == elf.SHN_UNDEF || s.Section == elf.SHN_ABS {
		return Symbol{}, false
	}
	bind := elf.ST_BIND(s.Info)
	return Symbol{Name: s.Name, Addr: s.Value, Size: s.Size, Kind: kind, Global: bind != elf.STB_LOCAL, Weak: bind == elf.STB_WEAK}, true
}

func (f *File) kind(s elf.Symbol) (SymbolKind, bool) {
	switch elf.ST_TYPE(s.Info) {
	case elf.STT_FUNC:
		return SymFunc, true
	case elf.STT_GNU_IFUNC:
		return SymIFunc, true
	case elf.STT_OBJECT:
		return SymObject, true
	case elf.STT_NOTYPE:
		i := int(s.Section)
		code := i < len(f.elf.Sections) && f.elf.Sections[i].Flags&elf.SHF_EXECINSTR != 0
		return SymLabel, code && !strings.HasPrefix(s.Name, ".L")
	}
	return 0, false
}

// Exports returns the functions that the file defines for others, by name: of several versions the
// one for programs that are linked now.
func (f *File) Exports() map[string]uint64 {
	out := map[string]uint64{}
	syms, _ := f.elf.DynamicSymbols()
	for _, s := range syms {
		old := s.HasVersion && s.VersionIndex.IsHidden()
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && !old {
			out[s.Name] = s.Value
		}
	}
	return out
}

// Find returns the first symbol of a name that is code of this file (no PLT entry).
func (f *File) Find(name string) (Symbol, bool) {
	for _, s := range f.Symbols() {
		if s.Name == name && s.Kind != SymObject && s.Kind != SymPLT {
			return s, true
		}
	}
	return Symbol{}, false
}
