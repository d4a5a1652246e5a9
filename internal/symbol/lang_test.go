package symbol

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/binfile"
	"lime/internal/testenv"
)

const programGo = `package main

import "fmt"

func decide(i int) bool { return i%3 == 0 }

//go:noinline
func work(n int) (s int) {
	for i := range n {
		if decide(i) {
			s += i
		}
	}
	return s
}

func main() { fmt.Println(work(100)) }
`

const programRust = `
use std::collections::HashMap;
struct Tree { left: Option<Box<Tree>>, v: u32 }
impl Tree { #[inline] fn odd(&self) -> bool { self.v % 2 == 1 }
  fn sum(&self) -> u32 { (if self.odd() { self.v } else { 1 }) + self.left.as_ref().map_or(0, |l| l.sum()) } }
fn build(n: u32) -> Option<Box<Tree>> { if n == 0 { None } else { Some(Box::new(Tree { left: build(n - 1), v: n * 3 })) } }
fn main() {
  let mut m = HashMap::new();
  for i in 0..std::env::args().count() as u32 + 5 { m.insert(i, build(i)); }
  let s: u32 = m.values().flatten().map(|t| t.sum()).sum();
  println!("{}", s);
}
`

func TestGoAgreesWithAddr2line(t *testing.T) {
	path := compile(t, "go", "a.go", programGo)
	if share := compare(t, "llvm-addr2line", path, textAddrs(t, path, 1500)); share < 0.98 {
		t.Errorf("%.1f %% agree", share*100)
	}
}

func TestRustAgreesWithAddr2line(t *testing.T) {
	path := compile(t, "rustc", "a.rs", programRust, "-O", "-g")
	if share := compare(t, "llvm-addr2line", path, textAddrs(t, path, 1500)); share < 0.97 {
		t.Errorf("%.1f %% agree", share*100)
	}
}

// TestGoStripped uses the table that Go programs need at run time.
func TestGoStripped(t *testing.T) {
	full := compile(t, "go", "a.go", programGo)
	bare := compile(t, "go", "a.go", programGo, "-ldflags=-s -w")
	want, got := table(t, full), table(t, bare)
	bin := open(t, full)
	s, ok := bin.Find("main.work")
	if !ok {
		t.Fatal("no symbol main.work")
	}
	if !got.HasLines() {
		t.Error("no lines")
	}
	for pc := s.Addr; pc < s.Addr+s.Size; pc++ {
		a, b := want.Lookup(pc), got.Lookup(pc)
		if b.Func.Name != "main.work" || b.Func.Entry != a.Func.Entry || filepath.Base(b.Frames[0].File) != "a.go" {
			t.Fatalf("%#x: %+v, want %+v", pc, b, a)
		}
	}
	lo, size := bin.Text(".text")
	for pc := lo; pc < lo+size; pc += 7 { // the bytes between functions too
		for _, f := range got.Lookup(pc).Frames {
			if f.Line < 0 {
				t.Fatalf("%#x: %+v", pc, f)
			}
		}
	}
}

func TestSplitDWARF(t *testing.T) {
	for _, c := range [][]string{
		{"gcc", "-gdwarf-4", "-gsplit-dwarf"}, {"gcc", "-gdwarf-5", "-gsplit-dwarf"},
		{"clang", "-gdwarf-4", "-gsplit-dwarf"}, {"clang", "-gdwarf-5", "-gsplit-dwarf"},
	} {
		t.Run(strings.Join(c, ""), func(t *testing.T) {
			whole := compile(t, c[0], "a.c", programC, "-O2", c[1])
			split := compile(t, c[0], "a.c", programC, append([]string{"-O2"}, c[1:]...)...)
			if dwo, _ := filepath.Glob(filepath.Join(filepath.Dir(split), "*.dwo")); len(dwo) == 0 {
				t.Fatal("the compiler wrote no .dwo file")
			}
			sameTables(t, whole, split)
		})
	}
}

// sameTables compares two builds of one program.
func sameTables(t *testing.T, path, other string) {
	t.Helper()
	a, b := table(t, path), table(t, other)
	inlined := 0
	for _, pc := range textAddrs(t, path, 3000) {
		x, y := a.Lookup(pc), b.Lookup(pc)
		if len(x.Frames) != len(y.Frames) {
			t.Fatalf("%#x: %+v, want %+v", pc, y, x)
		}
		for i := range x.Frames {
			f, g := x.Frames[i], y.Frames[i]
			f.File, g.File = filepath.Base(f.File), filepath.Base(g.File)
			if f != g {
				t.Fatalf("%#x: %+v, want %+v", pc, y, x)
			}
		}
		inlined += len(x.Frames) - 1
	}
	if inlined < 50 || len(b.MissingSplit()) > 0 {
		t.Errorf("%d inlined frames, missing %v", inlined, b.MissingSplit())
	}
}

