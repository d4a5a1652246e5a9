package symbol

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lime/internal/binfile"
	"lime/internal/testenv"
)

const programCC = `
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
namespace blocks {
struct Owner {
	int p;
	explicit Owner(int n) : p(n) {}
	bool mine(int i, int j) const { return (i + j) % p == 0; }
	template <class F> int each(int n, F f) const {
		int s = 0;
		for (int i = 0; i < n; i++)
			if (mine(i, n)) s += f(i);
		return s;
	}
};
static inline int square(int x) { return x * x + 1; }
__attribute__((noinline)) static int cold(const char *s) { if (!s) throw std::string("no"); return puts(s); }
}
static int sum(const std::vector<int> &v) {
	int s = 0;
	for (int x : v) s += blocks::square(x);
	return s;
}
int main(int argc, char **argv) {
	std::map<std::string, int> m;
	std::vector<int> v;
	for (int i = 0; i < argc * 10; i++) {
		m[std::to_string(i)] += i;
		v.push_back(i ^ 5);
	}
	std::sort(v.begin(), v.end(), [](int a, int b) { return blocks::square(a) < blocks::square(b); });
	blocks::Owner o(argc);
	int s = o.each(100, [&](int i) { return blocks::square(i) + sum(v); });
	try { s += blocks::cold(argc > 5 ? 0 : "x"); } catch (std::string &e) { s++; }
	return s + m.size();
}
`

const programC = `
#include <stdio.h>
#include <stdlib.h>
static inline int step(int x) { return x % 3 ? x * 7 : x / 2; }
static int loop(int n) { int s = 0; for (int i = 0; i < n; i++) { s += step(i); if (s & 64) s ^= rand(); } return s; }
int two(int n) { return loop(n) + loop(n * 2); }
static int cmp(const void *a, const void *b) { return step(*(const int *)a) - step(*(const int *)b); }
int main(int argc, char **argv) { int v[64]; for (int i = 0; i < 64; i++) v[i] = two(i); qsort(v, 64, 4, cmp); printf("%d\n", v[argc]); return 0; }
`

// compile builds a source and returns the program; without the compiler the test skips.
func compile(t testing.TB, tool, file, source string, flags ...string) string {
	t.Helper()
	if tool != "go" {
		testenv.Tool(t, tool)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, append([]string{file, "-o", "prog"}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if tool == "go" {
		cmd.Args = append([]string{"go", "build", "-o", "prog"}, append(flags, file)...)
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, flags, err, msg)
	}
	return filepath.Join(dir, "prog")
}

// open opens a program until the test ends.
func open(t testing.TB, path string) *binfile.File {
	t.Helper()
	bin, err := binfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bin.Close() })
	return bin
}

func table(t testing.TB, path string) *Table {
	t.Helper()
	tab := Open(open(t, path), Options{})
	t.Cleanup(func() { tab.Close() })
	return tab
}

// textAddrs picks addresses of .text, spread over all of it.
func textAddrs(t testing.TB, path string, n int) []uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	r := rand.New(rand.NewPCG(1, 1))
	if s.Size < uint64(n) {
		n = int(s.Size)
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = s.Addr + uint64(i)*s.Size/uint64(n) + r.Uint64N(max(1, s.Size/uint64(n)))
	}
	return out
}

// addr2line asks binutils or LLVM: for every address its frames, innermost first.
func addr2line(t testing.TB, tool, path string, addrs []uint64) [][]Frame {
	t.Helper()
	testenv.Tool(t, tool)
	var in bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(tool, "-a", "-i", "-f", "-C", "-e", path)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return parseAddr2line(string(out))
}

var discriminator = regexp.MustCompile(` \(discriminator.*`)

func parseAddr2line(out string) (all [][]Frame) {
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "0x") {
			all = append(all, nil)
			continue
		}
		fn := lines.Text()
		lines.Scan()
		pos := discriminator.ReplaceAllString(lines.Text(), "")
		i := strings.LastIndex(pos, ":")
		line, _ := strconv.Atoi(pos[i+1:])
		all[len(all)-1] = append(all[len(all)-1], Frame{Function: fn, File: pos[:i], Line: int32(line)})
	}
	return all
}

var rustHash = regexp.MustCompile(`::h[0-9a-f]{16}`)

// plain makes names of both sides comparable: binutils prints clone suffixes and spaces
// differently.
func plain(s string) string {
	s = regexp.MustCompile(` ?\[(clone|\.).*\]|\.(part|isra|constprop|cold|lto_priv)\b.*`).ReplaceAllString(s, "")
	return strings.NewReplacer(" ", "", "(anonymousnamespace)", "").Replace(s)
}

