package resolve

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lime/internal/binfile"
	"lime/internal/profile"
	"lime/internal/testenv"
)

const source = `#include <stdio.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) int owner(int i, int p)
{
	return i % p == 0; /* decision */
}

__attribute__((noinline)) int work(int n, int p)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		if (owner(i, p)) /* call of the decision */
			s += rand();
	return s;
}

int main(int argc, char **argv)
{
	(void)argv;
	return work(argc * 100, argc) & 1;
}
`

// program compiles the source in dir.
func program(t testing.TB, dir string, flags ...string) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	if err := os.WriteFile(filepath.Join(dir, "lu.c"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcc", append([]string{"-O1", "lu.c", "-o", "lu"}, flags...)...)
	cmd.Dir = dir
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	return filepath.Join(dir, "lu")
}

const bias = 0x10000000

// profileOf makes a profile with a node for every byte of work and main, as if loaded at bias.
func profileOf(t testing.TB, path string) *profile.Profile {
	t.Helper()
	bin, err := binfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	p := profile.New(profile.Meta{})
	top := bin.Segments[len(bin.Segments)-1]
	im := p.AddImage(profile.Image{Path: path, Base: bias, Lo: bias, Hi: bias + top.Addr + top.MemSize, BuildID: bin.BuildID})
	var last profile.NodeID
	for _, name := range []string{"work", "main"} {
		s, ok := bin.Find(name)
		if !ok {
			lo, hi := bin.Text(".text")
			s = binfile.Symbol{Addr: lo, Size: hi - lo}
		}
		for a := s.Addr; a < s.Addr+s.Size; a++ {
			last = p.AddNode(profile.Node{Image: im, Function: profile.None, Addr: bias + a, LastAddr: bias + a})
		}
	}
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: last, EndAddr: p.Tables().Nodes[last].Addr})
	p.AddKind(profile.EventKind{Name: "l1d-miss"})
	at := p.Tables().Nodes[last].Addr
	p.AddEvent(profile.Event{Node: last, Addr: at, Detail: fmt.Sprintf("false sharing with %#x", at)})
	return p
}

// lineOf returns the number of the source line that holds a text.
func lineOf(text string) int32 {
	for i, l := range strings.Split(source, "\n") {
		if strings.Contains(l, text) {
			return int32(i + 1)
		}
	}
	return -1
}

func codes(m *profile.Meta) (out []string) {
	for _, n := range m.Notes {
		out = append(out, n.Code)
	}
	return out
}

func TestInlinedDecision(t *testing.T) {
	path := program(t, t.TempDir(), "-g")
	p := profileOf(t, path)
	tab := p.Tables()
	resolveTables(p.Meta(), tab, Options{})
	if err := profile.Validate(p); err != nil || !p.Meta().Resolved {
		t.Fatal(err)
	}
	found := false
	for _, n := range tab.Nodes {
		f := n.Frames
		if len(f) != 2 || f[0].Line != lineOf("/* decision") {
			continue
		}
		found = true
		if f[0].Function != "owner" || f[1].Function != "work" || f[1].Line != lineOf("call of the decision") {
			t.Fatalf("frames %+v", f)
		}
		if fn := tab.Functions[n.Function]; fn.Name != "work" || fn.Link != "work" || fn.Line != lineOf("int work(") || fn.Entry < bias {
			t.Fatalf("function %+v", fn)
		}
		file := tab.Files[f[0].File]
		if filepath.Base(file.Path) != "lu.c" || !strings.Contains(file.Lines[f[0].Line], "decision") || file.Lines[f[0].Line+5] == "" {
			t.Fatalf("file %+v", file)
		}
	}
	if !found {
		t.Fatalf("no node is at the decision: %+v", tab.Nodes)
	}
	if s := tab.Sections[0]; len(s.Frames) != 1 || s.Frames[0].Function != "main" {
		t.Errorf("section %+v", s)
	}
	if e := tab.Events[0]; len(e.Frames) != 1 || e.Frames[0].Function != "main" {
		t.Errorf("event %+v", e)
	} else if want := fmt.Sprintf("false sharing with lu.c:%d", e.Frames[0].Line); e.Detail != want {
		t.Errorf("detail %q, want %q", e.Detail, want)
	}
	if len(p.Meta().Notes) != 0 {
		t.Errorf("notes %v", p.Meta().Notes)
	}
}

func TestSectionsOfOneLineAreOne(t *testing.T) {
	p := profileOf(t, program(t, t.TempDir(), "-g"))
	tab := p.Tables()
	for i := range tab.Nodes {
		p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.NodeID(i)})
	}
	if err := Memory(p, Options{}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range tab.Sections {
		key := ""
		for _, f := range s.Frames {
			key += fmt.Sprintf("%d ", f.Line)
		}
		if seen[key] {
			t.Errorf("two sections at %s", key)
		}
		seen[key] = true
	}
	if len(tab.Sections) < 3 || len(tab.Sections) > 40 {
		t.Errorf("%d sections", len(tab.Sections))
	}
}

