package image

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lime/internal/binfile"
	"lime/internal/testenv"
)

// The innermost symbol that holds an address, against looking at them all.
func TestFindAgreesWithLookingAtAll(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 300 {
		var syms []binfile.Symbol
		for at := uint64(10); len(syms) < 1+rng.Intn(12); at += uint64(rng.Intn(5)) {
			syms = append(syms, binfile.Symbol{Name: fmt.Sprint("s", len(syms)), Addr: at, Size: uint64(rng.Intn(12))})
		}
		ends := reach(syms)
		for link := uint64(0); link < 60; link++ {
			got, ok := at(syms, find(syms, ends, link))
			want, found := slowest(syms, link)
			if ok != found || ok && got.Name != want.Name {
				t.Fatalf("%d in %+v: %s %v, want %s %v", link, syms, got.Name, ok, want.Name, found)
			}
		}
	}
}

// slowest: the last group of symbols of one address of which one holds the address; else the last
// group before it, if its first has no size.
func slowest(syms []binfile.Symbol, link uint64) (out binfile.Symbol, ok bool) {
	holder, last := -1, -1
	for i, s := range syms {
		if s.Addr <= link {
			last = i
			if link < s.Addr+s.Size {
				holder = i
			}
		}
	}
	name := func(i int) binfile.Symbol {
		for k := range syms {
			if syms[k].Addr == syms[i].Addr {
				return syms[k]
			}
		}
		return binfile.Symbol{}
	}
	switch {
	case holder >= 0:
		return name(holder), true
	case last >= 0 && name(last).Size == 0:
		return name(last), true
	}
	return out, false
}

const program = `
#include <pthread.h>
int counter[4];
__attribute__((noinline)) int work(int n) { return n + counter[n & 3]; }
int main(int argc, char **argv) { pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); return work(argc); }
`

func TestFileOfAProgram(t *testing.T) {
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	src, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.out")
	if err := os.WriteFile(src, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("gcc", "-O1", "-fcf-protection=none", "-pthread", "-o", out, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	f := Open(out)
	f.Lo, f.Hi, f.Bias = 0x7000_0000, 0x7100_0000, 0x7000_0000
	var m Set
	m.Add(f)
	defer m.Forget()
	work, ok := f.Definition("work")
	if !ok || f.Go || f.Library || f.BuildID() == "" {
		t.Fatalf("work: %v, %+v", ok, f)
	}
	if _, s, ok := m.Func(work + f.Bias + 1); !ok || s.Name != "work" || f.Start(work+1) != work || f.Next(s) <= work {
		t.Errorf("work is %+v", s)
	}
	if !m.Own(work+f.Bias) || m.Own(0x10) || m.At(f.Hi) != nil {
		t.Error("work is the program's own, and what is in no file is not")
	}
	if u, ok := m.Unwind(work + f.Bias); !ok || u.Table == nil || u.Bias != f.Bias || !f.Framed(work) {
		t.Errorf("no frames: %+v", u)
	}
	stub := false
	for _, s := range f.Code() {
		if s.Kind == binfile.SymPLT && s.Name == "pthread_mutex_lock" {
			stub = true
			if m.Own(s.Addr + f.Bias) {
				t.Error("a stub is the program's own")
			}
		}
	}
	if !stub {
		t.Error("no stub leads to pthread_mutex_lock")
	}
	found := false
	for _, s := range f.Bin.Symbols() {
		if s.Name == "counter" {
			v, ok := f.Variable(s.Addr + 5)
			found = ok && v.Name == "counter"
		}
	}
	if !found {
		t.Error("no variable holds counter[1]")
	}
	if !f.Own(work + 1) {
		t.Error("work is not the program's own")
	}
	f.Define(binfile.Symbol{Name: "GOMP_barrier", Addr: work + 2, Size: 1})
	if f.Own(work+2) || !f.Own(work+1) {
		t.Error("a function of libgomp's, defined later, is the program's own, or the one around it is not")
	}
	f.Define(binfile.Symbol{Name: "patched", Addr: work + 1, Size: 1})
	if s, ok := f.Func(work + 1); !ok || s.Name != "patched" {
		t.Errorf("%+v", s)
	}
}

func TestFileThatCannotBeRead(t *testing.T) {
	f := Open(filepath.Join(t.TempDir(), "libgomp.so.1"))
	f.Hi = 100
	if _, ok := f.Func(1); ok || f.Own(1) || !f.Library || f.Frames() != nil || f.BuildID() != "" || f.Start(1) != 0 {
		t.Errorf("%+v", f)
	}
	f.Close()
}