// TestSharedDWARF compares a program with itself after dwz moved common parts to another file.
func TestSharedDWARF(t *testing.T) {
	testenv.Tool(t, "dwz")
	whole := compile(t, "g++", "a.cc", programCC, "-O2", "-gdwarf-4")
	dir := t.TempDir()
	one, two := filepath.Join(dir, "1", "prog"), filepath.Join(dir, "2", "prog")
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{one, two} {
		os.Mkdir(filepath.Dir(p), 0o777)
		if err := os.WriteFile(p, b, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if msg, err := exec.Command("dwz", "-m", filepath.Join(dir, "common.debug"), one, two).CombinedOutput(); err != nil {
		t.Fatalf("dwz: %v\n%s", err, msg)
	}
	sameTables(t, whole, one)
}

func TestStripped(t *testing.T) {
	testenv.Tool(t, "strip")
	path := compile(t, "gcc", "a.c", programC, "-O2", "-g")
	bin := open(t, path)
	s, _ := bin.Find("two")
	if msg, err := exec.Command("strip", path).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v\n%s", err, msg)
	}
	loc := table(t, path).Lookup(s.Addr + 3)
	if loc.Func.Entry != s.Addr || !strings.HasPrefix(loc.Func.Name, "prog+0x") || len(loc.Frames) != 1 || loc.Frames[0].File != "" {
		t.Errorf("%+v", loc)
	}
}

func TestPLTName(t *testing.T) {
	path := compile(t, "gcc", "a.c", programC, "-O2", "-g")
	tab := table(t, path)
	n := 0
	for _, s := range tab.bin.Symbols() {
		if s.Kind == binfile.SymPLT {
			n++
			if loc := tab.Lookup(s.Addr); loc.Func.Name != s.Name+"@plt" {
				t.Errorf("%s: %+v", s.Name, loc)
			}
		}
	}
	if n == 0 {
		t.Error("no PLT entry")
	}
}

func TestFunctionFacts(t *testing.T) {
	path := compile(t, "g++", "a.cc", programCC, "-O1", "-g")
	bin := open(t, path)
	for _, s := range bin.Symbols() {
		if s.Name != "main" && !strings.Contains(s.Name, "cold") || s.Kind != binfile.SymFunc || strings.HasSuffix(s.Name, ".cold") {
			continue
		}
		f := table(t, path).Lookup(s.Addr + s.Size - 1).Func
		if f.Entry != s.Addr || f.Link != s.Name || filepath.Base(f.File) != "a.cc" || f.Line == 0 || f.Name != Demangle(s.Name) {
			t.Errorf("%s: %+v", s.Name, f)
		}
	}
}

// TestTypeUnits compares with a build without type units, which stand between the compile units.
func TestTypeUnits(t *testing.T) {
	whole := compile(t, "g++", "a.cc", programCC, "-O2", "-gdwarf-5")
	sameTables(t, whole, compile(t, "g++", "a.cc", programCC, "-O2", "-gdwarf-5", "-fdebug-types-section"))
}

// Where only names are wanted, those of a separate debug file are there, its lines are not, and it
// counts as debug information none the less.
func TestNamesOnly(t *testing.T) {
	testenv.Tool(t, "objcopy")
	path := compile(t, "gcc", "a.c", programC, "-O2", "-g")
	bin := open(t, path)
	s, _ := bin.Find("two")
	for _, args := range [][]string{{"objcopy", "--only-keep-debug", path, path + ".debug"},
		{"objcopy", "--strip-all", "--add-gnu-debuglink=" + path + ".debug", path}} {
		if msg, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, msg)
		}
	}
	stripped := open(t, path)
	for _, names := range []bool{false, true} {
		tab := Open(stripped, Options{NamesOnly: names})
		loc := tab.Lookup(s.Addr + 3)
		if loc.Func.Entry != s.Addr || loc.Func.Link != "two" || !tab.HasLines() || (loc.Frames[0].Line == 0) != names {
			t.Errorf("names only %v: %+v, lines %v", names, loc, tab.HasLines())
		}
		tab.Close()
	}
}