func TestTwiceChangesNothing(t *testing.T) {
	path := program(t, t.TempDir(), "-g")
	p, q := profileOf(t, path), profileOf(t, path)
	resolveTables(p.Meta(), p.Tables(), Options{})
	resolveTables(q.Meta(), q.Tables(), Options{})
	resolveTables(q.Meta(), q.Tables(), Options{})
	if !reflect.DeepEqual(p.Tables(), q.Tables()) || !reflect.DeepEqual(p.Meta(), q.Meta()) {
		t.Errorf("once %+v\ntwice %+v", p.Tables(), q.Tables())
	}
}

func TestWithoutDebugInfo(t *testing.T) {
	for _, c := range []struct {
		flag, prefix, detail string
	}{{"-g0", "work", "false sharing with main+0x"}, {"-s", "lu+0x", "false sharing with lu+0x"}} {
		p := profileOf(t, program(t, t.TempDir(), c.flag))
		resolveTables(p.Meta(), p.Tables(), Options{})
		n := p.Tables().Nodes[0]
		if n.Function == profile.None || !strings.HasPrefix(p.Tables().Functions[n.Function].Name, c.prefix) || len(n.Frames) != 1 {
			t.Errorf("%s: node %+v", c.flag, n)
		}
		if e := p.Tables().Events[0]; !strings.HasPrefix(e.Detail, c.detail) {
			t.Errorf("%s: detail %q, want %q...", c.flag, e.Detail, c.detail)
		}
		if len(n.First) != 0 { // it would be the function once more
			t.Errorf("%s: a first line without a line: %+v", c.flag, n.First)
		}
		if got := codes(p.Meta()); !slices.Equal(got, []string{NoteNoDebugInfo}) {
			t.Errorf("%s: notes %v", c.flag, got)
		}
		if err := profile.Validate(p); err != nil {
			t.Error(err)
		}
	}
}

// Where the files with the split debug information are gone, lines are there and inlined functions
// are not: the profile says so.
func TestWithoutSplitFiles(t *testing.T) {
	dir := t.TempDir()
	path := program(t, dir, "-g", "-gsplit-dwarf")
	split, _ := filepath.Glob(filepath.Join(dir, "*.dwo"))
	if len(split) == 0 {
		t.Fatal("the compiler wrote no .dwo file")
	}
	for _, gone := range []bool{false, true} {
		if gone {
			if err := os.Remove(split[0]); err != nil {
				t.Fatal(err)
			}
		}
		p := profileOf(t, path)
		resolveTables(p.Meta(), p.Tables(), Options{})
		notes := p.Meta().Notes
		if said := len(notes) == 1 && notes[0].Code == NoteSplitMissing &&
			strings.HasSuffix(notes[0].Text, filepath.Base(split[0])); said != gone {
			t.Errorf("gone %v: notes %+v", gone, notes)
		}
	}
}