// sameName allows for binutils leaving out the scope of static functions.
func sameName(got, want string) bool {
	if rustHash.MatchString(want) || strings.HasSuffix(want, ".abi0") {
		return true // older tools do not demangle these
	}
	got, want = plain(got), plain(want)
	return got == want || strings.Contains(got, "::"+want+"(")
}

func sameFrames(got, want []Frame) bool {
	if len(got) != len(want) {
		return false
	}
	for i, g := range got {
		w := want[i]
		// For static functions binutils gives the symbol around the inlined code, not the inlined
		// function.
		named := sameName(g.Function, w.Function) || i == 0 && len(want) > 1 && sameName(got[len(got)-1].Function, w.Function)
		if g.Line != w.Line || !named {
			return false
		}
		if filepath.Clean(g.File) != filepath.Clean(w.File) {
			return false
		}
	}
	return true
}

// unsure reports whether addr2line found no line.
func unsure(fs []Frame) bool {
	for _, f := range fs {
		if f.Line == 0 {
			return true
		}
	}
	return false
}

// compare holds Lookup against addr2line and returns the share of equal answers.
func compare(t *testing.T, tool, path string, addrs []uint64) float64 {
	t.Helper()
	tab := table(t, path)
	want := addr2line(t, tool, path, addrs)
	if len(want) != len(addrs) {
		t.Fatalf("addr2line answered %d of %d", len(want), len(addrs))
	}
	same, known, shown := 0, 0, 0
	for i, pc := range addrs {
		if _, named := tab.symbolAt(pc); !named || unsure(want[i]) {
			continue // padding between functions, which addr2line gives to the one before
		}
		known++
		got := tab.Lookup(pc).Frames
		if sameFrames(got, want[i]) {
			same++
		} else if shown++; shown <= 4 {
			t.Logf("%#x:\n got %+v\nwant %+v", pc, got, want[i])
		}
	}
	t.Logf("%d of %d addresses compared", known, len(addrs))
	if known == 0 {
		t.Fatal("addr2line knows no line")
	}
	return float64(same) / float64(known)
}

func TestAgreesWithAddr2line(t *testing.T) {
	for _, c := range []struct {
		tool, file, source string
		flags              []string
		oracle             string // binutils errs on range lists by index, 64-bit DWARF 5, link-time optimization, type units of DWARF 5
	}{
		{"g++", "a.cc", programCC, []string{"-O2", "-g"}, "addr2line"},
		{"g++", "a.cc", programCC, []string{"-O2", "-gdwarf-4", "-ffunction-sections", "-no-pie"}, "addr2line"},
		{"g++", "a.cc", programCC, []string{"-O0", "-g"}, "addr2line"},
		{"gcc", "a.c", programC, []string{"-O2", "-gdwarf-2"}, "addr2line"},
		{"gcc", "a.c", programC, []string{"-O2", "-gdwarf-3"}, "addr2line"},
		{"gcc", "a.c", programC, []string{"-O2", "-gdwarf-4"}, "addr2line"},
		{"gcc", "a.c", programC, []string{"-O3", "-gdwarf-5"}, "addr2line"},
		{"gcc", "a.c", programC, []string{"-O2", "-gdwarf64", "-gdwarf-5"}, "llvm-addr2line"},
		{"gcc", "a.c", programC, []string{"-O2", "-g", "-gz=zlib"}, "addr2line"},
		{"gcc", "a.c", programC, []string{"-O2", "-g", "-flto"}, "llvm-addr2line"},
		{"gcc", "a.c", programC, []string{"-O2", "-g1"}, "addr2line"},
		{"g++", "a.cc", programCC, []string{"-O2", "-gdwarf-4", "-fdebug-types-section", "-gz=zlib-gnu"}, "addr2line"},
		{"clang", "a.c", programC, []string{"-O2", "-gline-tables-only"}, "llvm-addr2line"},
		{"clang", "a.c", programC, []string{"-O2", "-gdwarf-2"}, "addr2line"},
		{"clang", "a.c", programC, []string{"-O2", "-gdwarf-3"}, "addr2line"},
		{"clang", "a.c", programC, []string{"-O2", "-gdwarf-4"}, "addr2line"},
		{"clang", "a.c", programC, []string{"-O2", "-gdwarf-5"}, "llvm-addr2line"},
		{"clang++", "a.cc", programCC, []string{"-O2", "-g"}, "llvm-addr2line"},
	} {
		t.Run(c.tool+strings.Join(c.flags, ""), func(t *testing.T) {
			t.Parallel()
			path := compile(t, c.tool, c.file, c.source, c.flags...)
			if share := compare(t, c.oracle, path, textAddrs(t, path, 1000)); share < 0.98 {
				t.Errorf("%.1f %% agree", share*100)
			} else {
				t.Logf("%.2f %% agree", share*100)
			}
		})
	}
}
