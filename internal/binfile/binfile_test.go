package binfile

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lime/internal/testenv"
)

const barrierC = `
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t b;
__attribute__((noinline)) int work(int n) { return printf("%d\n", n); }
int main(int argc, char **argv) {
	pthread_barrier_init(&b, 0, 1);
	pthread_barrier_wait(&b);
	return work(argc) + (int)(long)&fputs;
}
`

// build compiles a C program with gcc or clang; without it the test skips.
func build(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	testenv.Tool(t, compiler)
	dir := t.TempDir()
	src, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.out")
	if err := os.WriteFile(src, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(compiler, append([]string{src, "-o", out}, flags...)...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, flags, err, msg)
	}
	return out
}

func open(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func tool(t testing.TB, name string, args ...string) string {
	t.Helper()
	testenv.Tool(t, name)
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

var pltLine = regexp.MustCompile(`^([0-9a-f]+) <([^@>]+)@plt>:`)

// objdumpPLT lists the PLT entries as "address name".
func objdumpPLT(t *testing.T, path string) (out []string) {
	lines := bufio.NewScanner(strings.NewReader(tool(t, "objdump", "-d", path)))
	for lines.Scan() {
		if m := pltLine.FindStringSubmatch(lines.Text()); m != nil && !strings.HasPrefix(m[2], "*") {
			out = append(out, strings.TrimLeft(m[1], "0")+" "+m[2])
		}
	}
	slices.Sort(out)
	return out
}

func TestPLTNamesAgreeWithObjdump(t *testing.T) {
	paths := []string{"/bin/bash", "/usr/bin/perl", "/usr/bin/git", "/usr/bin/objdump"}
	for _, flags := range [][]string{
		{"-pthread"}, {"-pthread", "-fcf-protection=none"}, {"-pthread", "-no-pie"}, {"-pthread", "-Wl,-z,now"},
		{"-pthread", "-Wl,-z,lazy", "-fcf-protection=full"}, {"-pthread", "-fno-plt"},
	} {
		paths = append(paths, build(t, "gcc", barrierC, flags...))
	}
	total := 0
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		var got []string
		for _, s := range open(t, path).Symbols() {
			if s.Kind == SymPLT {
				got = append(got, fmt.Sprintf("%x %s", s.Addr, s.Name))
			}
		}
		slices.Sort(got)
		want := objdumpPLT(t, path)
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: no PLT entry %s", path, w)
			}
		}
		total += len(want)
	}
	if total < 10 {
		t.Fatalf("only %d entries compared", total)
	}
}

func TestSymbolsAgreeWithNm(t *testing.T) {
	path := build(t, "gcc", barrierC, "-pthread", "-g")
	syms := open(t, path).Symbols()
	n := 0
	for _, line := range strings.Split(tool(t, "nm", "--defined-only", path), "\n") {
		var addr uint64
		var typ, name string
		if k, _ := fmt.Sscanf(line, "%x %s %s", &addr, &typ, &name); k != 3 || !strings.Contains("tT", typ) {
			continue
		}
		n++
		if !slices.ContainsFunc(syms, func(s Symbol) bool { return s.Name == name && s.Addr == addr }) {
			t.Errorf("no symbol %s at %#x", name, addr)
		}
	}
	if n < 4 || !slices.IsSortedFunc(syms, func(a, b Symbol) int { return compareSymbols(&a, &b) }) {
		t.Errorf("%d symbols compared", n)
	}
}

func TestHeaderFacts(t *testing.T) {
	path := build(t, "gcc", barrierC, "-pthread", "-no-pie", "-Wl,--build-id=0x0123456789abcdef")
	f := open(t, path)
	if f.BuildID != "0123456789abcdef" || f.Type != elf.ET_EXEC || !strings.Contains(f.Interp, "ld-linux") {
		t.Errorf("build id %q, type %v, interpreter %q", f.BuildID, f.Type, f.Interp)
	}
	s, ok := f.Find("main")
	if !ok || s.Kind != SymFunc || s.Size == 0 || len(f.ReadAddr(1, 1)) != 0 {
		t.Errorf("main: %+v", s)
	}
	if b := f.ReadAddr(s.Addr, 4); len(b) != 4 {
		t.Errorf("%d bytes of main", len(b))
	}
	for _, seg := range f.Segments {
		if addr, ok := f.CodeAddr(seg.Offset); seg.Flags&elf.PF_X != 0 && (!ok || addr != seg.Addr) {
			t.Errorf("offset %#x is at %#x", seg.Offset, addr)
		}
	}
	if data, addr, err := f.EHFrame(); err != nil || len(data) == 0 || addr == 0 {
		t.Errorf("eh_frame: %d bytes at %#x, %v", len(data), addr, err)
	}
}

