package symbol

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"lime/internal/binfile"
)

// use reads all that a file has.
func use(b []byte, addrs []uint64) {
	bin, err := binfile.NewFile(bytes.NewReader(b), "damaged")
	if err != nil {
		return
	}
	t := Open(bin, Options{DebugDirs: []string{"/nonexistent"}})
	defer t.Close()
	for _, pc := range addrs {
		t.Lookup(pc)
	}
}

func TestDamagedDebugInfo(t *testing.T) {
	for _, flags := range [][]string{{"-gdwarf-4"}, {"-gdwarf-5"}} {
		path := compile(t, "gcc", "a.c", programC, append(flags, "-O2")...)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		addrs := textAddrs(t, path, 100)
		r := rand.New(rand.NewPCG(4, 5))
		from := bytes.Index(good, []byte("GNU C")) // the debug sections lie at the end
		from = min(max(from, 0), len(good)/2)
		for range 300 {
			b := slices.Clone(good)
			for range 1 + r.IntN(40) {
				b[from+r.IntN(len(b)-from)] = byte(r.Uint32())
			}
			use(b, addrs)
		}
	}
}

// readSectionsOf reads everything from debug sections, without an ELF file around them.
func readSectionsOf(s sections) {
	valid := func(a uint64) bool { return a < 1<<32 }
	d := &dwarf{sections: s}
	d.parseUnits()
	for _, u := range d.units {
		code := &unitCode{u: u, lines: &lineTable{}, names: map[uint64]names{}}
		code.lines = u.parseLines(u.root.vals[hasStmtList].u, "/dir", valid)
		code.parseScopes(valid)
		tab := &Table{}
		for i := range min(len(code.spans.pieces), 50) {
			p := code.spans.pieces[i]
			row, _ := code.lines.find(p.lo)
			code.chain(p.id, Frame{Line: row.line}, tab)
		}
	}
}

func FuzzSections(f *testing.F) {
	for _, flag := range []string{"-gdwarf-2", "-gdwarf-4", "-gdwarf-5"} {
		path := compile(f, "gcc", "a.c", "static int f(int x){return x*3;} int main(int c,char**v){return f(c)+c%7;}", "-O1", flag)
		s := readSections(open(f, path), "")
		f.Add(s.info, s.abbrev, s.line, slices.Concat(s.ranges, s.rnglists), s.str)
	}
	f.Fuzz(func(t *testing.T, info, abbrev, line, ranges, str []byte) {
		readSectionsOf(sections{info: info, abbrev: abbrev, line: line, ranges: ranges, rnglists: ranges, str: str,
			lineStr: str, strOffsets: info, addr: ranges})
	})
}

func TestSpansFindTheInnermost(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 200 {
		// Nested spans: each lies within one before it, or beside all.
		all := []span{{0, 1000, 0}}
		for id := int32(1); id < 30; id++ {
			p := all[r.IntN(len(all))]
			lo := p.lo + r.Uint64N(p.hi-p.lo)
			s := span{lo, lo + 1 + r.Uint64N(p.hi-lo), id}
			if !crosses(all, s) {
				all = append(all, s)
			}
		}
		want := slices.Clone(all)
		t2 := newSpans(all)
		for pc := range uint64(1010) {
			if got := t2.find(pc); got != slowFind(want, pc) {
				t.Fatalf("%d: %d, want %d in %v", pc, got, slowFind(want, pc), want)
			}
		}
	}
}

func crosses(all []span, s span) bool {
	return slices.ContainsFunc(all, func(o span) bool {
		apart := s.hi <= o.lo || o.hi <= s.lo
		within := s.lo >= o.lo && s.hi <= o.hi
		return !apart && !within
	})
}

// slowFind takes the last of the smallest spans around an address.
func slowFind(all []span, pc uint64) int32 {
	best, size := int32(-1), ^uint64(0)
	for _, s := range all {
		if pc >= s.lo && pc < s.hi && s.hi-s.lo <= size {
			best, size = s.id, s.hi-s.lo
		}
	}
	return best
}

// BenchmarkLookup resolves addresses all over a large Go program: this test.
func BenchmarkLookup(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	bin := open(b, exe)
	if !bin.HasSection(".debug_info") && !bin.HasSection(".zdebug_info") {
		b.Fatal("no debug information")
	}
	addrs := textAddrs(b, exe, 100000)
	for b.Loop() {
		t := Open(bin, Options{})
		for _, pc := range addrs {
			t.Lookup(pc)
		}
	}
}
