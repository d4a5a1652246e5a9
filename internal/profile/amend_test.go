package profile

import (
	"path/filepath"
	"testing"
)

func TestAmend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	w, err := Create(path, Meta{Tool: "lime", ClockUnit: "ns"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	err = Amend(path, func(m *Meta) {
		m.EndState = "lime-failed"
		m.Notes = append(m.Notes, Note{Code: "x", Text: "y", N: 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if m := r.Meta(); m.EndState != "lime-failed" || len(m.Notes) != 1 || m.Tool != "lime" {
		t.Errorf("got %+v", m)
	}
}