// A segment may begin within the page that the one before it ends in, at another address.
func TestCodeThatSharesItsFirstPage(t *testing.T) {
	f := &File{Segments: []Segment{{Addr: 0, Offset: 0, FileSize: 0x16120, MemSize: 0x16120, Flags: elf.PF_R},
		{Addr: 0x17120, Offset: 0x16120, FileSize: 0x44960, MemSize: 0x44960, Flags: elf.PF_R | elf.PF_X}}}
	for off, want := range map[uint64]uint64{0x16000: 0x17000, 0x16120: 0x17120, 0x20000: 0x21000} {
		if addr, ok := f.CodeAddr(off); !ok || addr != want {
			t.Errorf("offset %#x is at %#x, want %#x", off, addr, want)
		}
	}
	if addr, ok := f.CodeAddr(0x1000); ok {
		t.Errorf("there is no code at offset 0x1000, but %#x is given", addr)
	}
}

func TestSeparateDebugFiles(t *testing.T) {
	for _, c := range []struct{ name, where string }{
		{"build id", "dbg/.build-id/01/23456789abcdef.debug"},
		{"link beside", "a.out.debug"},
		{"link in .debug", ".debug/a.out.debug"},
		{"link under the root", "dbg/DIR/a.out.debug"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := build(t, "gcc", barrierC, "-pthread", "-g", "-Wl,--build-id=0x0123456789abcdef")
			dir := filepath.Dir(path)
			debug := filepath.Join(dir, strings.Replace(c.where, "DIR", dir, 1))
			os.MkdirAll(filepath.Dir(debug), 0o777)
			full := filepath.Join(dir, "a.out.debug")
			tool(t, "objcopy", "--only-keep-debug", path, full)
			tool(t, "objcopy", "--strip-debug", "--add-gnu-debuglink="+full, path)
			if c.name == "link under the root" || c.name == "link beside" || c.name == "link in .debug" {
				tool(t, "objcopy", "--remove-section=.note.gnu.build-id", path)
			}
			if debug != full {
				if err := os.Rename(full, debug); err != nil {
					t.Fatal(err)
				}
			}
			d, err := open(t, path).OpenDebug([]string{filepath.Join(dir, "dbg")})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if d.Path != debug || !d.HasSection(".debug_info") || d.HasSection(".text") {
				t.Errorf("found %s", d.Path)
			}
		})
	}
}

func TestMiniSymbols(t *testing.T) {
	path := build(t, "gcc", barrierC, "-pthread")
	packed := filepath.Join(t.TempDir(), "mini.xz")
	if err := os.WriteFile(packed, []byte(tool(t, "xz", "-c", path)), 0o666); err != nil {
		t.Fatal(err)
	}
	want, _ := open(t, path).Find("work")
	tool(t, "strip", path)
	if s, ok := open(t, path).Find("work"); ok {
		t.Fatalf("%+v is still there", s)
	}
	tool(t, "objcopy", "--add-section", ".gnu_debugdata="+packed, path)
	if s, ok := open(t, path).Find("work"); !ok || s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	for _, damaged := range []string{"", "\xfd7zXZ\x00\x00\x04", strings.Repeat("\x21", 40)} {
		if _, err := unxz([]byte(damaged)); err == nil {
			t.Errorf("%q: no error", damaged)
		}
	}
}

func TestNotELF(t *testing.T) {
	for _, path := range []string{"binfile_test.go", ".", "/dev/null", "/nonexistent"} {
		if f, err := Open(path); err == nil {
			f.Close()
			t.Errorf("%s: no error", path)
		}
	}
}

// use calls everything, as FuzzFile and TestDamaged do.
func use(b []byte) {
	f, err := NewFile(bytes.NewReader(b), "fuzz")
	if err != nil {
		return
	}
	f.Symbols()
	f.EHFrame()
	f.debugLink()
	f.Section(".debug_info")
	f.ReadAddr(f.Entry, 64)
}

func TestDamaged(t *testing.T) {
	b, err := os.ReadFile(build(t, "gcc", barrierC, "-pthread"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(b); n += 97 {
		use(b[:n])
	}
	// Headers of file, segments and sections with one byte changed.
	head := int(min(uint64(len(b)), 1024))
	for i := range head {
		c := slices.Clone(b)
		c[i] ^= 0xff
		use(c)
	}
	for i := len(b) - 2048; i < len(b); i += 3 {
		c := slices.Clone(b)
		c[i] ^= 0x81
		use(c)
	}
}

func FuzzFile(f *testing.F) {
	b, err := os.ReadFile(build(f, "gcc", barrierC, "-pthread", "-Wl,-z,max-page-size=4096", "-s"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, b []byte) { use(b) })
}