func TestSourcesAreFoundWhereTheyLie(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".build/a.c", "src/b.c"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777),
			os.WriteFile(filepath.Join(dir, name), nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	f := &finder{dirs: []string{dir}}
	for path, want := range map[string]string{".build/a.c": ".build/a.c", "../.build/a.c": ".build/a.c",
		"/gone/src/b.c": "src/b.c", "../../src/b.c": "src/b.c", "c.c": ""} {
		got, ok := f.find(path)
		if ok != (want != "") || ok && got != filepath.Join(dir, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestMissingAndChangedImages(t *testing.T) {
	path := program(t, t.TempDir(), "-g")
	p := profileOf(t, path)
	p.Tables().Images[0].BuildID = "0000"
	resolveTables(p.Meta(), p.Tables(), Options{})
	if got := codes(p.Meta()); !slices.Equal(got, []string{NoteImageChanged}) || p.Tables().Nodes[0].Frames != nil {
		t.Errorf("changed: %v", p.Meta().Notes)
	}
	p = profileOf(t, path)
	p.Tables().Images[0].Path = "/nonexistent/lu"
	resolveTables(p.Meta(), p.Tables(), Options{})
	if got := codes(p.Meta()); !slices.Equal(got, []string{NoteImageMissing}) {
		t.Errorf("missing: %v", p.Meta().Notes)
	}
	p = profileOf(t, path)
	p.Tables().Images[0].Path = "[vdso]"
	resolveTables(p.Meta(), p.Tables(), Options{})
	if got := codes(p.Meta()); len(got) != 0 {
		t.Errorf("vdso: %v", p.Meta().Notes)
	}
}

func TestSourceElsewhere(t *testing.T) {
	for _, c := range []struct{ name, to string }{
		{"gone", ""}, {"beside the program", "bin/lu.c"}, {"in a tree", "bin/src/lu.c"}, {"above", "lu.c"},
		{"in a named directory", "named/src/lu.c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			build, dir := filepath.Join(t.TempDir(), "src"), t.TempDir()
			for _, d := range []string{build, filepath.Join(dir, "bin/src"), filepath.Join(dir, "named/src")} {
				if err := os.MkdirAll(d, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			exe := program(t, build, "-g")
			path := filepath.Join(dir, "bin/lu")
			os.Rename(exe, path)
			os.Remove(filepath.Join(build, "lu.c"))
			if c.to != "" {
				os.WriteFile(filepath.Join(dir, c.to), []byte(source), 0o666)
			}
			p := profileOf(t, path)
			resolveTables(p.Meta(), p.Tables(), Options{SourceDirs: []string{filepath.Join(dir, "named")}, Context: -1})
			id := slices.IndexFunc(p.Tables().Files, func(f profile.File) bool { return filepath.Base(f.Path) == "lu.c" })
			lines := p.Tables().Files[id].Lines
			if found := strings.Contains(lines[lineOf("/* decision")], "decision"); found != (c.to != "") {
				t.Errorf("lines %v", lines)
			}
			want := NoteSourceNewer // the copy was written after the program
			if c.to == "" {
				want = NoteNoSource
			}
			if got := codes(p.Meta()); !slices.Equal(got, []string{want}) {
				t.Errorf("notes %v", p.Meta().Notes)
			}
		})
	}
}

// A source is held to the program that was built from it, and not to the libraries beside it.
func TestSourceNewer(t *testing.T) {
	dir := t.TempDir()
	exe := program(t, dir, "-g")
	text, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	built := time.Now()
	library := filepath.Join(dir, "libold.so")
	if err := errors.Join(os.WriteFile(library, text, 0o666),
		os.Chtimes(library, built.AddDate(-9, 0, 0), built.AddDate(-9, 0, 0)), os.Chtimes(exe, built, built)); err != nil {
		t.Fatal(err)
	}
	const far = 1 << 40
	for _, c := range []struct {
		written time.Time
		want    []string
	}{{built.AddDate(-1, 0, 0), nil}, {built.AddDate(0, 0, 1), []string{NoteSourceNewer}}} {
		if err := os.Chtimes(filepath.Join(dir, "lu.c"), c.written, c.written); err != nil {
			t.Fatal(err)
		}
		p := profileOf(t, exe)
		tab := p.Tables()
		tab.Images = append([]profile.Image{{Path: library, Base: far, Lo: far, Hi: far + 1<<20}}, tab.Images...)
		for i := range tab.Nodes {
			tab.Nodes[i].Image = 1
		}
		old := tab.Nodes[0].Addr - bias + far
		p.AddNode(profile.Node{Image: 0, Function: profile.None, Addr: old, LastAddr: old})
		resolveTables(p.Meta(), tab, Options{})
		if got := codes(p.Meta()); !slices.Equal(got, c.want) {
			t.Errorf("a source written %v after the program: notes %v, want %v", c.written.Sub(built), p.Meta().Notes, c.want)
		}
	}
}

func TestFileInPlace(t *testing.T) {
	dir := t.TempDir()
	mem := profileOf(t, program(t, dir, "-g"))
	path := filepath.Join(dir, "lime.data")
	w, err := profile.Create(path, profile.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range mem.Tables().Images {
		w.AddImage(x)
	}
	for _, x := range mem.Tables().Nodes {
		w.AddNode(x)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := File(path, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	resolveTables(mem.Meta(), mem.Tables(), Options{})
	if !r.Meta().Resolved || !reflect.DeepEqual(r.Tables().Nodes, mem.Tables().Nodes) ||
		!reflect.DeepEqual(r.Tables().Files, mem.Tables().Files) {
		t.Error("file and memory differ")
	}
}

func TestLineSpans(t *testing.T) {
	for _, c := range []struct {
		lines   []int32
		context int32
		want    string
	}{
		{[]int32{1}, 5, "[[1 6]]"},
		{[]int32{10, 30}, 5, "[[5 15] [25 35]]"},
		{[]int32{10, 21}, 5, "[[5 26]]"},
		{[]int32{10, 12, 11}, 0, "[[10 12]]"},
		{[]int32{1<<31 - 1}, 5, "[[2147483642 2147483647]]"},
	} {
		set := map[int32]bool{}
		for _, l := range c.lines {
			set[l] = true
		}
		if got := fmt.Sprint(lineSpans(set, c.context)); got != c.want {
			t.Errorf("%v +- %d: %s, want %s", c.lines, c.context, got, c.want)
		}
	}
}

func BenchmarkManyNodes(b *testing.B) {
	path := program(b, b.TempDir(), "-g")
	for b.Loop() {
		b.StopTimer()
		p := profileOf(b, path)
		t := p.Tables()
		for n := len(t.Nodes); len(t.Nodes) < 100000; {
			t.Nodes = append(t.Nodes, t.Nodes[len(t.Nodes)-n])
		}
		b.StartTimer()
		resolveTables(p.Meta(), t, Options{})
	}
}
