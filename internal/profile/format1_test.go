package profile

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written1 is a file that was written when the format was 1.
func written1(t *testing.T) string {
	t.Helper()
	f, err := os.Open("testdata/format1.data.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lime.data")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFormat1 reads what was written before there was format 2, as file and as text, and finds the
// same in both; a file of the new format that is made of it has the same, too.
func TestFormat1(t *testing.T) {
	text, err := os.ReadFile("testdata/format1.txt")
	if err != nil {
		t.Fatal(err)
	}
	hand, err := ParseText(string(text))
	if err != nil {
		t.Fatal(err)
	}
	path := written1(t)
	old := openFile(t, path)
	if err := Validate(old); err != nil {
		t.Fatal(err)
	}
	sameProfile(t, old, hand)
	if last := old.Tables().Nodes[len(old.Tables().Nodes)-1]; !strings.HasSuffix(last.Frames[0].Name(), ")+0x12") {
		t.Errorf("the last node is at %v", last.Frames)
	}
	to := filepath.Join(t.TempDir(), "new.data")
	if err := Rewrite(path, to, func(*Meta, *Tables) error { return nil }); err != nil {
		t.Fatal(err)
	}
	sameProfile(t, openFile(t, to), hand)
	var was, is bytes.Buffer
	if err := WriteText(&was, old); err != nil {
		t.Fatal(err)
	}
	if err := WriteText(&is, openFile(t, to)); err != nil {
		t.Fatal(err)
	}
	if was.String() != is.String() {
		t.Error("the new file says something else")
	}
	if err := Amend(path, func(m *Meta) { m.EndState = "amended" }); err != nil {
		t.Fatal(err)
	}
	if got := openFile(t, path).Meta().EndState; got != "amended" {
		t.Errorf("a file of format 1 ends %q", got)
	}
}
