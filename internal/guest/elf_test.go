package guest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tinyELF is a program of one segment: headers, then code at 0x400000+0x78.
func tinyELF() []byte {
	b := make([]byte, 0x100)
	le := binary.LittleEndian
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 2)  // ET_EXEC
	le.PutUint16(b[18:], 62) // EM_X86_64
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[24:], 0x1400078) // entry
	le.PutUint64(b[32:], 64)
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[54:], 56)
	le.PutUint16(b[56:], 1)
	ph := b[64:]
	le.PutUint32(ph, 1) // PT_LOAD
	le.PutUint32(ph[4:], 5)
	le.PutUint64(ph[16:], 0x1400000)
	le.PutUint64(ph[24:], 0x1400000)
	le.PutUint64(ph[32:], 0x100)
	le.PutUint64(ph[40:], 0x100)
	le.PutUint64(ph[48:], 0x1000)
	copy(b[0x78:], "\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05")
	return b
}

func TestDamagedELF(t *testing.T) {
	le := binary.LittleEndian
	rows := []struct {
		name string
		edit func(b []byte) []byte
		want string
	}{
		{"whole", func(b []byte) []byte { return b }, ""},
		{"empty", func(b []byte) []byte { return nil }, "0 bytes long"},
		{"header cut", func(b []byte) []byte { return b[:40] }, "40 bytes long"},
		{"no magic", func(b []byte) []byte { b[0] = 'x'; return b }, "not an ELF file"},
		{"32-bit", func(b []byte) []byte { b[4] = 1; le.PutUint16(b[18:], 3); return b }, "32-bit x86"},
		{"x32", func(b []byte) []byte { b[4] = 1; return b }, "x32"},
		{"arm", func(b []byte) []byte { le.PutUint16(b[18:], 183); return b }, "64-bit Arm"},
		{"s390", func(b []byte) []byte { b[5] = 2; return b }, "big-endian"},
		{"odd class", func(b []byte) []byte { b[4] = 9; return b }, "class 9"},
		{"object", func(b []byte) []byte { b[16] = 1; return b }, "not a program"},
		{"phentsize", func(b []byte) []byte { b[54] = 55; return b }, "55 bytes"},
		{"no phdrs", func(b []byte) []byte { b[56] = 0; return b }, "0 program headers"},
		{"phdrs outside", func(b []byte) []byte { le.PutUint64(b[32:], 0xf0); return b }, "cut off: program headers"},
		{"phoff overflow", func(b []byte) []byte { le.PutUint64(b[32:], ^uint64(0)-8); return b }, "cut off"},
		{"segment cut", func(b []byte) []byte { le.PutUint64(b[64+32:], 0x200); le.PutUint64(b[64+40:], 0x200); return b }, "segment 0"},
		{"filesz > memsz", func(b []byte) []byte { le.PutUint64(b[64+40:], 1); return b }, "in memory"},
		{"huge", func(b []byte) []byte { le.PutUint64(b[64+40:], 1<<60); return b }, "size"},
		{"offset overflow", func(b []byte) []byte { le.PutUint64(b[64+8:], ^uint64(0)&^0xfff); return b }, "segment 0"},
		{"misaligned", func(b []byte) []byte { le.PutUint64(b[64+16:], 0x1400010); return b }, "same page"},
		{"entry", func(b []byte) []byte { le.PutUint64(b[24:], 5); return b }, "entry point 0x5"},
		{"no load", func(b []byte) []byte { b[64] = 4; return b }, "nothing to load"},
		{"interp", func(b []byte) []byte { b[64] = 3; le.PutUint64(b[64+32:], 5000); return b }, "interpreter"},
	}
	for _, row := range rows {
		b := row.edit(tinyELF())
		_, e := parseELF(bytes.NewReader(b), int64(len(b)))
		switch {
		case row.want == "" && e != nil:
			t.Errorf("%s: %v", row.name, e)
		case row.want != "" && (e == nil || !strings.Contains(e.Why, row.want)):
			t.Errorf("%s: %v, want %q", row.name, e, row.want)
		}
	}
}

