package profile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// code fills more than two chunks of each packed table. Half of the places are told by a function.
func code(s Sink, pause func(i int)) {
	s.AddImage(Image{Path: "/lib/libx.so", Base: 0x7000, Lo: 0x7000, Hi: 0x800000})
	s.AddFunction(Function{Image: 0, Name: "f(int)", Entry: 0x8000, File: None})
	s.AddFunction(Function{Image: 0, Name: "libx.so+0x2000", Entry: 0x9000, File: None}) // it has no name
	for i := range 2*chunkRows + 100 {
		n := Node{Image: 0, Addr: 0x9000 + uint64(16*i), Size: 9, Instrs: 3, LastAddr: 0x9007 + uint64(16*i), Function: FunctionID(i % 2)}
		n.Frames = []Frame{{File: None, Function: "f(int)", Offset: uint32(n.LastAddr - 0x8000)}}
		if i%2 == 1 {
			n.Frames = []Frame{{File: None, Function: "libx.so", Offset: uint32(n.LastAddr - 0x7000)}}
		}
		if i%4 > 1 {
			n.Frames[0].Offset++
			n.First = []Frame{{File: None, Line: int32(i)}, n.Frames[0]}
		}
		id := s.AddNode(n)
		s.AddEdge(Edge{From: id, To: id, Kind: EdgeTaken})
		pause(i)
	}
}

// TestChunks writes tables of several chunks. What the file holds, and its bytes, do not depend on
// when the rows went into it.
func TestChunks(t *testing.T) {
	mem, dir := New(Meta{FormatVersion: FormatVersion, EndState: "running"}), t.TempDir()
	code(mem, func(int) {})
	var files [][]byte
	for _, every := range []int{1 << 20, 1000, chunkRows, chunkRows - 1} {
		path := filepath.Join(dir, "lime.data")
		w, err := Create(path, Meta{})
		if err != nil {
			t.Fatal(err)
		}
		code(w, func(i int) {
			if i%every == every-1 {
				w.Flush()
			}
		})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		sameProfile(t, openFile(t, path), mem)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	for _, b := range files[1:] {
		if !bytes.Equal(b, files[0]) {
			t.Error("equal content, and files that differ")
		}
	}
}

// TestFunctionPlaces holds what a rewritten profile takes to what its places say: one that its
// function tells takes no room.
func TestFunctionPlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	code(w, func(int) {})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Rewrite(path, path, func(*Meta, *Tables) error { return nil }); err != nil {
		t.Fatal(err)
	}
	mem := New(Meta{FormatVersion: FormatVersion, EndState: "running"})
	code(mem, func(int) {})
	r := openFile(t, path)
	sameProfile(t, r, mem)
	var places, other int
	if err := r.db.QueryRow("SELECT sum(n) FROM place").Scan(&places); err != nil {
		t.Fatal(err)
	}
	for i := range mem.Tables().Nodes {
		if mem.Tables().Nodes[i].First != nil {
			other += 2
		}
	}
	if places != other {
		t.Errorf("%d places, want %d", places, other)
	}
}
