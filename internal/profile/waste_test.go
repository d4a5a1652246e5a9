package profile

import (
	"path/filepath"
	"slices"
	"testing"
)

// A file that was written before there were tables of waste, of what became of instructions, and of
// locks, opens, and has none.
func TestFileWithoutWaste(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old")
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, w, 3, 2)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := openDB(path, "mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range slices.Concat(wasteTables, accountTables, traceTables, lockTables) {
		if _, err := db.Exec("DROP TABLE " + table.name); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := len(r.Tables().WastePairs) + len(r.Tables().WasteTotals) + len(r.Tables().Accounts) +
		len(r.Tables().Traces) + len(r.Tables().Locks); n != 0 || len(r.Tables().Nodes) == 0 {
		t.Errorf("%d rows of them", n)
	}
}
