package btree

import (
	"bytes"
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is a file of a few pages that has all kinds of them.
func sample(t testing.TB) []byte {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec(t, db, "PRAGMA synchronous=OFF")
	exec(t, db, "PRAGMA page_size=512")
	exec(t, db, "CREATE TABLE x(id INTEGER PRIMARY KEY, a, b, c)")
	for i := range 60 {
		exec(t, db, "INSERT INTO x VALUES(?, ?, ?, ?)", i, i*i*1000, "text", bytes.Repeat([]byte{byte(i)}, 37*(i%50)))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// read reads all that a file has, and whether each step said what is wrong: every error names a page
// or a table.
func read(t testing.TB, b []byte) (rows int, err error) {
	t.Helper()
	defer func() {
		if err != nil && !strings.Contains(err.Error(), "page ") && !strings.Contains(err.Error(), "table") {
			t.Errorf("the error names no page: %v", err)
		}
	}()
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return 0, err
	}
	x, err := f.Table("x")
	if err != nil {
		return 0, err
	}
	var fs [5]Field
	each := func(r *Rows) error {
		if err := r.Fields(fs[:]); err != nil {
			return err
		}
		for _, f := range fs {
			var err error
			switch f.Kind {
			case Int, Float:
				_, err = r.Float(f)
			case Text:
				_, err = r.Text(f)
			default:
				_, err = r.Bytes(f)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	r := x.Rows()
	for last := int64(-1 << 63); r.Next(); rows++ {
		if rows > 0 && r.ID <= last {
			t.Fatalf("row %d comes behind row %d", r.ID, last)
		}
		last = r.ID
		if err := each(r); err != nil {
			return rows, err
		}
	}
	for id := int64(61); id > -3 && r.Err() == nil; id -= 2 {
		if r.Find(id) {
			if err := each(r); err != nil {
				return rows, err
			}
		}
	}
	return rows, r.Err()
}

func TestTruncated(t *testing.T) {
	b := sample(t)
	if n, err := read(t, b); n != 60 || err != nil {
		t.Fatalf("%d rows, %v", n, err)
	}
	for n := 0; n < len(b); n += 1 + n%97 {
		if _, err := read(t, b[:n]); err == nil {
			t.Fatalf("%d of %d bytes were read as if they were all", n, len(b))
		}
	}
}

// Whatever a file says, it is read in bounded time and memory, and without a panic.
func TestDamaged(t *testing.T) {
	good := sample(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		b := bytes.Clone(good)
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		read(t, b)
	}
}

// Pages that lead in a circle end with an error, where they hold no rows, too.
func TestCircles(t *testing.T) {
	const page = 512
	b := sample(t)
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := f.Table("x")
	if err != nil {
		t.Fatal(err)
	}
	root := b[(x.root-1)*page : x.root*page]
	if root[0] != kindInterior {
		t.Fatal("the sample's root is a leaf")
	}
	for name, change := range map[string]func(){
		"each child is the root": func() {
			n := int(root[atCells+1])
			for i := range n {
				at := int(root[innerHead+2*i])<<8 | int(root[innerHead+2*i+1])
				copy(root[at:], []byte{0, 0, 0, byte(x.root)})
			}
			copy(root[atRight:], []byte{0, 0, 0, byte(x.root)})
		},
		"a page without cells is its own child": func() {
			copy(root[atCells:], []byte{0, 0})
			copy(root[atRight:], []byte{0, 0, 0, byte(x.root)})
		},
	} {
		was := bytes.Clone(root)
		change()
		if _, err := read(t, b); err == nil || !strings.Contains(err.Error(), "circle") {
			t.Errorf("%s: %v", name, err)
		}
		copy(root, was)
	}
}

func TestWriteAheadLogsAreRefused(t *testing.T) {
	for _, at := range []int{atWriteMode, atReadMode} {
		b := sample(t)
		b[at] = 2
		if _, err := Open(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), "log") {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// FuzzTable damages a good file: each four bytes of the patch are a place and what to change there.
func FuzzTable(f *testing.F) {
	good := sample(f)
	f.Add([]byte{0, 0, 1, 2}, 0)
	f.Add([]byte{0, 18, 2, 1, 2, 0, 0, 1}, 700)
	f.Fuzz(func(t *testing.T, patch []byte, cut int) {
		b := bytes.Clone(good)
		for ; len(patch) >= 4; patch = patch[4:] {
			b[(int(patch[0])<<16|int(patch[1])<<8|int(patch[2]))%len(b)] = patch[3]
		}
		if cut > 0 {
			b = b[:max(0, len(b)-cut%len(b))]
		}
		read(t, b)
	})
}
