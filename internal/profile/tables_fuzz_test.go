package profile

import (
	"bytes"
	"compress/zlib"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// The structured attack: a good file whose cells, blobs and rows are changed, so that what is read
// is a database of the right shape with wrong things in it.

// cell is a column, one of the good file's that may be changed.
type cell struct{ table, name string }

// columnsOf lists the columns of all tables.
func columnsOf(t testing.TB, db *sql.DB) (out []cell) {
	rows, err := db.Query("SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type='table' ORDER BY 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c cell
		if err := rows.Scan(&c.table, &c.name); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// dice are the fuzzer's bytes; behind their end are zeros.
type dice struct{ rest []byte }

func (d *dice) byte() byte {
	if len(d.rest) == 0 {
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

// number is small, negative, or near a power of two.
func (d *dice) number() int64 {
	n, b := int64(1)<<(d.byte()%64), d.byte()
	return n*int64(int8(b)) + int64(int8(d.byte()))
}

// packed is a payload as files hold it: as it is, or deflated, of a length that costs the file
// little.
func (d *dice) packed(payload []byte) []byte {
	b := slices.Clone(payload)
	for range d.byte() % 8 {
		if len(b) > 0 {
			b[(int(d.byte())<<8|int(d.byte()))%len(b)] = d.byte()
		}
	}
	if d.byte()%2 == 0 {
		return append([]byte{0}, b[:len(b)-int(d.byte())%(len(b)+1)]...)
	}
	var z bytes.Buffer
	z.WriteByte(1)
	w := zlib.NewWriter(&z)
	w.Write(b)
	w.Write(bytes.Repeat([]byte{d.byte()}, 1<<(d.byte()%25)))
	w.Close()
	return z.Bytes()
}

// payloadOf is what a blob of a good file holds.
func payloadOf(blob []byte) []byte {
	if len(blob) == 0 || blob[0] == 0 {
		return bytes.TrimPrefix(blob, []byte{0})
	}
	z, err := zlib.NewReader(bytes.NewReader(blob[1:]))
	if err != nil {
		return blob
	}
	b, _ := io.ReadAll(z)
	return b
}

// strike changes one thing. What SQLite refuses (a key that is there already) is not done.
func (d *dice) strike(db *sql.DB, columns []cell) {
	c := columns[(int(d.byte())<<8|int(d.byte()))%len(columns)]
	where := fmt.Sprintf("rowid=(SELECT rowid FROM %s LIMIT 1 OFFSET %d)", c.table, d.byte()%16)
	set := fmt.Sprintf("UPDATE %s SET %s=? WHERE %s", c.table, c.name, where)
	switch d.byte() % 7 {
	case 0:
		_, _ = db.Exec(set, d.number())
	case 1:
		_, _ = db.Exec(set, nil)
	case 2, 3:
		var old []byte
		_ = db.QueryRow(fmt.Sprintf("SELECT %s FROM %s WHERE %s", c.name, c.table, where)).Scan(&old)
		_, _ = db.Exec(set, d.packed(payloadOf(old)))
	case 4:
		_, _ = db.Exec(set, string(bytes.Repeat([]byte{d.byte()}, 1<<(d.byte()%20))))
	case 5:
		_, _ = db.Exec(fmt.Sprintf("DELETE FROM %s WHERE %s", c.table, where))
	case 6: // of another row
		_, _ = db.Exec(fmt.Sprintf("UPDATE %s SET %s=(SELECT %s FROM %s LIMIT 1 OFFSET %d) WHERE %s",
			c.table, c.name, c.name, c.table, d.byte()%16, where))
	}
}

// FuzzTables holds what a file may cost to its bound: 20 times its size and 200 MB.
func FuzzTables(f *testing.F) {
	path := filepath.Join(f.TempDir(), "good")
	writeFile(f, path, 8, 3)
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	db, err := openDB(path, "mode=ro")
	if err != nil {
		f.Fatal(err)
	}
	columns := columnsOf(f, db)
	db.Close()
	f.Add([]byte{0, 1, 2, 0, 62, 1, 0})
	f.Add([]byte{0, 9, 1, 2, 0, 1, 7, 24, 0, 30, 2, 3, 1, 1, 0})
	for i := range columns { // each column: a large number, and a blob that swells
		f.Add([]byte{byte(i >> 8), byte(i), 0, 0, 40, 3, 1})
		f.Add([]byte{byte(i >> 8), byte(i), 0, 2, 0, 1, 1, 24})
	}
	f.Fuzz(func(t *testing.T, throws []byte) {
		path := filepath.Join(t.TempDir(), "lime.data")
		if err := os.WriteFile(path, good, 0o666); err != nil {
			t.Fatal(err)
		}
		db, err := openDB(path, "_pragma=synchronous(0)&_pragma=journal_mode(memory)")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		d := dice{throws[:min(len(throws), 200)]}
		for len(d.rest) > 0 {
			d.strike(db, columns)
		}
		db.Close()
		holdToBound(t, path)
	})
}

// holdToBound reads a file in all ways and looks at the memory that lime asked for meanwhile, which
// is no less than what it had at any time.
func holdToBound(t *testing.T, path string) {
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	bound := 20*uint64(st.Size()) + 200<<20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if r, err := Open(path); err == nil {
		if err := Validate(r); err == nil {
			_ = WriteText(io.Discard, r)
		}
		r.Close()
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > bound {
		t.Errorf("a file of %d bytes took %d MB in all, bound %d MB", st.Size(), got>>20, bound>>20)
	}
}
