package hook

import (
	"debug/elf"
	"slices"

	"lime/internal/binfile"
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

// images reads the ELF files that are mapped, in the order of their addresses, which puts the
// program first.
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
	f, err := binfile.Open(path)
	if err != nil {
		return image{}, err
	}
	defer f.Close()
	im := image{path: path, bias: lo, lo: lo, defs: map[string]uint64{}, refs: map[string][]uint64{}}
	for _, s := range f.Segments {
		if s.Offset == 0 {
			im.bias = lo - s.Addr
		}
	}
	for _, s := range f.Segments {
		im.hi = max(im.hi, s.Addr+s.MemSize+im.bias)
	}
	if f.Unwind != 0 {
		im.unwind = f.Unwind + im.bias
	}
	if first && f.HasGo() {
		return im, im.readGo(f, wanted)
	}
	if program := f.Type == elf.ET_EXEC || f.Entry != 0; program && f.Interp == "" && first {
		im.readStatic(f, wanted)
		return im, nil
	}
	for name, at := range f.Exports() {
		if wanted[name] {
			im.defs[name] = at + im.bias
		}
	}
	for at, name := range f.Slots() {
		if wanted[name] {
			im.refs[name] = append(im.refs[name], at+im.bias)
		}
	}
	for _, slots := range im.refs {
		slices.Sort(slots)
	}
	return im, nil
}
