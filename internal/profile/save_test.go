package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSavedProfileReadsTheSame(t *testing.T) {
	text, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParseText(string(text))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "saved")
	if err := Save(file, p); err != nil {
		t.Fatal(err)
	}
	r, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var want, got strings.Builder
	if err := WriteText(&want, p); err != nil {
		t.Fatal(err)
	}
	if err := WriteText(&got, r); err != nil {
		t.Fatal(err)
	}
	if want.String() != got.String() {
		t.Errorf("saved:\n%s\nwant:\n%s", &got, &want)
	}
}
