package unwind

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// libraries whose call frame information is compared with readelf's reading of it.
var libraries = []string{"libc.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgomp.so"}

// library finds a library where the compiler does.
func library(t testing.TB, name string) string {
	t.Helper()
	testenv.Tool(t, "g++")
	out, err := exec.Command("g++", "-print-file-name="+name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func tableOf(t testing.TB, path string) *Table {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".eh_frame")
	if s == nil {
		t.Fatalf("%s: no .eh_frame", path)
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := Parse(data, s.Addr, false)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// regNumber gives the DWARF numbers of the names that readelf prints.
var regNumber = map[string]int{"rax": 0, "rdx": 1, "rcx": 2, "rbx": 3, "rsi": 4, "rdi": 5, "rbp": 6, "rsp": 7,
	"r8": 8, "r9": 9, "r10": 10, "r11": 11, "r12": 12, "r13": 13, "r14": 14, "r15": 15, "ra": 16}

// cell writes a rule as readelf does.
func cell(r rule) string {
	switch r.kind {
	case undefined, same:
		return "u"
	case offset:
		return fmt.Sprintf("c%+d", r.n)
	case valOffset:
		return fmt.Sprintf("v%+d", r.n)
	case expr:
		return "exp"
	case valExpr:
		return "vexp"
	}
	return fmt.Sprintf("r%d", r.n)
}

func cfaCell(r *row) string {
	if r.cfaExpr != nil {
		return "exp"
	}
	for name, n := range regNumber {
		if n == int(r.cfaReg) {
			return fmt.Sprintf("%s%+d", name, r.cfaOff)
		}
	}
	return "?"
}

func TestRowsAgainstReadelf(t *testing.T) {
	testenv.Tool(t, "readelf")
	for _, name := range libraries {
		t.Run(name, func(t *testing.T) {
			path := library(t, name)
			table := tableOf(t, path)
			cmd := exec.Command("readelf", "--debug-dump=frames-interp", path)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			rows, bad := 0, 0
			inFDE := false
			var columns []string
			for s := bufio.NewScanner(out); s.Scan(); {
				f := strings.Fields(s.Text())
				switch {
				case len(f) > 3 && (f[3] == "FDE" || f[3] == "CIE"):
					inFDE = f[3] == "FDE"
				case len(f) > 1 && f[0] == "LOC":
					columns = f[1:]
				case len(f) > 1 && inFDE && len(f[0]) == 16 && len(f) == len(columns)+1:
					rows++
					if msg := compareRow(table, f, columns); msg != "" {
						if bad++; bad < 10 {
							t.Errorf("%s: %s", s.Text(), msg)
						}
					}
				}
			}
			_ = cmd.Wait() // readelf warns about separate debug files by its status
			if rows < 500 {
				t.Errorf("only %d rows compared", rows)
			}
			t.Logf("%d rows, %d differ", rows, bad)
		})
	}
}

func compareRow(table *Table, f, columns []string) string {
	pc, err := strconv.ParseUint(f[0], 16, 64)
	if err != nil {
		return err.Error()
	}
	fde := table.find(pc)
	if fde == nil {
		return "no entry covers it"
	}
	row, err := fde.rowAt(pc)
	if err != nil {
		return err.Error()
	}
	for i, col := range columns {
		got := ""
		if col == "CFA" {
			got = cfaCell(&row)
		} else if n, ok := regNumber[col]; ok {
			got = cell(row.regs[n])
		} else {
			continue
		}
		want := strings.Replace(f[i+1], "s", "u", 1)
		if col == "CFA" {
			want = f[i+1]
		}
		if got != want {
			return fmt.Sprintf("%s is %s", col, got)
		}
	}
	return ""
}

// A walk over a stack made by hand: three frames, the last of them a signal's.
func TestWalk(t *testing.T) {
	stack := map[uint64]uint64{
		0x1008: 0x400210, // return address of the innermost (CFA = rsp+16)
		0x1010: 0x2000,   // saved rbp of the second (frame pointer chain)
		0x1018: 0x500050, // its return address: unknown code, frame pointer
		0x2000: 0,
		0x2008: 0,
	}
	inner := &Table{fdes: []fde{{lo: 0x100, hi: 0x200, cie: &cie{codeAlign: 1, dataAlign: -8}, code: []byte{
		cfaDefCFA, regRSP, 16, cfaOffset | regRA, 1}}}}
	u := New(func(pc uint64) (Image, bool) {
		if pc >= 0x400000 && pc < 0x401000 {
			return Image{Table: inner, Bias: 0x400000}, true
		}
		return Image{}, false
	})
	mem := func(a uint64) (uint64, bool) { v, ok := stack[a]; return v, ok }
	var regs Regs
	regs[PC], regs[RSP], regs[RBP] = 0x400110, 0x1000, 0x1010
	var pcs []uint64
	complete, err := u.Walk(regs, mem, func(pc, sp uint64) bool { pcs = append(pcs, pc); return true })
	if err != nil || !complete {
		t.Fatalf("complete %v, error %v, frames %x", complete, err, pcs)
	}
	if fmt.Sprintf("%x", pcs) != "[400110 400210 500050]" {
		t.Errorf("frames %x", pcs)
	}
}

func TestBadFrames(t *testing.T) {
	u := New(func(uint64) (Image, bool) { return Image{}, false })
	for _, c := range []struct {
		name string
		regs Regs
		mem  map[uint64]uint64
	}{
		{"nothing readable", Regs{PC: 1, RSP: 0x1000, RBP: 0x1000}, nil},
		{"frame pointer below the stack", Regs{PC: 1, RSP: 0x1000, RBP: 0x800}, nil},
		{"a loop", Regs{PC: 1, RSP: 0x1000, RBP: 0x1000}, map[uint64]uint64{0x1000: 0x1000, 0x1008: 5}},
	} {
		mem := func(a uint64) (uint64, bool) { v, ok := c.mem[a]; return v, ok }
		if complete, err := u.Walk(c.regs, mem, func(pc, sp uint64) bool { return true }); complete || err == nil {
			t.Errorf("%s: complete %v, error %v", c.name, complete, err)
		}
	}
}

// PLT entries come with an expression (as binutils emits it): CFA = rsp + 8 + ((rip & 15) >= 11) <<
// 3.
func TestPLTExpression(t *testing.T) {
	code := []byte{opBreg0 + 7, 8, opBreg0 + 16, 0, opLit0 + 15, opAnd, opLit0 + 11, opGe, opLit0 + 3, opShl, opPlus}
	for _, c := range []struct{ pc, want uint64 }{{0x1000, 0x8008}, {0x100a, 0x8008}, {0x100b, 0x8010}, {0x100f, 0x8010}} {
		regs := Regs{RSP: 0x8000, PC: c.pc}
		if got, err := evaluate(code, &regs, nil); err != nil || got != c.want {
			t.Errorf("pc %#x: %#x, %v; want %#x", c.pc, got, err, c.want)
		}
	}
}

// What names a register that is not followed is an error, not a register.
func TestRegistersThatAreNotFollowed(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}
	for name, code := range map[string][]byte{
		"a rule":     append([]byte{cfaDefCFA, regRSP, 8, cfaRegister, regRBX}, huge...),
		"the CFA":    {cfaDefCFA, 7 + NumRegs, 8},
		"only later": {cfaDefCFA, regRSP, 8, cfaDefCFAReg, 0x87, 0x02},
	} {
		f := fde{lo: 0x100, hi: 0x200, cie: &cie{codeAlign: 1, dataAlign: -8}, code: code}
		row, err := f.rowAt(0x110)
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v, want an error", name, err)
			var regs Regs
			_, _ = apply(&row, &regs, func(uint64) (uint64, bool) { return 0, true })
		}
	}
}

// In .debug_frame an entry may stand before the common one that it names, in either width.
func TestCommonEntryBehindItsUser(t *testing.T) {
	le := binary.LittleEndian
	for _, wide := range []bool{false, true} {
		word := func(b []byte, v uint64) []byte {
			if wide {
				return le.AppendUint64(b, v)
			}
			return le.AppendUint32(b, uint32(v))
		}
		entry := func(id uint64, body []byte) []byte {
			body = append(word(nil, id), body...)
			if wide {
				return append(word([]byte{0xff, 0xff, 0xff, 0xff}, uint64(len(body))), body...)
			}
			return append(word(nil, uint64(len(body))), body...)
		}
		user := le.AppendUint64(le.AppendUint64(nil, 0x1000), 0x100)
		size := uint64(len(entry(0, user)))
		data := append(entry(size, user), entry(^uint64(0), []byte{4, 0, 8, 0, 1, 0x78, 16, cfaDefCFA, regRSP, 8})...)
		table, err := Parse(data, 0, true)
		if err != nil || table.find(0x1010) == nil {
			t.Errorf("wide %v: %v, %d entries", wide, err, len(table.fdes))
			continue
		}
		if row, err := table.find(0x1010).rowAt(0x1010); err != nil || row.cfaReg != RSP || row.cfaOff != 8 {
			t.Errorf("wide %v: CFA at register %d%+d, %v; want rsp+8", wide, row.cfaReg, row.cfaOff, err)
		}
	}
}

// An instruction may set the location; those that follow count from there.
func TestSetLocation(t *testing.T) {
	code := []byte{cfaSetLoc, 0x50, 1, 0, 0, 0, 0, 0, 0, cfaDefCFA, regRSP, 16, cfaAdvance | 8, cfaDefCFA, regRSP, 24}
	f := fde{lo: 0x100, hi: 0x200, cie: &cie{codeAlign: 1, dataAlign: -8, code: []byte{cfaDefCFA, regRSP, 8}}, code: code}
	for pc, want := range map[uint64]int64{0x100: 8, 0x14f: 8, 0x150: 16, 0x157: 16, 0x158: 24} {
		if row, err := f.rowAt(pc); err != nil || row.cfaOff != want {
			t.Errorf("%#x: CFA at rsp%+d, %v; want %+d", pc, row.cfaOff, err, want)
		}
	}
	f.cie.enc = encPCRel | encS4
	if _, err := f.rowAt(0x158); !errors.Is(err, ErrFormat) {
		t.Errorf("a location relative to the section: %v, want an error", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0}, false)
	f.Add([]byte{0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0}, false)
	f.Add([]byte{0x10, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1}, true)
	f.Fuzz(func(t *testing.T, data []byte, debug bool) {
		table, _ := Parse(data, 0x1000, debug)
		for _, e := range table.fdes[:min(len(table.fdes), 16)] {
			row, err := e.rowAt(e.lo + (e.hi-e.lo)/2)
			if err != nil {
				continue
			}
			var regs Regs
			_, _ = apply(&row, &regs, func(a uint64) (uint64, bool) { return a, a&1 == 0 })
		}
	})
}

func BenchmarkWalkRow(b *testing.B) {
	table := tableOf(b, library(b, "libc.so.6"))
	u := New(func(uint64) (Image, bool) { return Image{Table: table}, true })
	for b.Loop() {
		clear(u.rows)
		u.lookup(table.fdes[len(table.fdes)/2].lo + 1)
	}
}

// In an epilogue the rows still say that a register lies on the stack, below the stack pointer by
// now. A copy of the stack does not hold that, but the register has its old value again.
func TestPoppedRegisterKeepsItsValue(t *testing.T) {
	r := row{cfaReg: RSP, cfaOff: 16}
	r.regs[RBP] = rule{kind: offset, n: -24}
	r.regs[3] = rule{kind: offset, n: -16}
	r.regs[PC] = rule{kind: offset, n: -8}
	const sp = 0x7000
	copied := map[uint64]uint64{sp: 0x33, sp + 8: 0x401000}
	mem := func(addr uint64) (uint64, bool) { v, ok := copied[addr]; return v, ok }
	regs := Regs{RBP: 0x1234, RSP: sp, PC: 0x400100}
	if outermost, err := apply(&r, &regs, mem); err != nil || outermost || regs[RBP] != 0x1234 || regs[3] != 0x33 ||
		regs[PC] != 0x401000 || regs[RSP] != sp+16 {
		t.Errorf("registers %#x, %v", regs, err)
	}
	copied[sp-8] = 0x5678 // memory that can be read is believed
	regs = Regs{RBP: 0x1234, RSP: sp, PC: 0x400100}
	if _, err := apply(&r, &regs, mem); err != nil || regs[RBP] != 0x5678 {
		t.Errorf("rbp %#x, %v; want what lies in memory", regs[RBP], err)
	}
	delete(copied, sp+8)
	regs = Regs{RBP: 0x1234, RSP: sp, PC: 0x400100}
	if _, err := apply(&r, &regs, mem); err == nil {
		t.Error("without the return address there is no way on")
	}
}

// What a row without expressions does is the same, whether by the list of what it changes or by the
// row.
func TestPlainRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for range 3000 {
		r := row{cfaReg: uint8(rng.IntN(NumRegs)), cfaOff: int64(rng.IntN(64))*8 - 64}
		kinds := []ruleKind{same, same, same, undefined, offset, offset, valOffset, register}
		for i := range r.regs {
			r.regs[i] = rule{kind: kinds[rng.IntN(len(kinds))], n: int64(rng.IntN(64))*8 - 256}
			if r.regs[i].kind == register {
				r.regs[i].n = int64(rng.IntN(NumRegs))
			}
		}
		var a Regs
		for i := range a {
			a[i] = 1000 + 8*uint64(rng.IntN(100))
		}
		b := a
		mem := func(addr uint64) (uint64, bool) { return addr * 3, addr%5 != 0 }
		c := newCached(r)
		if c.row != nil {
			continue
		}
		plain++
		_, err := apply(&r, &a, mem)
		if got := c.move(&b, mem); !errors.Is(got, err) || err == nil && a != b {
			t.Fatalf("%+v: %v %v, want %v %v", r, b, got, a, err)
		}
	}
	if plain < 1000 {
		t.Errorf("%d plain rows", plain)
	}
}
