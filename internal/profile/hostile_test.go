package profile

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readAll opens a file and reads all of it.
func readAll(path string) error {
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return Validate(r)
}

// change writes a good file, runs SQL on it, and returns its path.
func change(t *testing.T, stmts ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lime.data")
	writeFile(t, path, 8, 6)
	db, err := openDB(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range stmts {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return path
}

// packed puts one row of numbers in the place of a packed table's.
func packed(table string, rows int, numbers ...int64) string {
	var b []byte
	for _, n := range numbers {
		b = binary.AppendVarint(b, n)
	}
	return fmt.Sprintf("UPDATE %s SET n=%d, data=x'%x' WHERE id=0", table, rows, b)
}

// node is the SQL that leaves one node: its image, address, size, instructions, how far behind the
// address its last instruction is, its kind, function, place and first place.
func node(numbers ...int64) string { return packed("node", 1, numbers...) }

func TestDamagedContent(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"PRAGMA application_id=7", "not a lime profile (a SQLite database of another program)"},
		{"PRAGMA user_version=99", "written by a newer lime: format 99, this lime reads up to 2"},
		{"DROP TABLE edge", "table edge is not as format 2 has it"},
		{"ALTER TABLE edge ADD COLUMN x", "table edge is not as format 2 has it"},
		{"ALTER TABLE edge RENAME TO e; CREATE VIEW edge AS WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i+1 " +
			"FROM r) SELECT i AS id, 0 AS src, 0 AS dst, 0 AS kind FROM r", "table edge is not as format 2 has it"},
		{"UPDATE node SET id=-5 WHERE id=0", "table node, row 0: its id is -5"},
		{"UPDATE node SET n='x' WHERE id=0", "table node, row 0"},
		{"UPDATE node SET n=n+1 WHERE id=0", "data end too early"},
		{"UPDATE node SET n=n-1 WHERE id=0", "table node, chunk 0: "},
		{"UPDATE node SET n=0 WHERE id=0", "chunk 0 says that it has 0 rows"},
		{"UPDATE node SET n=4000 WHERE id=0", "chunk 0 says that it has 4000 rows"},
		{"UPDATE node SET data=NULL WHERE id=0", "chunk 0 says that"},
		{"INSERT INTO node SELECT 1, n, data FROM node", "chunk 0 is not full"},
		{node(0, 0, 0, 0, 0, 0, 9, noPlace, noPlace), "node 0: function 9 does not exist (there are 1)"},
		{node(0, 0, -1, 0, 0, 0, 0, noPlace, noPlace), "table node, row 0: size -1 is out of range"},
		{node(0, 0, 0, 0, 0, 200, 0, noPlace, noPlace), "node 0: kind 200 is unknown"},
		{node(0, 0, 0, 0, 0, 300, 0, noPlace, noPlace), "table node, row 0: kind 300 is out of range"},
		{node(0, 0, 0, 0, 0, 0, 0, 100000, noPlace), "100000 is not a place"},
		{node(0, 0, 0, 0, 0, 0, 0, noPlace, -3), "-3 is not a place"},
		{node(0, 0, 0, 0, 0, 0, 9, functionPlace, noPlace), "its place is that of function 9"},
		{node(0, 0, 0, 0, 0, 0, 0, functionPlace, noPlace), "its place is that of function 0"}, // 2^32 bytes away
		{packed("edge", 1, 0, 123456, 0), "edge 0: node 123456 does not exist"},
		{packed("frame", 1, 0, 0, 0, 777, 0), "name 777 does not exist"},
		{"UPDATE place SET data=x'020f', n=1 WHERE id=0", "frame -8 does not exist"},
		{"UPDATE place SET data=x'ff0f00', n=1 WHERE id=0", "data end too early"},
		{"DELETE FROM name WHERE id=0", "table name, row 0: its id is 1"},
		{"UPDATE thread SET parent=77 WHERE id=0", "thread 0: thread 77 does not exist"},
		{"UPDATE event SET kind=-2 WHERE id=0", "event 0: kind -2 does not exist"},
		{"UPDATE source_line SET file=17", "line"},
		{"UPDATE instance SET section=5 WHERE id=2", "section 5 does not exist"},
		{"UPDATE instance SET seq=50 WHERE id=2", "is out of order"},
		{"UPDATE instance SET parts=x'09' WHERE id=0", "parts: packing 9 is unknown"},
		{"UPDATE instance SET parts=NULL WHERE id=0", "parts: data end too early"},
		{"UPDATE instance SET edges=x'01789c' WHERE id=0", "edges: packed data"},
		{"UPDATE instance SET edges=x'00ffffffff7f' WHERE id=0", "edges: data end too early"},
		{"UPDATE instance SET work=work+1 WHERE id=3", "its row says"},
		{"UPDATE instance SET edges=zeroblob(100000) WHERE id=0", "edges"},
		{"UPDATE meta SET value='x' WHERE key='cores'", "meta, row"},
		{"UPDATE meta SET value=9 WHERE key='time_label'", "label 9"},
		{"UPDATE meta SET value='{' WHERE key='command'", "list of strings"},
	} {
		err := readAll(change(t, c.sql))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "profile /") {
			t.Errorf("%s: %v, want %s", c.sql, err, c.want)
		}
	}
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	db.Exec("CREATE TABLE t(x)")
	db.Close()
	for _, c := range []struct {
		name, content, want string
	}{
		{"empty", "", "only a few bytes long"},
		{"short", "SQLi", "only a few bytes long"},
		{"text", "#!/bin/sh\necho this is a script\n", "does not start like a SQLite file"},
		{"magic", sqliteMagic, ""},
		{"noise", sqliteMagic + strings.Repeat("\xff\x00\x41", 3000), ""},
		{"zeros", sqliteMagic + strings.Repeat("\x00", 8192), ""},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := readAll(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if err := readAll(other); err == nil || !strings.Contains(err.Error(), "a SQLite database of another program") {
		t.Error(err)
	}
	if err := readAll(filepath.Join(dir, "missing")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
	if err := readAll(dir); err == nil {
		t.Error("no error for a directory")
	}
}

// TestDamagedBytes demands an error or the right content, and no panic, hang or huge allocation.
func TestDamagedBytes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lime.data")
	writeFile(t, path, 8, 30)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 9))
	failed := 0
	for i := range 150 {
		b := slices.Clone(good)
		switch i % 3 {
		case 0:
			b = b[:r.IntN(len(b))]
		case 1:
			for range 1 + r.IntN(20) {
				b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
			}
		case 2: // a page in another's place
			const page = 4096
			from, to := r.IntN(len(b)/page)*page, r.IntN(len(b)/page)*page
			copy(b[to:to+page], b[from:from+page])
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := readAll(path); err != nil {
			failed++
		} else if i%3 == 0 && len(b) < len(good)-4096 {
			t.Errorf("cut to %d of %d bytes: no error", len(b), len(good))
		}
	}
	if failed < 100 {
		t.Errorf("only %d of 150 damaged files gave an error", failed)
	}
}

