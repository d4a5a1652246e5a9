package resolve

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/binfile"
	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/testenv"
)

func TestLibraryFile(t *testing.T) {
	for _, c := range []struct {
		file string
		want bool
	}{
		{"/usr/include/c++/12/bits/stl_iterator.h", true},
		{"/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/list", true},
		{"/opt/gcc-14/include/c++/14/vector", true},
		{"/usr/lib/gcc/x86_64-linux-gnu/12/include/immintrin.h", true},
		{"/rustc/0123/library/core/src/iter/range.rs", true},
		{"/home/u/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/ops.rs", true},
		{"/usr/local/go/src/slices/sort.go", true},
		{"/home/u/include/lu.h", false},
		{"/usr/src/rustc-1.63.0/library/core/src/iter/range.rs", true}, // as distributions build it
		{"/usr/src/app/lu.c", false},
		{"/home/u/go/src/app/main.go", false},
		{"lu.c", false},
		{"", false},
	} {
		if got := origin.LibraryFile(c.file); got != c.want {
			t.Errorf("%q: %v", c.file, got)
		}
	}
}

const listCC = `#include <list>
__attribute__((noinline)) long sum(const std::list<int> &l) {
	long s = 0;
	for (int x : l) /* loop */
		s += x;
	return s;
}
int main(int argc, char **) {
	std::list<int> l;
	for (int i = 0; i < argc; i++)
		l.push_back(i);
	return sum(l) & 1;
}
`

// TestLoopOverList demands the program's own line for every address of a loop over a library's
// class.
func TestLoopOverList(t *testing.T) {
	testenv.Tool(t, "g++")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.cc"), []byte(listCC), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("g++", "-O2", "-g", "a.cc", "-o", "a")
	cmd.Dir = dir
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("g++: %v %s", err, msg)
	}
	path := filepath.Join(dir, "a")
	bin, err := binfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	for _, all := range []bool{false, true} {
		p := profile.New(profile.Meta{})
		p.AddImage(profile.Image{Path: path, Hi: 1 << 40})
		for _, s := range bin.Symbols() {
			if strings.Contains(s.Name, "sum") && s.Kind == binfile.SymFunc {
				for a := s.Addr; a < s.Addr+s.Size; a++ {
					p.AddNode(profile.Node{Function: profile.None, Addr: a})
				}
			}
		}
		if err := Memory(p, Options{AllFrames: all}); err != nil {
			t.Fatal(err)
		}
		foreign := 0
		for _, n := range p.Tables().Nodes {
			if filepath.Base(p.Tables().Files[n.Frames[0].File].Path) != "a.cc" {
				foreign++
			}
		}
		if len(p.Tables().Nodes) == 0 || foreign > 0 != all {
			t.Errorf("all frames %v: %d of %d nodes are at lines of the library", all, foreign, len(p.Tables().Nodes))
		}
	}
}
