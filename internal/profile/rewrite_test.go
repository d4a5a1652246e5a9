package profile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// edit does what the resolver does.
func edit(m *Meta, t *Tables) error {
	m.Resolved = true
	m.Notes = append(m.Notes, Note{Code: "no-debug-info", Text: "/bin/app", N: 1})
	f := t.AddFile(File{Path: "new.c", Lines: map[int32]string{7: "seven"}})
	fn := t.AddFunction(Function{Image: 0, Name: "g", File: f})
	for i := range t.Nodes {
		t.Nodes[i].Function = fn
		t.Nodes[i].Frames = []Frame{{File: f, Line: int32(i % 3)}}
	}
	return nil
}

func TestRewriteInPlaceAndToCopy(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	writeFile(t, a, 6, 20)
	if err := Rewrite(a, b, edit); err != nil {
		t.Fatal(err)
	}
	if err := Rewrite(a, a, edit); err != nil {
		t.Fatal(err)
	}
	mem := New(Meta{})
	fill(t, mem, 6, 20)
	edit(&mem.meta, &mem.tables)
	sameProfile(t, openFile(t, a), mem)
	x, _ := os.ReadFile(a)
	y, _ := os.ReadFile(b)
	if !bytes.Equal(x, y) || len(x) == 0 {
		t.Error("copy and original differ")
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("files left: %v", files)
	}
}

func TestRewriteKilledRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	killWriter(t, path, 300*time.Millisecond)
	before := openFile(t, path)
	n := before.InstanceCount(0)
	before.Close()
	if err := Rewrite(path, path, func(m *Meta, t *Tables) error { m.Resolved = true; return nil }); err != nil {
		t.Fatal(err)
	}
	r := openFile(t, path)
	if r.InstanceCount(0) != n || n == 0 || !r.Meta().Resolved {
		t.Errorf("%d instances of %d, resolved %v", r.InstanceCount(0), n, r.Meta().Resolved)
	}
	if err := Validate(r); err != nil {
		t.Error(err)
	}
}

func TestRewriteKeepsFileOnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	writeFile(t, path, 6, 3)
	before, _ := os.ReadFile(path)
	stop := errors.New("stop")
	for _, c := range []struct {
		edit func(*Meta, *Tables) error
		want string
	}{
		{func(*Meta, *Tables) error { return stop }, "stop"},
		{func(_ *Meta, t *Tables) error { t.Nodes = t.Nodes[:1]; return nil }, "were removed"},
		{func(_ *Meta, t *Tables) error { t.Nodes[0].Function = 99; return nil }, "node 0: function 99 does not exist"},
	} {
		if err := Rewrite(path, path, c.edit); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file has changed")
	}
}

func TestMergeSections(t *testing.T) {
	build := func(s Sink) {
		for i := range 5 {
			s.AddSection(Section{Kind: SectionBarrier, EndAddr: uint64(i), EndNode: None})
		}
		s.AddThread(Thread{Parent: None, Entry: None})
		for i, section := range []SectionID{0, 1, 2, 3, 4, 3, 0, 1} {
			in := &Instance{Section: section, Parts: []Part{{Arrive: uint64(i), Release: 100, Entry: None, Exit: None}}}
			if err := s.WriteInstance(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	// 0 and 3 are one, 1 and 2 are one, 4 has no key.
	merge := func(_ *Meta, tab *Tables) error {
		tab.MergeSections(func(s *Section) string { return []string{"a", "b", "b", "a", ""}[s.EndAddr] })
		return nil
	}
	mem := New(Meta{})
	build(mem)
	path := filepath.Join(t.TempDir(), "lime.data")
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	build(w)
	if err := errors.Join(w.Close(), mem.Edit(merge)); err != nil {
		t.Fatal(err)
	}
	edited := openFile(t, path)
	if err := errors.Join(edited.Edit(merge), Rewrite(path, path, merge)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Source{mem, edited, openFile(t, path)} {
		if err := Validate(s); err != nil {
			t.Fatal(err)
		}
		for id, want := range [][]uint64{{0, 3, 5, 6}, {1, 2, 7}, {4}} {
			var got []uint64
			for in := range s.Instances(SectionID(id)) {
				got = append(got, in.Parts[0].Arrive)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%T: section %d has %v, want %v", s, id, got, want)
			}
		}
		if n := len(s.Tables().Sections); n != 3 {
			t.Errorf("%d sections", n)
		}
	}
}
