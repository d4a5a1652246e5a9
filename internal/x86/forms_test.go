package x86

import (
	"slices"
	"strings"
	"testing"
)

// decodeRow decodes and also tells which row of the tables was used.
func decodeRow(code []byte, in *Inst) (*row, *decoder, bool) {
	*in = Inst{Mem: Mem{Base: NoReg, Index: NoReg}}
	d := &decoder{code: code[:min(len(code), MaxLen)], inst: in}
	ok := d.run()
	return d.row, d, ok
}

// forms makes instructions for every opcode of every map in every encoding, with
// and without a memory operand, and hands those that decode to f. The
// slice is reused.
func forms(f func(code []byte, in *Inst, r *row, d *decoder)) {
	var in Inst
	candidates(func(code []byte) {
		if r, d, ok := decodeRow(code, &in); ok && int(in.Len) <= len(code) {
			f(code[:in.Len], &in, r, d)
		}
	})
}

// candidates are the byte strings that forms tries; many are no instruction.
func candidates(f func(code []byte)) {
	tail := []byte{0x05, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}
	emit := func(code []byte) { f(append(code, tail...)) }
	legacyForms(emit)
	vexForms(emit)
	evexForms(emit)
}

// modrms are the ModRM bytes (with what follows) to try: all of the reg field
// with a register and with (%rbx)+disp8, and some SIB, rip and disp32 forms.
func modrms(all bool) (list [][]byte) {
	for reg := range byte(8) {
		list = append(list, []byte{0x43 | reg<<3, 0x08}, []byte{0xc1 | reg<<3}, []byte{0xc0 | reg<<3}, []byte{0x44 | reg<<3, 0x8b, 0x40})
	}
	if !all {
		return [][]byte{list[0], list[1], {0x43 | 5<<3, 0xf8}, {0xc1 | 6<<3}, list[11]}
	}
	list = append(list, []byte{0x83, 0x80, 0, 0, 0})
	for rm := range byte(64) { // groups with an opcode in rm
		list = append(list, []byte{0xc0 | rm})
	}
	return list
}

func legacyForms(emit func([]byte)) {
	all := modrms(true)
	escapes := [][]byte{{}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}}
	prefixes := [][]byte{{}, {0x66}, {0xf3}, {0xf2}, {0x66, 0xf2}, {0x66, 0xf3}, {0xf0}, {0x67}}
	for _, p := range prefixes {
		for _, rex := range [][]byte{{}, {0x48}, {0x45}} {
			for _, e := range escapes {
				for op := range 256 {
					head := slices.Concat(p, rex, e, []byte{byte(op)})
					for _, m := range all {
						emit(slices.Concat(head, m))
					}
				}
			}
		}
	}
}

func vexForms(emit func([]byte)) {
	few, all := modrms(false), modrms(true)[:32]
	for m := byte(1); m <= 10; m++ {
		first := byte(0xc4)
		if m >= 8 {
			first = 0x8f
		} else if m > 3 {
			continue
		}
		for wlpp := range byte(16) {
			for op := range 256 {
				list := few
				if isGroup(classVEX, int(m), op) || m >= 9 {
					list = all
				}
				for _, rm := range list {
					emit(slices.Concat([]byte{first, 0xe0 | m, wlpp&8<<4 | wlpp&7 | 0x68, byte(op)}, rm))
					emit(slices.Concat([]byte{first, 0xe0 | m, wlpp&8<<4 | wlpp&7 | 0x78, byte(op)}, rm))
				}
			}
		}
	}
}

