package unwind

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
)

// Table is the call frame information of one image, in the image's own (link-time) addresses.
type Table struct {
	fdes []fde
	cies map[int]*cie
}

// fde is one frame description entry: how to unwind from the code in [lo, hi).
type fde struct {
	lo, hi uint64
	cie    *cie
	code   []byte
}

// cie is what frame description entries have in common.
type cie struct {
	codeAlign uint64
	dataAlign int64
	enc       uint8 // of addresses in the entries
	signal    bool  // frames of signal handlers: the PC is exact, not behind a call
	augmented bool
	code      []byte
}

// ErrFormat is returned for call frame information that cannot be read.
var ErrFormat = errors.New("call frame information")

// Parse reads an .eh_frame (debug false) or .debug_frame section that stands at address addr. What
// it can read before an error is in the table all the same.
func Parse(data []byte, addr uint64, debug bool) (*Table, error) {
	t := &Table{cies: map[int]*cie{}}
	r := &reader{b: data}
	for r.at < len(data) {
		start := r.at
		length := uint64(r.u32())
		wide := length == 0xffffffff
		if wide {
			length = r.u64()
		}
		if r.err == nil && length == 0 && !debug {
			continue // a terminator; the linker may have joined several sections
		}
		if r.err != nil || length > uint64(len(data)-r.at) {
			return t.sorted(), fmt.Errorf("%w: entry at offset %#x reaches past the end", ErrFormat, start)
		}
		end := r.at + int(length)
		if err := t.entry(data, &reader{b: data[:end], at: r.at}, start, addr, debug, wide); err != nil {
			return t.sorted(), fmt.Errorf("%w: entry at offset %#x: %w", ErrFormat, start, err)
		}
		r.at = end
	}
	return t.sorted(), nil
}

// Merge adds the entries of another table of the same image.
func (t *Table) Merge(o *Table) {
	t.fdes = append(t.fdes, o.fdes...)
	t.sorted()
}

func (t *Table) sorted() *Table {
	byAddress := func(a, b fde) int { return cmp.Compare(a.lo, b.lo) }
	if !slices.IsSortedFunc(t.fdes, byAddress) {
		slices.SortStableFunc(t.fdes, byAddress)
	}
	return t
}

// entry reads one entry of the section.
func (t *Table) entry(section []byte, r *reader, start int, addr uint64, debug, wide bool) error {
	idAt := r.at
	id := uint64(r.u32())
	isCIE := id == 0
	if wide && debug {
		id |= uint64(r.u32()) << 32
	}
	if debug {
		isCIE = id == 0xffffffff || id == ^uint64(0)
	}
	if isCIE {
		_, err := t.cie(start, r, addr, debug)
		return err
	}
	at := idAt - int(id)
	if debug {
		at = int(id)
	}
	c, err := t.cieAt(at, section, addr, debug)
	if err != nil {
		return err
	}
	lo := r.pointer(c.enc, addr)
	size := r.pointer(c.enc&0x0f, addr)
	if c.augmented {
		r.take(int(min(r.uleb(), uint64(len(r.b)))))
	}
	if r.err != nil {
		return r.err
	}
	if lo != 0 && size != 0 && lo+size > lo {
		t.fdes = append(t.fdes, fde{lo: lo, hi: lo + size, cie: c, code: r.b[r.at:]})
	}
	return nil
}

// cieAt finds the common entry at an offset, which in .debug_frame may not have been read yet.
func (t *Table) cieAt(at int, data []byte, addr uint64, debug bool) (*cie, error) {
	if c := t.cies[at]; c != nil {
		return c, nil
	}
	if at < 0 || at >= len(data) {
		return nil, fmt.Errorf("names a common entry at offset %#x, outside of the section", at)
	}
	r := &reader{b: data, at: at}
	length := uint64(r.u32())
	wide := length == 0xffffffff
	if wide {
		length = r.u64()
	}
	if r.err != nil || length > uint64(len(data)-r.at) {
		return nil, errCut
	}
	r.b = data[:r.at+int(length)]
	if r.u32(); wide && debug {
		r.u32()
	}
	return t.cie(at, r, addr, debug)
}

func (t *Table) cie(start int, r *reader, addr uint64, debug bool) (*cie, error) {
	if c := t.cies[start]; c != nil {
		return c, nil
	}
	c := &cie{enc: encAbsPtr}
	version := r.u8()
	aug := r.cstring()
	if version >= 4 && debug {
		r.u8() // address size
		r.u8() // segment selector size
	}
	c.codeAlign = r.uleb()
	c.dataAlign = r.sleb()
	if version == 1 {
		r.u8() // column of the return address
	} else {
		r.uleb()
	}
	if len(aug) > 0 && aug[0] == 'z' {
		c.augmented = true
		n := r.uleb()
		body := &reader{b: r.b, at: r.at}
		r.take(int(min(n, uint64(len(r.b)))))
		for _, a := range aug[1:] {
			switch a {
			case 'R':
				c.enc = body.u8()
			case 'P':
				body.pointer(body.u8()&0x7f, addr)
			case 'L':
				body.u8()
			case 'S':
				c.signal = true
			}
		}
		if body.err != nil {
			return nil, body.err
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	c.code = r.b[r.at:]
	t.cies[start] = c
	return c, nil
}

// find returns the entry that covers pc, or nil.
func (t *Table) find(pc uint64) *fde {
	i := sort.Search(len(t.fdes), func(i int) bool { return t.fdes[i].lo > pc })
	// Entries may lie inside of others only in broken files; look a few back.
	for j := i - 1; j >= 0 && j >= i-4; j-- {
		if pc < t.fdes[j].hi {
			return &t.fdes[j]
		}
	}
	return nil
}

// Covers reports whether there is unwind information for pc, and the range that shares its entry.
func (t *Table) Covers(pc uint64) (lo, hi uint64, ok bool) {
	if f := t.find(pc); f != nil {
		return f.lo, f.hi, true
	}
	return 0, 0, false
}
