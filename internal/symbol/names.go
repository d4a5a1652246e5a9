package symbol

import (
	"encoding/binary"

	"lime/internal/binfile"
)

// mergeSymbols adds the symbols of the debug file, which has all names of a stripped image.
func mergeSymbols(a, b []binfile.Symbol) []binfile.Symbol {
	type key struct {
		addr uint64
		name string
	}
	have := make(map[key]bool, len(a))
	for _, s := range a {
		have[key{s.Addr, s.Name}] = true
	}
	out := append([]binfile.Symbol(nil), a...)
	for _, s := range b {
		if !have[key{s.Addr, s.Name}] {
			out = append(out, s)
		}
	}
	return out
}

// symbolSpans gives every code symbol its range; one without a size reaches to the next symbol, but
// not far.
func symbolSpans(syms []binfile.Symbol, valid func(uint64) bool) spans {
	const reach = 1 << 16
	var out []span
	for i := len(syms) - 1; i >= 0; i-- { // of equal ranges the first symbol has the best name and must come last
		s := &syms[i]
		if s.Kind == binfile.SymObject || !valid(s.Addr) {
			continue
		}
		size := s.Size
		if size == 0 {
			size = reach
			for j := i + 1; j < len(syms); j++ {
				if syms[j].Addr > s.Addr && syms[j].Kind != binfile.SymObject {
					size = min(size, syms[j].Addr-s.Addr)
					break
				}
			}
		}
		if s.Addr+size > s.Addr {
			out = append(out, span{s.Addr, s.Addr + size, int32(i)})
		}
	}
	return newSpans(out)
}

// symbolAt answers from symbols.
func (t *Table) symbolAt(pc uint64) (Func, bool) {
	i := t.symbols.find(pc)
	if i < 0 {
		return Func{}, false
	}
	s := &t.syms[i]
	name, ok := t.names[i]
	if !ok {
		name = Demangle(s.Name)
		if s.Kind == binfile.SymPLT {
			name += "@plt"
		}
		t.names[i] = name
	}
	return Func{Name: name, Link: s.Name, Entry: s.Addr}, true
}

// unwindSpans reads where functions start from the unwind table's search index, which is sorted:
// images without any names still have functions. starts gives the start by id.
func unwindSpans(bin *binfile.File) (t spans, starts []uint64) {
	hdr, addr, err := bin.Section(".eh_frame_hdr")
	const version, pcrelSdata4, udata4, datarelSdata4 = 1, 0x1b, 0x03, 0x3b
	if err != nil || len(hdr) < 12 || hdr[0] != version || hdr[1] != pcrelSdata4 || hdr[2] != udata4 || hdr[3] != datarelSdata4 {
		return spans{}, nil
	}
	const last = 1 << 16 // the last function's greatest length
	rows := hdr[12:]
	n := min(uint64(binary.LittleEndian.Uint32(hdr[8:])), uint64(len(rows)/8))
	out := make([]span, n)
	for i := range n {
		lo := addr + uint64(int64(int32(binary.LittleEndian.Uint32(rows[i*8:]))))
		out[i] = span{lo, lo + last, int32(i)}
		if i > 0 && lo > out[i-1].lo {
			out[i-1].hi = lo
		}
		starts = append(starts, lo)
	}
	return newSpans(out), starts
}