func evexForms(emit func([]byte)) {
	few, all := modrms(false), modrms(true)[:32]
	for m := byte(1); m <= 6; m++ {
		for wpp := range byte(8) {
			for op := range 256 {
				list := few
				if isGroup(classEVEX, int(m), op) {
					list = all
				}
				if m == 4 || len(rowsOf(classEVEX, int(m), op)) == 0 {
					continue
				}
				for _, p2 := range []byte{0x08, 0x28, 0x48, 0x18, 0x38, 0x58, 0x49, 0xc9, 0x29} {
					for _, rm := range list {
						emit(slices.Concat([]byte{0x62, 0xf0 | m, wpp&4<<5 | wpp&3 | 0x6c, p2, byte(op)}, rm))
						emit(slices.Concat([]byte{0x62, 0xf0 | m, wpp&4<<5 | wpp&3 | 0x7c, p2, byte(op)}, rm))
					}
				}
			}
		}
	}
}

// rowsOf are the rows of an opcode with any prefix.
func rowsOf(class, opmap, op int) (list []uint16) {
	for pp := range 4 {
		for _, n := range decodeIndex().chains[decodeIndex().heads[class][opmap][pp][op]:] {
			if n == endChain {
				break
			}
			list = append(list, n)
		}
	}
	return list
}

// isGroup is true for an opcode that ModRM.reg extends.
func isGroup(class, opmap, op int) bool {
	return slices.ContainsFunc(rowsOf(class, opmap, op), func(n uint16) bool {
		return decodeIndex().rows[n].mask>>selReg&7 != 0
	})
}

// TestRows checks every row of every table: that it can be decoded, that it cites
// its page, and that what it says is consistent.
func TestRows(t *testing.T) {
	reached := make([]bool, len(decodeIndex().rows))
	number := map[*row]int{}
	for i := range decodeIndex().rows {
		number[&decodeIndex().rows[i]] = i
	}
	forms(func(code []byte, in *Inst, r *row, _ *decoder) {
		reached[number[r]] = true
		if in.Len == 0 || int(in.Len) > MaxLen || in.Name != r.name {
			t.Fatalf("% x: length %d, name %q of row %q", code, in.Len, in.Name, r.source)
		}
	})
	for i := range decodeIndex().rows {
		r := &decodeIndex().rows[i]
		if !reached[i] {
			t.Errorf("row %q: no instruction reaches it", r.source)
		}
		if r.page == "" || r.page != strings.ToUpper(r.page) && !strings.Contains(r.source, "#") {
			t.Errorf("row %q: no page of the manual", r.source)
		}
		if r.branch == BranchCond && r.attr&attrCond == 0 {
			t.Errorf("row %q: conditional branch without a condition", r.source)
		}
	}
}

// TestRowsAgreeOnModRM holds what findRow relies on.
func TestRowsAgreeOnModRM(t *testing.T) {
	for c := range numClasses {
		for m := range numMaps {
			for op := range 256 {
				for pp := range 4 {
					agree(t, decodeIndex().heads[c][m][pp][op])
				}
			}
		}
	}
}

func agree(t *testing.T, head uint16) {
	first := decodeIndex().chains[head]
	if first == endChain {
		return
	}
	want := decodeIndex().rows[first].attr & attrModRM
	for _, n := range decodeIndex().chains[head:] {
		if n == endChain {
			return
		}
		if r := &decodeIndex().rows[n]; r.attr&attrModRM != want {
			t.Errorf("row %q: differs from %q on ModRM", r.source, decodeIndex().rows[first].source)
		}
	}
}

// TestTableErrors asks for an error that names table and row.
func TestTableErrors(t *testing.T) {
	for _, rows := range []string{
		"zz nop", "90", "90 nop Ek?", "90 nop ; nonsense", "90 nop ; r=foo", "90 nop ; f=x", "90 nop ; br=x",
		"90/0q nop", "90-8f nop", "90.q1 nop", "90.w nop", "90 nop +",
	} {
		_, err := buildIndex([]table{{name: "tried", rows: rows}})
		if err == nil || !strings.Contains(err.Error(), "tried") || !strings.Contains(err.Error(), rows) {
			t.Errorf("%q: error %v", rows, err)
		}
	}
}