// FuzzFile damages a good file: each five bytes of the patch are a place and what to change there.
// Every outcome but a panic, a hang or a huge allocation is right.
func FuzzFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), "good")
	writeFile(f, path, 8, 3)
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{0, 0, 0, 18, 3}, uint32(0))
	f.Add([]byte{0, 0, 16, 5, 255, 0, 0, 32, 7, 1}, uint32(4096))
	f.Fuzz(func(t *testing.T, patch []byte, cut uint32) {
		b := slices.Clone(good)
		for ; len(patch) >= 5; patch = patch[5:] {
			b[int(binary.BigEndian.Uint32(patch))%len(b)] ^= patch[4]
		}
		path := filepath.Join(t.TempDir(), "lime.data")
		if err := os.WriteFile(path, b[:len(b)-int(cut)%len(b)], 0o666); err != nil {
			t.Fatal(err)
		}
		_ = readAll(path)
	})
}

// TestTextBudget holds the reader to what a file of its size can hold.
func TestTextBudget(t *testing.T) {
	e := env{budget: 10}
	var s string
	if err := (text[string]{&s, &e}).Scan("12345678"); err != nil {
		t.Fatal(err)
	}
	if err := (text[string]{&s, &e}).Scan("123"); err == nil {
		t.Error("no error over the budget")
	}
}

func TestReadOnlyPlaces(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root may write everywhere; only the copy is tested")
	}
	// A killed run's file and log, which the reader may not change.
	path := filepath.Join(t.TempDir(), "lime.data")
	killWriter(t, path, 200_000_000)
	copied := filepath.Join(t.TempDir(), "profile")
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(copied+suffix, path+suffix); err != nil {
			t.Fatal(err)
		}
	}
	a, b := openFile(t, copied), openFile(t, path)
	var x, y bytes.Buffer
	if err := fmt.Errorf("%w %w", WriteText(&x, a), WriteText(&y, b)); a.InstanceCount(0) == 0 || x.String() != y.String() {
		t.Error("the copy differs", err)
	}
}
