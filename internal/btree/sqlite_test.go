package btree

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// The oracle: random tables that SQLite wrote, and that it reads back.

// random makes a table of random shape in a file of a random page size.
type random struct {
	*rand.Rand
	columns int
}

func (r *random) blob() []byte {
	n := r.IntN(40)
	switch r.IntN(20) {
	case 0:
		n = r.IntN(200_000)
	case 1, 2, 3:
		n = r.IntN(3000)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func (r *random) value() any {
	switch r.IntN(6) {
	case 0:
		return nil
	case 1:
		return r.NormFloat64()
	case 2:
		return strings.Repeat("word ", r.IntN(9)) + "ü"
	case 3:
		return r.blob()
	}
	return int64(r.Uint64()) >> r.IntN(64)
}

// exec runs a statement.
func exec(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// make writes the table x, with others beside it whose pages lie between.
func (r *random) make(t testing.TB, path string) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	exec(t, db, "PRAGMA synchronous=OFF")
	exec(t, db, fmt.Sprintf("PRAGMA page_size=%d", 512<<r.IntN(8)))
	exec(t, db, fmt.Sprintf("PRAGMA auto_vacuum=%d", r.IntN(3)))
	cols := make([]string, r.columns)
	for i := range cols {
		cols[i] = fmt.Sprintf("c%d", i)
	}
	for i := range r.IntN(30) { // the table of tables has pages below it, too
		exec(t, db, fmt.Sprintf("CREATE TABLE y%d(a, b)", i))
	}
	exec(t, db, "CREATE TABLE x(id INTEGER PRIMARY KEY, "+strings.Join(cols, ", ")+")")
	exec(t, db, "CREATE TABLE z(a PRIMARY KEY, b) WITHOUT ROWID")
	insert := "INSERT OR REPLACE INTO x VALUES(?" + strings.Repeat(",?", r.columns) + ")"
	exec(t, db, "BEGIN")
	apart := 1 << r.IntN(60)
	for i := range r.IntN(400) {
		id := int64(i)
		if apart%3 != 0 {
			id = int64(r.Uint64()) >> r.IntN(64)
		}
		args := []any{id}
		for range r.columns {
			args = append(args, r.value())
		}
		exec(t, db, insert, args...)
		exec(t, db, "INSERT OR REPLACE INTO z VALUES(?, ?)", i, r.value())
	}
	exec(t, db, "COMMIT")
	if r.IntN(2) == 0 {
		exec(t, db, fmt.Sprintf("DELETE FROM x WHERE id %% %d = 0", 1+r.IntN(5)))
	}
	if r.IntN(3) == 0 {
		exec(t, db, "VACUUM")
	}
}

// same compares a field with what SQLite says.
func same(rows *Rows, f Field, want any) error {
	var got any
	var err error
	switch f.Kind {
	case Null:
	case Int:
		got, err = rows.Int(f)
	case Float:
		got, err = rows.Float(f)
	case Text:
		got, err = rows.Text(f)
	case Blob:
		var b []byte
		if b, err = rows.Bytes(f); err == nil {
			if w, ok := want.([]byte); ok && bytes.Equal(b, w) {
				return nil
			}
			got = b
		}
	}
	if err != nil || got != want {
		return fmt.Errorf("row %d: %v (%v), SQLite has %v", rows.ID, got, err, want)
	}
	return nil
}

// open opens a file and table x in it.
func open(t testing.TB, path string) (*File, *Table) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	st, _ := f.Stat()
	file, err := Open(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	x, err := file.Table("x")
	if err != nil {
		t.Fatal(err)
	}
	return file, x
}

// all reads table x as SQLite has it: id, then the columns.
func all(t testing.TB, path string, columns int) (out [][]any) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT * FROM x ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		row, to := make([]any, columns+1), make([]any, columns+1)
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

func TestRandomTables(t *testing.T) {
	for seed := range uint64(40) {
		r := &random{rand.New(rand.NewPCG(seed, 1)), 1 + int(seed)%12}
		path := filepath.Join(t.TempDir(), "x.db")
		r.make(t, path)
		file, x := open(t, path)
		want := all(t, path, r.columns)
		check := func(rows *Rows, w []any) {
			t.Helper()
			fs := make([]Field, r.columns+2) // one more than there is
			if err := rows.Fields(fs); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if fs[0].Kind != Null || fs[r.columns+1].Kind != Null || rows.ID != w[0] {
				t.Fatalf("seed %d: row %d is %v", seed, rows.ID, w[0])
			}
			for _, i := range r.Perm(r.columns) {
				if err := same(rows, fs[i+1], w[i+1]); err != nil {
					t.Fatalf("seed %d: column %d: %v", seed, i, err)
				}
			}
		}
		rows, i := x.Rows(), 0
		for ; rows.Next(); i++ {
			check(rows, want[i])
		}
		if rows.Err() != nil || i != len(want) {
			t.Fatalf("seed %d: %d of %d rows, %v", seed, i, len(want), rows.Err())
		}
		x.seek(t, r, want, check)
		if _, err := file.Table("nothing"); !errors.Is(err, ErrNoTable) {
			t.Errorf("seed %d: a table that is not there: %v", seed, err)
		}
		if z, err := file.Table("z"); err != nil {
			t.Error(err)
		} else if rows := z.Rows(); rows.Next() || rows.Err() == nil {
			t.Errorf("seed %d: a table without row ids was read", seed)
		}
	}
}

// seek goes to rows that are there and to places between, behind and in front of them.
func (x *Table) seek(t *testing.T, r *random, want [][]any, check func(*Rows, []any)) {
	t.Helper()
	rows := x.Rows()
	for range 300 {
		id := int64(r.Uint64()) >> r.IntN(64)
		if len(want) > 0 && r.IntN(3) > 0 {
			id = want[r.IntN(len(want))][0].(int64) + int64(r.IntN(3)) - 1
		}
		if r.IntN(20) == 0 {
			id = []int64{math.MaxInt64, math.MinInt64}[r.IntN(2)]
		}
		k := 0
		for k < len(want) && want[k][0].(int64) < id {
			k++
		}
		there := k < len(want) && want[k][0] == id
		if got := rows.Find(id); got != there || rows.Err() != nil {
			t.Fatalf("row %d: found %v, %v; is there: %v", id, got, rows.Err(), there)
		}
		rows.From(id)
		for range r.IntN(30) {
			if k == len(want) {
				if rows.Next() {
					t.Fatalf("there is a row %d behind the last", rows.ID)
				}
				break
			}
			if !rows.Next() {
				t.Fatalf("from %d: no row %d: %v", id, want[k][0], rows.Err())
			}
			check(rows, want[k])
			k++
		}
	}
}