func FuzzParseELF(f *testing.F) {
	f.Add(tinyELF())
	if b, err := os.ReadFile("/bin/true"); err == nil {
		f.Add(b[:min(len(b), 4096)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := parseELF(bytes.NewReader(b), int64(len(b))); err == nil {
			if lo, hi := e.span(); hi < lo {
				t.Errorf("span %#x-%#x", lo, hi)
			}
			e.phdrAddr()
		}
	})
}

// newIn runs New with the test's layout.
func newIn(t *testing.T, path string, args ...string) (*Process, *fakeHost, error) {
	t.Helper()
	h := &fakeHost{}
	p, err := New(Config{Path: path, Args: append([]string{path}, args...), Env: []string{"A=b", "PATH=/nowhere"},
		Cores: 2, Layout: testLayout}, h)
	if errors.Is(err, ErrAddressTaken) {
		t.Fatal("the test's addresses are taken in this process:", err)
	}
	if p != nil {
		t.Cleanup(p.Close)
	}
	return p, h, err
}

func TestBadPrograms(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	arm := tinyELF()
	arm[18] = 183
	rows := []struct {
		path   string
		status int
		want   []string
	}{
		{dir + "/missing", 127, []string{"no such file", "check the name"}},
		{put("noexec", "x", 0o644), 126, []string{"not executable", "chmod +x"}},
		{dir, 126, []string{"a directory"}},
		{"nosuchcommand", 127, []string{"command not found", "PATH"}},
		{"", 127, []string{"no program named"}},
		{put("empty", "", 0o755), 126, []string{"an empty file"}},
		{put("text", "hello\n", 0o755), 126, []string{"neither an ELF program nor a script"}},
		{put("arm", string(arm), 0o755), 126, []string{"64-bit Arm", "-m64"}},
		{put("cut", string(tinyELF()[:90]), 0o755), 126, []string{"cut off", "again"}},
		{put("lonely", "#!/no/such/interpreter\n", 0o755), 127, []string{"/no/such/interpreter: no such file"}},
		{put("bare", "#!\n", 0o755), 126, []string{"names no interpreter"}},
		{put("loop", "#!"+dir+"/loop\n", 0o755), 126, []string{"more than 4 deep"}},
	}
	for _, row := range rows {
		_, _, err := newIn(t, row.path)
		var le *LoadError
		if !errors.As(err, &le) {
			t.Errorf("%s: %v, want a LoadError", row.path, err)
			continue
		}
		for _, w := range row.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", row.path, err, w)
			}
		}
		if le.Status != row.status {
			t.Errorf("%s: status %d, want %d", row.path, le.Status, row.status)
		}
	}
}

func TestLoadsAStaticProgram(t *testing.T) {
	b := tinyELF()
	le := binary.LittleEndian
	for _, at := range []int{24, 64 + 16, 64 + 24} { // into the test's low region
		le.PutUint64(b[at:], le.Uint64(b[at:])+0x1000_0000)
	}
	le.PutUint64(b[64+40:], 0x3000) // with a .bss
	le.PutUint32(b[64+4:], 7)
	path := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	p, h, err := newIn(t, path, "one", "two")
	if err != nil {
		t.Fatal(err)
	}
	th := p.Main()
	if th.TID != p.id || th.Name != "prog" || th.Ctx.RIP != 0x11400078 {
		t.Errorf("%+v", th)
	}
	if len(h.images) != 1 || h.images[0].Lo != 0x11400000 || h.images[0].Hi != 0x11403000 || h.images[0].Bias != 0 {
		t.Errorf("images %+v", h.images)
	}
	if code := p.Readable(th.Ctx.RIP, 2); string(code) != "\xb8\x3c" {
		t.Errorf("code %x", code)
	}
	if z := p.Readable(0x11400100, 0x2f00); bytes.Count(z, []byte{0}) != 0x2f00 {
		t.Error("what follows the file's part is not zero")
	}
	checkStack(t, p, th.Ctx.GPR[rsp], []string{path, "one", "two"}, []string{"A=b", "PATH=/nowhere"})
}

// checkStack reads the initial stack as a C library does.
func checkStack(t *testing.T, p *Process, sp uint64, args, env []string) {
	t.Helper()
	if sp%16 != 0 {
		t.Errorf("stack pointer %#x", sp)
	}
	argc, _ := p.mem.load64(sp)
	if int(argc) != len(args) {
		t.Fatalf("argc %d", argc)
	}
	sp += 8
	for _, want := range [][]string{args, env} {
		got, errno := p.mem.strings(sp)
		if errno != 0 || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q %v, want %q", got, errno, want)
		}
		sp += uint64(8 * (len(got) + 1))
	}
	aux := map[uint64]uint64{}
	for {
		k, _ := p.mem.load64(sp)
		v, _ := p.mem.load64(sp + 8)
		if k == atNull {
			break
		}
		aux[k] = v
		sp += 16
	}
	if aux[atPagesz] != 4096 || aux[atEntry] != p.Main().Ctx.RIP || aux[atPhnum] != 1 {
		t.Errorf("auxiliary vector %v", aux)
	}
	if vdso := p.Readable(aux[atSysinfoEhdr], vdsoSize); !bytes.HasPrefix(vdso, vdsoImage()) {
		t.Errorf("vDSO %x", vdso)
	}
	var rnd [16]byte
	if p.mem.read(aux[atRandom], rnd[:]); rnd != fixedRandom {
		t.Errorf("random bytes %x", rnd)
	}
	if s, _ := p.mem.cString(aux[atExecfn], 4096); s != args[0] {
		t.Errorf("execfn %q", s)
	}
}

func TestScriptArguments(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	if err := os.WriteFile(path, []byte("#! /bin/sh  -e x \nexit\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	prog, e := openProgram(path, []string{"s", "a", "b"})
	if e != nil {
		t.Fatal(e)
	}
	defer prog.file.Close()
	if got := strings.Join(prog.args, "|"); got != "/bin/sh|-e x|"+path+"|a|b" {
		t.Errorf("%q", got)
	}
}
